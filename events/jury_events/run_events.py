"""The events of the stream `run/{id}`: what belongs to a run and to none of its debates."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, StringConstraints

from jury_events.debate_events import EventBody
from jury_events.panel import Panel
from jury_events.text import dollars, pluralize
from jury_events.value import Label, RunId, Value

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**63)]
EventNumber = Annotated[int, Field(ge=1, lt=2**31)]


class RunEndpoint(Value):
    """How the models of a provider are reached: what the panel file says of it, which is no key.

    `whole`: nothing of it was left out as a secret.
    """

    provider: Label
    said: dict[Label, JsonValue]
    whole: bool


class RunStage(Value):
    """A further stage of a ladder; the fields are as of `RunOpened`."""

    panel: Panel
    prompts: Annotated[int, Field(ge=1)]
    custom: Sha256


class RunLadder(Value):
    """The ladder of a run: equal digests judge alike.

    `certificate` is the digest of what its stages accept (None: nothing), `audit` the share of early exits that is
    audited, `further` are the stages after the first.
    """

    digest: Sha256
    certificate: Sha256 | None = None
    audit: Annotated[float, Field(ge=0, le=1)]
    further: tuple[RunStage, ...]


BUDGET_ROUNDING = 1e-9
"""Dollars: sums of floats that should be equal differ by less."""


def fits(calls: int, cost: float, most_calls: int | None, most_cost: float | None) -> bool:
    """Whether so much may be spent in all; None: without a bound."""
    return (most_calls is None or calls <= most_calls) and (most_cost is None or cost <= most_cost + BUDGET_ROUNDING)


class BudgetBounds(Value):
    """What a run may spend over all its sessions, in calls and US dollars; None: without a bound."""

    max_calls: Count | None = None
    max_cost: Annotated[float, Field(ge=0)] | None = None

    @property
    def bounded(self) -> bool:
        """Whether anything is bounded."""
        return self.max_calls is not None or self.max_cost is not None

    @property
    def words(self) -> str:
        """The bounds, in words; "": there is none."""
        calls = [] if self.max_calls is None else [pluralize(self.max_calls, "call")]
        return " and ".join([*calls, *([] if self.max_cost is None else [dollars(self.max_cost)])])

    def covers(self, calls: int, cost: float) -> bool:
        """Whether so much may be spent in all."""
        return fits(calls, cost, self.max_calls, self.max_cost)

    def left(self, calls: int, cost: float) -> "BudgetBounds":
        """What is left once so much is spent."""
        return BudgetBounds(
            max_calls=None if self.max_calls is None else max(0, self.max_calls - calls),
            max_cost=self.cost_left(cost),
        )

    def cost_left(self, cost: float) -> float | None:
        """The dollars that are left once so much is spent."""
        return None if self.max_cost is None else max(0.0, self.max_cost - cost)

    def over(self, other: "BudgetBounds") -> "BudgetBounds":
        """These bounds, and where there is none those of the other."""
        return other.changed(**{name: bound for name, bound in self if bound is not None})


class RunSubmission(Value):
    """A run was submitted to a server: every server of the store with this panel goes on with it by itself.

    `concurrency`: debates at once that were asked for; None: as many as the server judges.
    """

    concurrency: Annotated[int, Field(ge=1, lt=2**31)] | None = None


class RunOpened(EventBody):
    """A run begins: who judges, how often, for how much, and who asked.

    `panel` is that of its debates, of a `ladder` that of the first stage; `prompts` is the version of its prompts,
    `custom` the digest of those that the panel file gives, `endpoints` where it says how providers are reached.
    `repeats`: debates a case. `by` is who asked, `submitted` that it was a client of a server (None: a command or a
    call, and only who is asked to goes on with the run), `program` the version that wrote this.
    """

    id_form: ClassVar[str] = "opened"
    """One a run."""

    type: Literal["run_opened"] = "run_opened"
    run_id: RunId
    panel: Panel
    prompts: Annotated[int, Field(ge=1)]
    custom: Sha256
    endpoints: tuple[RunEndpoint, ...]
    ladder: RunLadder | None = None
    repeats: Annotated[int, Field(ge=1)]
    budget: BudgetBounds
    by: Label
    submitted: RunSubmission | None = None
    program: Label


class CasesListed(EventBody):
    """A page of the list: the openings of these debates are in the same transaction, in their order.

    `first` is the place of the first in the list, from 1, `debates` how many the page has. `later`: they are later
    stages of cases that are listed already. `cases` is how many debates the run is to have, later stages left out,
    where every case was counted. `digest` is over the place, the id and the hash of the opening of each
    (`jury_events.run_facts.page_digest`).
    """

    id_form: ClassVar[str] = "listed/{0.number}"
    """One a page: `number` counts them."""

    type: Literal["cases_listed"] = "cases_listed"
    number: EventNumber
    first: Annotated[int, Field(ge=1, lt=2**63)]
    debates: Annotated[int, Field(ge=1, lt=2**31)]
    later: bool = False
    cases: Count | None = None
    digest: Sha256


class ListCompleted(EventBody):
    """Every case that was given is listed: the list has `debates` so far; a later call may add more.

    `cases`: as of `CasesListed`.
    """

    id_form: ClassVar[str] = "completed/{0.number}"
    """One a call that listed to its end: `number` counts them."""

    type: Literal["list_completed"] = "list_completed"
    number: EventNumber
    debates: Count
    cases: Count


class BudgetChanged(EventBody):
    """From now on the run may spend this, over all its sessions."""

    id_form: ClassVar[str] = "budget/{0.number}"
    """One a change: `number` counts them."""

    type: Literal["budget_changed"] = "budget_changed"
    number: EventNumber
    budget: BudgetBounds
    by: Label


class CancelRequested(EventBody):
    """A person cancels the run: debates that began end, those that wait are not judged until it is reopened."""

    id_form: ClassVar[str] = "cancel/{0.number}"
    """One a request: `number` counts them."""

    type: Literal["cancel_requested"] = "cancel_requested"
    number: EventNumber
    by: Label


class RunReopened(EventBody):
    """A person goes on with a cancelled run: what waits is judged, what was cancelled stays so."""

    id_form: ClassVar[str] = "reopened/{0.number}"
    """One a reopening: `number` counts them."""

    type: Literal["run_reopened"] = "run_reopened"
    number: EventNumber
    by: Label


class RunImported(EventBody):
    """All events before this one came in a cassette of the run: this store listed none of these debates.

    `sealed_by` is the log that the cassette's seal names, `verified_with` the key that its signature was checked with;
    None: there is none, or it was not checked.
    """

    id_form: ClassVar[str] = "imported/{0.number}"
    """One an import: `number` counts them."""

    type: Literal["run_imported"] = "run_imported"
    number: EventNumber
    sealed_by: Label | None = None
    verified_with: Label | None = None


class RunEnded(EventBody):
    """A session that left nothing to do ended: figures of the run up to then. `cost` in US dollars, where known.

    `epoch` is that of the executor. `calls_at_most` and `cost_at_most` include calls that were sent and not recorded.
    """

    id_form: ClassVar[str] = "ended/{0.number}"
    """One an end: `number` counts them."""

    type: Literal["run_ended"] = "run_ended"
    number: EventNumber
    epoch: Annotated[int, Field(ge=1)]
    debates: Count
    completed: Count
    failed: Count
    cancelled: Count
    calls: Count
    cost: Annotated[float, Field(ge=0)]
    calls_at_most: Count | None = None
    cost_at_most: Annotated[float, Field(ge=0)] | None = None
