"""The lists made from the log: one line a debate, one line a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, NamedTuple, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, create_model

from jury_events.case import MetadataValue
from jury_events.conditions import Condition, Values, admitted, contains, field_values
from jury_events.local_events import Imported
from jury_store.debate_status import DebateStatus

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
    `agent_cost` are those of the case; `not_shown` counts what of it no juror is shown. `models` are those that the
    panel asks first, seats before the final judge.

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
    models: tuple[_Text, ...] = ()
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
    """One run at a glance: how many debates, how they ended, their verdicts; first opening and last event in µs.

    `debates` counts those that were opened. `cases` is how many the run has, as whoever holds it noted; None: that is
    not known, because the cases are still being counted, or debates were held one by one.
    """

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
    cases: int | None = None

    @property
    def ended(self) -> int:
        """Debates that are over."""
        return self.completed + self.failed + self.cancelled

    @property
    def total(self) -> int | None:
        """How many debates there are when the run is over; None where that is not known."""
        return None if self.cases is None else max(self.cases, self.debates)


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

    `search` is looked for in debate ids and case ids, ASCII letters of either case alike, and in what jurors wrote
    (`search_terms`). `where` are conditions on the fields of the cases, all of which must hold. Debates in quarantine
    are wanted alone, or not at all. `model` is one that the panel asks first, `quorum` whether it was met; a cost that
    is not known is neither at least `min_cost` nor at most `max_cost`. `unfinished`: only what is not over.
    """

    run_id: str | None = None
    status: DebateStatus | None = None
    verdict: str | None = None
    simulated: bool | None = None
    search: str | None = None
    where: tuple[Condition, ...] = ()
    quarantined: bool = False
    model: str | None = None
    quorum: bool | None = None
    min_cost: float | None = None
    max_cost: float | None = None
    unfinished: bool = False

    def admits(self, row: Mapping[str, Any], says: Callable[[int], bool]) -> bool:
        """Whether a row, by the names of its columns, is wanted.

        Args:
            row: of the list.
            says: whether somebody says what is searched for in the debate that opened at this position.
        """
        cost = row["cost"]
        return (
            self.quarantined == (row["quarantined"] is not None)
            and self.run_id in {None, row["run_id"]}
            and self.status in {None, row["status"]}
            and self.verdict in {None, row["final_verdict"]}
            and self.simulated in {None, row["simulated"]}
            and self.model in {None, *(row["models"] or ())}
            and self.quorum in {None, row["quorum_met"]}
            and (self.min_cost is None or (cost is not None and cost >= self.min_cost))
            and (self.max_cost is None or (cost is not None and cost <= self.max_cost))
            and not (self.unfinished and row["ended_at"] is not None)
            and (self.search is None or self._named(row) or says(row["position"]))
            and (not self.where or admitted(self.where, row_values(row)))
        )

    def _named(self, row: Mapping[str, Any]) -> bool:
        return any(contains(row[name], self.search or "") for name in ("debate_id", "case_id"))


def row_values(row: Mapping[str, Any]) -> Values:
    """What conditions on a row, by the names of its columns, are asked of."""
    return field_values(**{name: row[name] for name in ("case_id", "label", "cluster", "tags", "metadata")})


def indexed_values(row: Mapping[str, Any]) -> Values:
    """What the list can be chosen by without a look at every debate."""
    return {**row_values(row), **({MODEL: tuple(dict.fromkeys(row["models"]))} if row["models"] else {})}


MODEL = "model"
"""Under which name `debate_fields` has a debate's models; no field of a case is called so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a list comes to. Cost in US dollars over the debates of which it is known, `unknown_cost` counts the others.

    `mean_score` is that of the completed ones, None where there are none.
    """

    debates: int
    completed: int
    failed: int
    cancelled: int
    safe_pass: int
    needs_review: int
    unsafe_fail: int
    mean_score: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    unknown_cost: int


EVERY_DEBATE = DebateFilter()
