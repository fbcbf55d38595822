"""The ballots of one debate as they are read: packed, with what the statistics need to know of the debate."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from jury_events.case import (
    DECISIVE_MESSAGE,
    OUTCOME_CORRECT,
    SCALE_LABEL,
    decisive_message,
    outcome_correct,
    scale_label,
)
from jury_events.ids import repeat_of
from jury_store.ballot_sheet import BallotSheet

DEBATE_COLUMNS = (
    "debate_id",
    "run_id",
    "case_id",
    "cluster",
    "label",
    "simulated",
    "final_verdict",
    "final_score",
)
"""The columns of the list of debates that `DebateBallots` has."""

VARIANT = "variant"
"""The key of a case's metadata that names its variant."""

_READ = tuple(f'"{name}"' for name in (VARIANT, DECISIVE_MESSAGE, OUTCOME_CORRECT, SCALE_LABEL))
_MOST_MESSAGE = 2**31 - 1  # the column of a table is int32


class DebateBallots(NamedTuple):
    """The ballots of a debate. `votes` is packed (`ballot_sheet`); None: an event of the debate cannot be read.

    `cluster` is the case's, else its id; `variant` the text under `variant` in the case's metadata; `repeat` counts the
    debates of the case in its run, from 1; `panel` is the fingerprint of the resolved panel. `label_message`,
    `outcome_correct` and `human_label`, its word in a scale, are what the case's metadata say of its label
    (`jury_events.case`).
    """

    debate_id: str
    run_id: str | None
    case_id: str
    cluster: str
    variant: str | None
    repeat: int
    label: str | None
    simulated: bool
    final_verdict: str | None
    final_score: int | None
    panel: str | None
    votes: str | None
    label_message: int | None = None
    outcome_correct: bool | None = None
    human_label: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any], sheet: BallotSheet) -> Self:
        """From a row of the list of debates, by column name, and its ballots."""
        return cls._made([row[name] for name in DEBATE_COLUMNS], row["metadata"], sheet.panel, sheet.packed())

    @classmethod
    def stored(cls, row: Sequence[Any]) -> Self:
        """From the columns `DEBATE_COLUMNS` of a stored row, its metadata as text, `panel` and `votes`."""
        *values, text, panel, votes = row
        read = any(name in text for name in _READ)  # most metadata have none of them
        return cls._made(values, json.loads(text) if read else {}, panel, votes)

    @classmethod
    def _made(cls, values: Sequence[Any], metadata: Mapping[str, Any], panel: str | None, votes: str | None) -> Self:
        debate_id, run_id, case_id, cluster, label, simulated, final_verdict, final_score = values
        variant, message = metadata.get(VARIANT), decisive_message(metadata)
        return cls(
            debate_id=debate_id,
            run_id=run_id,
            case_id=case_id,
            cluster=cluster or case_id,
            variant=variant if isinstance(variant, str) else None,
            repeat=repeat_of(debate_id, run_id, case_id),
            label=label,
            simulated=simulated,
            final_verdict=final_verdict,
            final_score=final_score,
            panel=panel,
            votes=votes,
            label_message=None if message is None or message > _MOST_MESSAGE else message,
            outcome_correct=outcome_correct(metadata),
            human_label=scale_label(metadata),
        )
