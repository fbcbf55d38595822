"""Ballots that are counted, and the words that are counted of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import OWN_WORDS, SCHEMA
from jury_cases.votes.words import VerdictWords
from jury_events.errors import EventError
from jury_events.verdict import FAIL
from jury_events.verdict_scale import VerdictScale
from jury_judge.settings.statistics import Count
from jury_judge.stores.counted_panels import ChosenScale, chosen_scale
from jury_judge.stores.debates import panel_of
from jury_judge.tables.ballot_table import OF_EVIDENCE
from jury_judge.tables.scales_of_tables import Scales, distinct_scales
from jury_store.event_store import EventStore


class CountedWords(NamedTuple):
    """What the verdicts of ballots are.

    Attributes:
        words: the verdicts, and what words of later labels mean.
        chosen: the scale of the panels' own, if they have one, and what is counted of it.
        scales: all scales of the panels.
    """

    words: VerdictWords
    chosen: ChosenScale = ChosenScale()
    scales: Scales = ()


def counted_words(store: EventStore, ballots: pa.Table | Sequence[pa.Table], count: Count | None) -> CountedWords:
    """What is counted of these ballots. Of each panel one debate is read, where a ballot has a label of its own scale.

    Args:
        store: of the ballots, open for reading.
        ballots: a table or several, with the columns of `jury_analysis.ballots.OWN_WORDS` that are known.
        count: None: labels where all debates are of one scale.
    """
    tables = [ballots] if isinstance(ballots, pa.Table) else ballots
    if all("vote_label" not in one.column_names for one in tables):
        return CountedWords(VerdictWords())
    scales = [scale for one in tables for scale in _scales(store, one)]
    chosen = chosen_scale(scales, count)
    return CountedWords(VerdictWords.of_chosen(chosen.scale, chosen.counts), chosen, distinct_scales(scales))


def _scales(store: EventStore, ballots: pa.Table) -> list[VerdictScale | None]:
    """The scale of each panel; of one whose opening cannot be read nothing is known, which `jury verify` reports."""
    panels = ballots["panel"].cast(pa.string())
    found: list[VerdictScale | None] = []
    for name in pc.unique(panels).to_pylist():
        row = pc.index(panels, name).as_py() if name is not None else pc.index(pc.is_null(panels), value=True).as_py()
        try:
            found.append(panel_of(store, ballots["debate_id"][row].as_py()).panel.scale)
        except EventError:
            continue
    return found


_READ = ("debate_id", "role", "seat", "kind", "verdict", "verified", "normalised")


COUNTED_COLUMNS = (*SCHEMA.names, *OF_EVIDENCE.names, *OWN_WORDS.names)
"""The columns from which it follows what judgments count."""


def counted_ballots(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots of one panel as its judgments count them.

    Args:
        store: of the ballots, open for reading.
        ballots: the columns `COUNTED_COLUMNS` that are known, by debate and round.
    """
    if not ballots.num_rows:
        return ballots
    abstaining = panel_of(store, ballots["debate_id"][0].as_py()).panel.answers.unsupported == "abstain"
    return _without_unsupported(ballots) if abstaining else ballots


def _without_unsupported(ballots: pa.Table) -> pa.Table:
    """The ballots where a seat abstains that fails the agent without support, and where that vote is repeated.

    Debates that a final judge decided are as they were: it decides as it does (`jury_debate.rules_1.votes`).
    """
    if OF_EVIDENCE.names[0] not in ballots.column_names:
        return ballots
    columns = [ballots[name].cast(pa.string()).to_pylist() for name in _READ[:5]]
    columns += [ballots[name].to_pylist() for name in _READ[5:]]
    rows = list(zip(*columns, strict=True))
    judged = {debate for debate, role, _, kind, *_ in rows if role == "judge" and kind != "abstained"}
    unsupported: dict[tuple[str, str], bool] = {}
    out = np.zeros(len(rows), dtype=np.bool_)
    for place, (debate, role, seat, kind, verdict, verified, normalised) in enumerate(rows):
        if role == "judge" or debate in judged:
            continue
        if kind != "stale":
            fails = kind in {"own", "conditional"} and verdict == FAIL and verified is not None
            unsupported[debate, seat] = fails and not verified + normalised
        out[place] = unsupported.get((debate, seat), False)
    for name, value in (("kind", "abstained"), ("verdict", None)):
        column = pc.if_else(pa.array(out), pa.scalar(value, pa.string()), ballots[name].cast(pa.string()))
        ballots = ballots.set_column(ballots.schema.get_field_index(name), name, column.dictionary_encode())
    return ballots
