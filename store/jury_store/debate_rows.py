"""The lists made from the log: one line a debate, one line a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from jury_events.case import MetadataValue
from jury_events.conditions import Condition, Values, admitted, contains, field_values

DebateStatus = Literal["evaluating", "discussing", "judging", "completed", "failed", "cancelled"]

ENDED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateRow:
    """One debate at a glance. Times in microseconds since 1970-01-01 UTC, cost in US dollars (None: unknown).

    `position` is that of its opening event, `rounds` counts rounds begun, `calls` recorded exchanges, `asked_again`
    steps that may have been asked twice. `method` is what the panel asks for, `decided_by` what decided. `case_part` is
    the digest of the case. The verdict is there once the judgment is. `label`, `cluster`, `tags`, `metadata` and
    `agent_cost` are those of the case; `not_shown` counts what of it no juror is shown.
    """

    debate_id: str
    position: int
    run_id: str | None
    case_id: str
    status: DebateStatus
    rounds: int
    method: str
    simulated: bool
    label: str | None
    case_part: bytes
    opened_at: int
    updated_at: int
    ended_at: int | None = None
    final_verdict: str | None = None
    final_score: int | None = None
    total_rounds: int | None = None
    early_termination: bool | None = None
    end_reason: str | None = None
    decided_by: str | None = None
    quorum_met: bool | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    asked_again: int = 0
    cluster: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    agent_cost: float | None = None
    not_shown: int = 0


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
    """What a debate judges. `salt` is None when the case's text was erased."""

    case_id: str
    status: DebateStatus
    case_part: bytes
    salt: bytes | None


class DebateFilter(NamedTuple):
    """Which debates of a list are wanted: those to which all that is not None applies.

    `search` is looked for in debate ids and case ids, ASCII letters of either case alike. `where` are conditions on the
    fields of the cases, all of which must hold.
    """

    run_id: str | None = None
    status: DebateStatus | None = None
    verdict: str | None = None
    simulated: bool | None = None
    search: str | None = None
    where: tuple[Condition, ...] = ()

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Whether a row, by the names of its columns, is wanted."""
        return (
            self.run_id in {None, row["run_id"]}
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
