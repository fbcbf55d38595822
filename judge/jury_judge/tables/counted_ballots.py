"""Ballots as judgments count them: without votes that abstain because they are unsupported, with decisive items."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import OWN_WORDS, SCHEMA
from jury_events.verdict import FAIL
from jury_judge.stores.debates import panel_of
from jury_judge.tables.ballot_table import OF_EVIDENCE
from jury_store.event_store import EventStore

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
