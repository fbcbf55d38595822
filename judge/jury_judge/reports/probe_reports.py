"""What the probes of a run show, from the store: twins beside their cases, and what recorded votes say alone."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.discussion import discussion
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.pairing import PairedOptions
from jury_analysis.probe_effects import TOLERATED, ProbeBallots, probe_effects
from jury_analysis.run_probes import LengthEffect, OwnFamily, Reflection, RunProbes, length_effects, own_family
from jury_analysis.scale import plain_text, without_simulated
from jury_analysis.vote_matrix import VoteMatrix, by_round, vote_matrix
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.errors import DebateNotFound, EventError
from jury_events.models import AGENT_MODEL
from jury_events.panel import Marking, Panel
from jury_judge.probes.twins import (
    INJECTION,
    MARKING,
    MASTER_KEY,
    PROBES,
    REFLECTION,
    SPEAKERS,
    answers_length,
    first_speaker,
    parse_twin_id,
)
from jury_judge.store_access.debates import rows_of_run
from jury_judge.tables.ballot_sources import stored_ballots
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore


def speakers_run(run_id: str) -> str:
    """The run of the twins of `speakers`, whose panel is another."""
    return f"{run_id}.{SPEAKERS}"


def reflection_run(run_id: str) -> str:
    """The run of the cases whose seats are not shown their peers, and whose panel is another for that."""
    return f"{run_id}.{REFLECTION}"


def marking_run(run_id: str) -> str:
    """The run of the cases and their injections with the other marking, whose panel is another."""
    return f"{run_id}.{MARKING}"


def run_probes(
    store: EventStore,
    run_id: str,
    *,
    labels: pa.Table | None = None,
    simulated: bool = False,
    tolerated: float = TOLERATED,
) -> RunProbes:
    """Report on the debates of a run that are over.

    Args:
        labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
        tolerated: share of passed content-free answers that is not yet a finding.
    """
    ballots = stored_ballots(store, run_ids=[run_id])
    of_speakers = _optional_ballots(store, speakers_run(run_id))
    of_reflection = _optional_ballots(store, reflection_run(run_id))
    further = [one for one in (of_speakers, of_reflection) if one is not None]
    everything = pa.concat_tables([ballots, *further]).unify_dictionaries() if further else ballots
    bases, twins = _parted(everything)
    known = set(_names(bases))
    probes = []
    for name in PROBES:
        of_probe = twins.get(name)
        if of_probe is None or known.isdisjoint(_names(of_probe)):
            continue
        probes.append(
            ProbeBallots(
                probe=name,
                cases=_without_variant(bases),
                twins=_without_variant(of_probe),
                texts=_texts(of_probe),
                first_speakers=_first_speakers(store, run_id) if name == SPEAKERS else None,
                content_free=name == MASTER_KEY,
                only_lenient=name == INJECTION,
                marking=_marking(store, run_id) if name == INJECTION else None,
            )
        )
        if name == INJECTION and (marked := _with_other_marking(store, run_id)) is not None:
            probes.append(marked)
    report = probe_effects(probes, PairedOptions(simulated=simulated), tolerated=tolerated) if probes else None
    if labels is not None:
        bases = label_ballots(bases, resolve(labels)).ballots
    sample = without_simulated(bases, include=simulated)
    matrix = vote_matrix(sample.ballots, PairedOptions().scale)
    labelled = bool((matrix.labels >= 0).any())
    return RunProbes(
        run_id=run_id,
        warnings=tuple(dict.fromkeys((*(() if report is None else report.warnings), *sample.warnings))),
        cases=len(np.unique(matrix.cases)),
        twins=report,
        absent=tuple(name for name in PROBES if name not in {probe.probe for probe in probes}),
        own_family=_own_family(store, run_id, matrix) if labelled else (),
        length=_length(store, run_id, matrix) if labelled else (),
        reflection=None if REFLECTION not in twins else _reflection(bases, twins[REFLECTION], simulated=simulated),
    )


def _reflection(cases: pa.Table, again: pa.Table, *, simulated: bool) -> Reflection | None:
    """Who takes the position of the others after the first votes, with and without being shown it."""
    found = []
    for ballots in (cases, again):
        sample = without_simulated(_without_variant(ballots), include=simulated)
        steps = discussion(by_round(sample.ballots, PairedOptions().scale)).steps
        if not steps:
            return None
        found.append(steps[0])
    shown, alone = found
    return Reflection(shown.changed, alone.changed, shown.conformity, alone.conformity)


def _optional_ballots(store: EventStore, run_id: str) -> pa.Table | None:
    try:
        return stored_ballots(store, run_ids=[run_id])
    except DebateNotFound:
        return None


def _parted(ballots: pa.Table) -> tuple[pa.Table, dict[str, pa.Table]]:
    """The ballots of the cases, and those of the twins by probe, under the ids of their cases."""
    cases = plain_text(ballots["case_id"])
    parsed = {case: parse_twin_id(case) for case in pc.unique(cases).to_pylist()}
    of_row = [parsed[case] for case in cases.to_pylist()]
    bases = ballots.filter(pa.array([one is None for one in of_row]))
    twins: dict[str, pa.Table] = {}
    for probe in {one.probe for one in of_row if one is not None}:
        chosen = pa.array([one is not None and one.probe == probe for one in of_row])
        names = pa.array([one.case_id for one in of_row if one is not None and one.probe == probe], pa.string())
        part = ballots.filter(chosen)
        twins[probe] = part.set_column(part.schema.get_field_index("case_id"), "case_id", names)
    return bases, twins


def _without_variant(ballots: pa.Table) -> pa.Table:
    place = ballots.schema.get_field_index("variant")
    return ballots.set_column(place, "variant", pa.nulls(ballots.num_rows, pa.string()))


def _texts(twins: pa.Table) -> dict[str, str]:
    """The text of each case's twin: what follows the colon in its variant."""
    pairs = zip(twins["case_id"].to_pylist(), plain_text(twins["variant"]).to_pylist(), strict=True)
    return {case: variant.partition(":")[2] for case, variant in pairs if variant and ":" in variant}


def _with_other_marking(store: EventStore, run_id: str) -> ProbeBallots | None:
    """The cases and their injections, judged under the same prompts with the other marking; None without any."""
    other = marking_run(run_id)
    ballots = _optional_ballots(store, other)
    if ballots is None or _opened(store, run_id).prompts != _opened(store, other).prompts:
        return None
    bases, twins = _parted(ballots)
    injected = twins.get(INJECTION)
    if injected is None or set(_names(bases)).isdisjoint(_names(injected)):
        return None
    return ProbeBallots(
        probe=MARKING,
        cases=_without_variant(bases),
        twins=_without_variant(injected),
        texts=_texts(injected),
        only_lenient=True,
        marking=_marking(store, other),
    )


def _names(ballots: pa.Table) -> list[str]:
    names: list[str] = pc.unique(plain_text(ballots["case_id"])).to_pylist()
    return names


def _marking(store: EventStore, run_id: str) -> Marking:
    opened = _opened(store, run_id)
    return opened.panel.marking


def _first_speakers(store: EventStore, run_id: str) -> tuple[str, str]:
    return first_speaker(_panel(store, run_id)), first_speaker(_panel(store, speakers_run(run_id)))


def _panel(store: EventStore, run_id: str) -> Panel:
    return _opened(store, run_id).panel


def _opened(store: EventStore, run_id: str) -> DebateOpened:
    first = next(rows_of_run(store, run_id))
    return store.event_histories([first.debate_id])[0].opened


def _own_family(store: EventStore, run_id: str, matrix: VoteMatrix) -> tuple[OwnFamily, ...]:
    agents: dict[str, str] = {}
    for row in rows_of_run(store, run_id, counted=True):
        agent = row.metadata.get(AGENT_MODEL)
        if isinstance(agent, str):
            agents[row.debate_id] = agent
    if not agents:
        return ()
    models = {seat.juror_id: seat.model for seat in _panel(store, run_id).seats}
    return own_family(matrix, [agents.get(debate) for debate in matrix.debates.to_pylist()], models)


def _length(store: EventStore, run_id: str, matrix: VoteMatrix) -> tuple[LengthEffect, ...]:
    wanted = set(matrix.debates.to_pylist())
    lengths = {row.debate_id: _length_of(store, row) for row in rows_of_run(store, run_id) if row.debate_id in wanted}
    return length_effects(matrix, [lengths.get(debate) for debate in matrix.debates.to_pylist()])


def _length_of(store: EventStore, row: DebateRow) -> int | None:
    """Characters of the agent's answer; None where the case was erased or cannot be read."""
    part = store.parts(row.debate_id, [row.case_part]).get(row.case_part)
    try:
        return None if part is None else answers_length(Case.from_part(part.content))
    except EventError:
        return None
