"""The parameters of the review queue, parsed from its URL and written to the URLs of its debates."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from jury_events.conditions import METADATA, Condition, parse_conditions
from jury_events.decisive import LABEL_METADATA
from jury_events.ids import is_run_id
from jury_judge import DebateFilter
from jury_web.list_values import MOST_CONDITION, MOST_CONDITIONS
from jury_web.pages.page_request import PageNotFound, PageRequest

MOST_PEOPLE = 3
"""Reviewers of one debate that a queue can ask for."""

_SHOWN_TO_BLIND = ("case_id", "cluster", "tags")
"""Fields besides metadata that describe the case, and say nothing of a verdict on it."""

_LABELS = tuple(METADATA + name for name in LABEL_METADATA)
"""Metadata that are label data: they say where it went wrong, or how it ended."""


class ReviewQuery(NamedTuple):
    """Which debates are reviewed, and by how many people each."""

    run_id: str | None = None
    where: tuple[Condition, ...] = ()
    people: int = 1

    @property
    def wanted(self) -> DebateFilter:
        """The filter of the store."""
        return DebateFilter(run_id=self.run_id, where=self.where)

    def address(self, path: str, then: str | None = None, page: int = 1) -> str:
        """A URL with these parameters; `then` is the debate after the one of `path`, `page` that of the queue."""
        values = {
            "run": self.run_id,
            "where": self.where,
            "people": None if self.people == 1 else self.people,
            "then": then,
            "page": None if page == 1 else page,
        }
        query = urlencode({name: value for name, value in values.items() if value}, doseq=True)
        return f"{path}?{query}" if query else path

    def review(self, debate_id: str, then: str | None = None) -> str:
        """The URL of the review of a debate."""
        return self.address(f"/reviews/{debate_id}", then)


def review_query(request: PageRequest, *, blind: bool) -> ReviewQuery:
    """The query of a URL; empty parameters are ignored.

    Args:
        blind: whether only fields that describe the case are conditions: a list by label would show the label.
    """
    where: Sequence[str] = request.every("where")
    if len(where) > MOST_CONDITIONS or max(map(len, where), default=0) > MOST_CONDITION:
        raise PageNotFound(f"where: at most {MOST_CONDITIONS} conditions of {MOST_CONDITION:,} characters each")
    conditions = parse_conditions(where)
    for one in conditions if blind else ():
        of_case = one.field in _SHOWN_TO_BLIND or one.field.startswith(METADATA)
        if not of_case or one.field in _LABELS:
            raise PageNotFound(
                f"where: a blind reviewer cannot choose by {one.field}; choose by {', '.join(_SHOWN_TO_BLIND)} or "
                f"{METADATA}NAME"
            )
    run_id = request.query.get("run", "").strip()
    if run_id and not is_run_id(run_id):
        raise PageNotFound("run: invalid run id; the page of runs lists the runs")
    people = request.query.get("people", "") or "1"
    if people not in map(str, range(1, MOST_PEOPLE + 1)):
        raise PageNotFound(f"people: choose 1 to {MOST_PEOPLE}")
    return ReviewQuery(run_id or None, conditions, int(people))
