"""What a reader of the list asks for, as its address says it."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args
from urllib.parse import urlencode

from jury_events.verdict import Verdict
from jury_judge.web.pages.asked import NoSuchPage, number
from jury_store.debate_rows import DebateStatus

STATUSES: tuple[str, ...] = get_args(DebateStatus)

_RUN_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
_MOST = 200
"""Characters of a search."""

_SIMULATED = {None: None, True: "yes", False: "no"}


class ListQuery(NamedTuple):
    """Search and filters; None and "" do not filter. `before` is a position: only debates opened below it."""

    text: str = ""
    verdict: str | None = None
    status: str | None = None
    run_id: str | None = None
    simulated: bool | None = None
    before: int | None = None
    check: bool = False

    @property
    def filtered(self) -> bool:
        """Whether anything is left out on purpose."""
        return bool(self.text) or any(one is not None for one in (self.verdict, self.status, self.run_id, self.simulated))

    def address(self, **changes: Any) -> str:
        """The list with these fields changed, as a URL."""
        fields = self._replace(**changes)
        said = {
            "q": fields.text,
            "verdict": fields.verdict,
            "status": fields.status,
            "run": fields.run_id,
            "simulated": _SIMULATED[fields.simulated],
            "before": fields.before,
            "check": "1" if fields.check else None,
        }
        query = urlencode({name: value for name, value in said.items() if value})
        return f"/?{query}" if query else "/"


def list_query(query: Mapping[str, str]) -> ListQuery:
    """The query of an address; empty fields are as none.

    Raises:
        NoSuchPage: a field has a value that nothing can have.
    """
    run_id = query.get("run", "").strip()
    if run_id and not _RUN_ID.fullmatch(run_id):
        raise NoSuchPage("run: this cannot name a run; the page of runs shows those that there are")
    return ListQuery(
        text=query.get("q", "").strip()[:_MOST],
        verdict=_one_of("verdict", query, tuple(Verdict)),
        status=_one_of("status", query, (*STATUSES, "unfinished")),
        run_id=run_id or None,
        simulated={None: None, "yes": True, "no": False}[_one_of("simulated", query, ("yes", "no"))],
        before=number("before", query),
        check=query.get("check") == "1",
    )


def _one_of(name: str, query: Mapping[str, str], values: tuple[str, ...]) -> str | None:
    said = query.get(name, "")
    if said and said not in values:
        raise NoSuchPage(f"{name}: choose one of {', '.join(values)}")
    return said or None

