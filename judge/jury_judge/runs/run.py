"""A run: many cases before one panel, under one id; checks of what callers in Python give."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from threading import Lock
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jury_cases.case_outlines import Fetch, Skip, outline_of
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.ids import MOST_REPEATS, repeat_id
from jury_events.ids import debate_id as id_of
from jury_events.run_events import RunSubmission
from jury_events.text import condensed, visible_line
from jury_events.value import Label, NewDebateId, NewRunId
from jury_judge.panels.files import Ladder
from jury_providers.endpoints import Endpoints
from jury_providers.registry import NO_ENDPOINTS
from jury_store.seals.keys import PublicKey

CaseSource = Callable[[Fetch], Iterable[Case]]
"""Returns the cases from the first on; called for each case whether to fetch the records behind its URIs.

Several threads may iterate at once.
"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """The input of a run.

    Attributes:
        run_id: its name in the store.
        resolved: the panel, of a ladder that of the first stage.
        cases: see `CaseSource`; may be called several times.
        concurrency: debates at once.
        submission_id: the caller's name of a case in live events.
        adopt: an imported debate counts as judged if its seal is signed by one of these keys.
        repeats: debates a case.
        operator_policy: the policy that was given for all cases without one; it is shown before the case.
        batched: calls go into batches; else a run with an open batch is refused.
        ladder: by which its cases are judged; None: by one panel.
        listing: taken while a page is listed; calls that list in one run at once share it.
        whole: its cases are all that it is to have; else a part of its list, as the store has it.
        endpoints: how its providers are reached.
        successors: by the id of a debate whose case is judged again, that of the debate that counts in its place.
        replacing: those of them that are recorded as replaced when their successors open.
        submitted: it was submitted to a server; None: a command or a call judges it.
    """

    run_id: str
    resolved: ResolvedPanel
    cases: CaseSource
    concurrency: int
    submission_id: Callable[[Case], str | None] = lambda _case: None
    adopt: Collection[PublicKey] = ()
    repeats: int = 1
    operator_policy: str | None = None
    batched: bool = False
    ladder: Ladder | None = None
    listing: Lock = field(default_factory=Lock, compare=False)
    whole: bool = True
    endpoints: Endpoints = field(default_factory=lambda: NO_ENDPOINTS)
    successors: Mapping[str, str] = field(default_factory=dict)
    replacing: frozenset[str] = frozenset()
    submitted: RunSubmission | None = None

    def debate_ids(self, case: Case | str) -> tuple[str, ...]:
        """The ids of all debates of a case, or of a case id; by a ladder those of its first stage."""
        first = id_of(self.run_id, case if isinstance(case, str) else case.case_id)
        return tuple(repeat_id(first, repeat) for repeat in range(1, self.repeats + 1))

    @property
    def pictures(self) -> bool:
        """Whether a stage of its ladder is sent pictures: the log keeps them from the first stage on."""
        stages = () if self.ladder is None else self.ladder.stages
        return any(place.images for stage in stages for place in stage.panel.seats_and_judge)

    def counts(self, debate: str) -> str:
        """The debate that counts in place of this one: itself, unless its case is judged again."""
        return self.successors.get(debate, debate)

    def outline(self, skip: Skip, fetch: Fetch) -> Iterator[Case | str]:
        """The cases in their order, without those that `skip` chose: of these the id alone."""
        return outline_of(self.cases, skip, fetch)


def fresh_run_id() -> str:
    """A new run id."""
    return _fresh("run")


def fresh_debate_id(case: Case) -> str:
    """A new id for a debate that belongs to no run."""
    return id_of(_fresh("debate"), case.case_id)


def _fresh(kind: str) -> str:
    return f"{kind}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


_RUN_ID = TypeAdapter(NewRunId)
_DEBATE_ID = TypeAdapter(NewDebateId)
_NAME = TypeAdapter(Label)


def check_ids(run_id: str | None, debate_id: str | None = None, submission_id: str | None = None) -> None:
    """Refuse ids that no event can have."""
    named = {
        "debate_id": (_DEBATE_ID, debate_id),
        "run_id": (_RUN_ID, run_id),
        "submission_id": (_NAME, submission_id),
    }
    for name, (form, value) in named.items():
        try:
            form.validate_python(value) if value is not None else None
        except ValidationError as error:
            shown = visible_line(repr(value), 80)
            raise SettingError(f"{name}: {shown} is invalid ({condensed(error)})") from error


def check_bounds(**bounds: tuple[Any, int]) -> None:
    """Refuse numbers below their minimum, NaN, infinity, and values of other types."""
    for name, (value, least) in bounds.items():
        if value is not None and not (isinstance(value, int | float) and least <= value < math.inf):
            raise SettingError(f"{name}: must be a number from {least}, not {visible_line(repr(value), 40)}")


def check_repeat(repeat: Any) -> None:
    """Refuse a number of debates that a case cannot have."""
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS:
        shown = visible_line(repr(repeat), 40)
        raise SettingError(f"repeat: must be a whole number from 1 to {MOST_REPEATS}, not {shown}")
