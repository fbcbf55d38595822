"""What the votes of recorded debates quote, as columns beside their ballots."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVIDENCE
from jury_events.codec import decode
from jury_events.debate_events import DebateOpened, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.evaluation import Evaluation
from jury_events.ids import debate_stream
from jury_store.event_store import EventStore

_PAGE = 200
_JUDGE = -1
"""In place of the round of a final judge."""

_EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})

_Vote = tuple[str, int, str]
"""Debate, round and seat."""


def with_evidence(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots with the columns of `EVIDENCE`; as they are where no vote was asked for evidence.

    Read from the events of those debates whose panel asks for it. The debates of a run have one version of the prompts,
    so of each panel in a run one debate is looked at first.

    Args:
        store: of the ballots, open for reading.
        ballots: with the columns `debate_id`, `run_id`, `panel`, `round`, `role` and `seat`.
    """
    found = {}
    asking = iter(_asking(store, ballots))
    while page := list(islice(asking, _PAGE)):
        streams = store.read_streams([debate_stream(debate) for debate in page])
        for debate in page:
            for round_, seat, evaluation in _evaluations(streams.get(debate_stream(debate), [])):
                if evaluation.evidence is not None:
                    found[debate, round_, seat] = _counts(evaluation)
    return _beside(ballots, found) if found else ballots


def _asking(store: EventStore, ballots: pa.Table) -> Iterator[str]:
    """The debates whose jurors may have been asked for evidence."""
    debates = ballots["debate_id"].cast(pa.string()).combine_chunks().dictionary_encode()
    _, rows = np.unique(debates.indices.to_numpy(), return_index=True)
    names = ("debate_id", "run_id", "panel")
    columns = (ballots[name].take(pa.array(rows)).cast(pa.string()).to_pylist() for name in names)
    known: dict[tuple[str, str | None], bool] = {}
    for debate, run, panel in zip(*columns, strict=True):
        if run is None:
            yield debate
            continue
        if (run, panel) not in known:
            known[run, panel] = _asks(store.read_stream(debate_stream(debate))[:1])
        if known[run, panel]:
            yield debate


def _asks(opening: list[StoredEvent]) -> bool:
    """Whether the debate that begins so asks for evidence; one that cannot be read may."""
    try:
        opened = [decode(stored) for stored in opening]
    except EventError:
        return True
    return any(
        isinstance(one, DebateOpened) and one.prompts > 1 and one.panel.answers.evidence != "off" for one in opened
    )


def _evaluations(stream: list[StoredEvent]) -> Iterator[tuple[int, str, Evaluation]]:
    """Round, seat and evaluation; events that cannot be decoded have none: `jury verify` reports them."""
    for stored in stream:
        # Most evaluations of old debates were not asked for evidence: their bodies are not decoded.
        if stored.type not in _EVALUATING or b'"evidence"' not in stored.body:
            continue
        try:
            event = decode(stored)
        except EventError:
            continue
        match event:
            case JurorEvaluated():
                yield 0, event.juror_id, event.evaluation
            case StatementMade():
                yield event.round, event.juror_id, event.statement.evaluation
            case JudgmentRendered() if event.judgment.judge is not None:
                yield _JUDGE, "", event.judgment.judge


def _counts(evaluation: Evaluation) -> tuple[int, ...]:
    """The columns of `EVIDENCE`; -1 for null."""
    results = Counter(one.result for one in evaluation.evidence or ())
    item = -1 if evaluation.decisive_item is None else evaluation.decisive_item
    return (results["verified"], results["normalised"], results["elsewhere"], results["not_found"], item)


def _beside(ballots: pa.Table, found: dict[_Vote, tuple[int, ...]]) -> pa.Table:
    values = np.full((ballots.num_rows, len(EVIDENCE)), -1, dtype=np.int32)
    debates = ballots["debate_id"].cast(pa.string())
    chosen = pc.is_in(debates, value_set=pa.array(sorted({debate for debate, _, _ in found})))
    rows = np.flatnonzero(chosen.to_numpy())
    names = ("debate_id", "round", "seat", "role")
    columns = (ballots[name].take(pa.array(rows)).to_pylist() for name in names)
    for row, (debate, round_, seat, role) in zip(rows, zip(*columns, strict=True), strict=True):
        vote = (debate, _JUDGE, "") if role == "judge" else (debate, round_, seat)
        values[row] = found.get(vote, -1)
    for place, field in enumerate(EVIDENCE):
        column = values[:, place]
        ballots = ballots.append_column(field, pa.array(column, pa.int32(), mask=column < 0))
    return ballots
