"""The lists made from the log: one line a debate, one line a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, create_model

from jury_events.case import MetadataValue
from jury_events.conditions import Condition, Values, admitted, contains, field_values
from jury_events.local_events import Imported

DebateStatus = Literal["evaluating", "discussing", "judging", "completed", "failed", "cancelled", "unreadable"]
"""`unreadable`: what is recorded is no debate that this version can read; `DebateRow.problem` says why."""

ENDED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


def _keepable(text: str) -> str:
    """Text that every database keeps."""
    if "\0" in text:
        raise ValueError("no database keeps the character U+0000")
    text.encode()
    return text


_Text = Annotated[str, AfterValidator(_keepable)]
_Small = Annotated[int, Field(ge=0, lt=2**31)]
_Whole = Annotated[int, Field(ge=0, lt=2**63)]
_Tokens = Annotated[int, Field(ge=0, lt=2**53)]
_Dollars = Annotated[float, Field(ge=0, le=1e12)]
"""Bounded so that sums over many debates stay numbers that JSON and a float keep."""
_Verdict = Annotated[str, Field(pattern=r"^(safe_pass|needs_review|unsafe_fail)$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateRow:
    """One debate at a glance. Times in microseconds since 1970-01-01 UTC, cost in US dollars (None: unknown).

    `position` is that of its opening event, `rounds` counts rounds begun, `calls` recorded exchanges, `asked_again`
    steps that may have been asked twice. `method` is what the panel asks for, `decided_by` what decided. `case_part` is
    the digest of the case. The verdict is there once the judgment is. `label`, `cluster`, `tags`, `metadata` and
    `agent_cost` are those of the case; `not_shown` counts what of it no juror is shown.

    `imported`: events of it came in a cassette (None: all were recorded here), `imported_from` the log that the seal of
    the first of them names. `quarantined` is why whoever reads many debates leaves it out, `problem` why it cannot be
    read.
    """

    debate_id: _Text
    position: _Whole
    run_id: _Text | None
    case_id: _Text
    status: DebateStatus
    rounds: _Small
    method: _Text
    simulated: bool
    label: _Verdict | None
    case_part: bytes
    opened_at: _Whole
    updated_at: _Whole
    ended_at: _Whole | None = None
    final_verdict: _Verdict | None = None
    final_score: Annotated[int, Field(ge=0, le=100)] | None = None
    total_rounds: _Small | None = None
    early_termination: bool | None = None
    end_reason: _Text | None = None
    decided_by: _Text | None = None
    quorum_met: bool | None = None
    calls: _Small = 0
    input_tokens: _Tokens = 0
    output_tokens: _Tokens = 0
    cost: _Dollars | None = 0.0
    asked_again: _Small = 0
    cluster: _Text | None = None
    tags: tuple[_Text, ...] = ()
    metadata: Mapping[_Text, MetadataValue] = field(default_factory=dict)
    agent_cost: _Dollars | None = None
    not_shown: _Small = 0
    imported: Imported | None = None
    imported_from: _Text | None = None
    quarantined: _Text | None = None
    problem: _Text | None = None


_KINDS: dict[str, Any] = get_type_hints(DebateRow, include_extras=True)
_FIELDS: dict[str, Any] = {one.name: (_KINDS[one.name], ...) for one in fields(DebateRow)}
_ROW = create_model("_ROW", __config__=ConfigDict(strict=True, allow_inf_nan=False, extra="forbid"), **_FIELDS)


def row_fault(row: Mapping[str, Any]) -> str | None:
    """Why no database keeps a row as a `DebateRow`; None: every database does."""
    try:
        _ROW.model_validate(row)
    except (ValidationError, UnicodeError) as error:
        if isinstance(error, UnicodeError):
            return str(error)
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run at a glance: how many debates, how they ended, their verdicts; first opening and last event in µs."""

    run_id: str
    position: int
    debates: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int
    first_at: int
    last_at: int


class CaseRow(NamedTuple):
    """What a debate judges. `salt` is None when the case's text was erased; the others as in `DebateRow`."""

    case_id: str
    status: DebateStatus
    case_part: bytes
    salt: bytes | None
    imported: Imported | None = None
    quarantined: str | None = None


class DebateFilter(NamedTuple):
    """Which debates of a list are wanted: those to which all that is not None applies.

    `search` is looked for in debate ids and case ids, ASCII letters of either case alike. `where` are conditions on the
    fields of the cases, all of which must hold. Debates in quarantine are wanted alone, or not at all.
    """

    run_id: str | None = None
    status: DebateStatus | None = None
    verdict: str | None = None
    simulated: bool | None = None
    search: str | None = None
    where: tuple[Condition, ...] = ()
    quarantined: bool = False

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Whether a row, by the names of its columns, is wanted."""
        return (
            self.quarantined == (row["quarantined"] is not None)
            and self.run_id in {None, row["run_id"]}
            and self.status in {None, row["status"]}
            and self.verdict in {None, row["final_verdict"]}
            and self.simulated in {None, row["simulated"]}
            and (self.search is None or any(contains(row[name], self.search) for name in ("debate_id", "case_id")))
            and (not self.where or admitted(self.where, row_values(row)))
        )


def row_values(row: Mapping[str, Any]) -> Values:
    """What conditions on a row, by the names of its columns, are asked of."""
    return field_values(**{name: row[name] for name in ("case_id", "label", "cluster", "tags", "metadata")})


EVERY_DEBATE = DebateFilter()
