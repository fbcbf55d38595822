"""Which columns of a row of votes are read: by name, or by `--field TARGET=COLUMN`."""

from collections.abc import Iterable, Mapping
from typing import Any

from jury_cases.columns import AUTOMATIC, value_at
from jury_cases.errors import CaseFileError
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line

OF_A_CASE: dict[str, tuple[str, ...]] = {
    "case_id": AUTOMATIC["case_id"],
    "debate_id": ("debate_id",),
    "run_id": ("run_id",),
    "cluster": AUTOMATIC["cluster"],
    "variant": ("variant",),
    "repeat": ("repeat",),
    "panel": ("panel",),
    "label": AUTOMATIC["label"],
    "label_message": ("label_message",),
    "message_count": ("message_count",),
    "outcome_correct": ("outcome_correct",),
    "round": ("round",),
}
"""What a row of votes says of its debate, with the columns that are read by default."""

OF_A_VOTE: dict[str, tuple[str, ...]] = {
    "seat": ("seat", "judge", "juror", "juror_id", "rater"),
    "verdict": ("verdict", "vote"),
    "score": ("score",),
    "confidence": ("confidence",),
    "model_asked": ("model_asked",),
    "decisive_message": ("decisive_message",),
}
"""What a row says of one vote. A row of several votes has an object of these for each."""

IN_A_SEAT = tuple(part for part in OF_A_VOTE if part not in {"seat", "verdict"})
"""The parts of a vote that are fields of the object of a seat, beside its verdict."""

OF_A_ROW_OF_SEATS: dict[str, tuple[str, ...]] = {
    **{part: columns for part, columns in OF_A_VOTE.items() if part not in IN_A_SEAT},
    "label_message": ("label_message", "decisive_message"),
}
"""What a row of several votes says itself: each vote names its message in its object, and the row that of the label."""

OF_A_BALLOT: tuple[str, ...] = (
    *("role", "kind", "weight", "changed", "model_answered", "calls", "input_tokens", "output_tokens", "cost"),
    *("simulated", "final_verdict", "final_score"),
    *("verified", "normalised", "elsewhere", "not_found", "decisive_item", "item_count", "read_percent"),
    *("vote_label", "final_label", "human_label"),
)
"""Further columns of the ballots table. By default they are read from exported tables of ballots only: elsewhere such
names have other meanings."""

_EXPORTED = frozenset({"debate_id", "case_id", "cluster", "repeat", "round", "role", "seat", "kind", "simulated"})
"""The columns without nulls of the ballots table: a row that has all of them is a row of such a table."""


def check_vote_fields(fields: Mapping[str, str]) -> None:
    """Check the targets of `--field`."""
    known = (*OF_A_CASE, *OF_A_VOTE, *OF_A_BALLOT)
    for target in fields:
        if target not in known:
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a vote{did_you_mean(target, known)}; "
                f"the parts are {', '.join(known)}"
            )


class FieldReader:
    """Reads the parts of rows; the columns are looked up once for rows with the same columns.

    Args:
        fields: columns (dotted if nested) by part; "" leaves the part out.
    """

    def __init__(self, fields: Mapping[str, str], *, of_cases: bool = False) -> None:
        self._fields = dict(fields)
        self._defaults = {**OF_A_CASE, **(OF_A_ROW_OF_SEATS if of_cases else OF_A_VOTE)}
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def read(self, row: dict[str, Any]) -> dict[str, Any]:
        """The parts that the row has, unparsed, without nulls."""
        plan = self._plan(row)
        found = {target: value for target, column in plan if (value := row.get(column)) is not None}
        for target, source in self._fields.items():
            if source and (value := value_at(row, source, target)) is not None:
                found[target] = value
        return found

    def has(self, row: dict[str, Any], target: str) -> bool:
        """Whether the row has a column of the part, even if null."""
        return target in self._fields or any(target == known for known, _ in self._plan(row))

    def _plan(self, row: dict[str, Any]) -> "_Plan":
        columns = tuple(row)
        plan = self._plans.get(columns)
        if plan is None:
            plan = self._plans[columns] = tuple(self._columns(row))
            if len(self._plans) > _PLANS:
                self._plans = {columns: plan}
        return plan

    def _columns(self, row: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        defaults = dict(self._defaults)
        if row.keys() >= _EXPORTED:
            defaults |= {target: (target,) for target in OF_A_BALLOT}
        for target, names in defaults.items():
            if target not in self._fields:
                # From the last name to the first: of several columns with values, the first one counts.
                yield from ((target, name) for name in reversed(names) if name in row)


_Plan = tuple[tuple[str, str], ...]
_PLANS = 1000
"""Different sets of columns that are remembered: rows of JSON may have any."""
