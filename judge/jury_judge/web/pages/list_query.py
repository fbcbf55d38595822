"""What a reader of the list asks for, as its address says it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, get_args
from urllib.parse import urlencode

from jury_events.conditions import Condition, parse_conditions
from jury_events.ids import is_run_id
from jury_events.verdict import Verdict
from jury_judge.web.pages.asked import NoSuchPage, number
from jury_store.debate_rows import DebateFilter, DebateStatus

STATUSES: tuple[DebateStatus, ...] = get_args(DebateStatus)

MOST_CONDITIONS = 20
MOST_CONDITION = 1000
"""Conditions of a list, and characters of each."""

_MOST = 200
"""Characters of a search."""

_SIMULATED = {None: None, True: "yes", False: "no"}

T = TypeVar("T", bound=str)


class ListQuery(NamedTuple):
    """Search and filters; None, "" and () do not filter. `before` is a position: only debates opened below it."""

    text: str = ""
    verdict: str | None = None
    status: DebateStatus | None = None
    run_id: str | None = None
    simulated: bool | None = None
    where: tuple[Condition, ...] = ()
    before: int | None = None
    check: bool = False

    @property
    def wanted(self) -> DebateFilter:
        """The same, as the store understands it."""
        return DebateFilter(self.run_id, self.status, self.verdict, self.simulated, self.text or None, self.where)

    @property
    def filtered(self) -> bool:
        """Whether anything is left out on purpose."""
        return bool(self.text or self.where) or any(
            one is not None for one in (self.verdict, self.status, self.run_id, self.simulated)
        )

    def address(self, **changes: Any) -> str:
        """The list with these fields changed, as a URL."""
        fields = self._replace(**changes)
        said = {
            "q": fields.text,
            "verdict": fields.verdict,
            "status": fields.status,
            "run": fields.run_id,
            "simulated": _SIMULATED[fields.simulated],
            "where": fields.where,
            "before": fields.before,
            "check": "1" if fields.check else None,
        }
        query = urlencode({name: value for name, value in said.items() if value}, doseq=True)
        return f"/?{query}" if query else "/"


def list_query(query: Mapping[str, str], where: Sequence[str] = ()) -> ListQuery:
    """The query of an address; empty fields are as none.

    Args:
        query: its fields, but for conditions.
        where: the conditions.

    Raises:
        NoSuchPage: a field has a value that nothing can have.
        BadCondition: a condition is none.
    """
    if len(where) > MOST_CONDITIONS or max(map(len, where), default=0) > MOST_CONDITION:
        raise NoSuchPage(f"where: at most {MOST_CONDITIONS} conditions of {MOST_CONDITION:,} characters each")
    run_id = query.get("run", "").strip()
    if run_id and not is_run_id(run_id):
        raise NoSuchPage("run: this cannot name a run; the page of runs shows those that there are")
    text = query.get("q", "").strip()[:_MOST]
    if not text.isprintable():
        raise NoSuchPage("q: no id holds such a character; search for a piece of a debate's or a case's id")
    return ListQuery(
        text=text,
        verdict=_one_of("verdict", query, tuple(Verdict)),
        status=_one_of("status", query, STATUSES),
        run_id=run_id or None,
        simulated={None: None, "yes": True, "no": False}[_one_of("simulated", query, ("yes", "no"))],
        where=parse_conditions(where),
        before=number("before", query),
        check=query.get("check") == "1",
    )


def _one_of(name: str, query: Mapping[str, str], values: Sequence[T]) -> T | None:
    said = query.get(name, "")
    found = next((value for value in values if value == said), None)
    if said and found is None:
        raise NoSuchPage(f"{name}: choose one of {', '.join(values)}")
    return found
