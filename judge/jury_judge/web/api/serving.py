"""What every endpoint needs: the service, ids that are bound, and rows as they are shown."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from starlette.requests import HTTPConnection

from jury_events.ids import DEBATE_ID, RUN_ID, debate_stream
from jury_judge.text.timestamps import moment
from jury_judge.web.api.forms import MOST_ROWS
from jury_judge.web.api.problems import Refused
from jury_judge.web.service import Service
from jury_store.debate_rows import DebateRow, RunRow


def _service(connection: HTTPConnection) -> Service:
    service = connection.app.state.service
    assert isinstance(service, Service)
    return service


AT_MOST = 2**53 - 1
"""The largest number that every JSON reader keeps."""

Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
Serving = Annotated[Service, Depends(_service)]
DebateName = Annotated[str, Path(pattern=f"^{DEBATE_ID}$", description="A debate's id.")]
RunName = Annotated[str, Path(pattern=f"^{RUN_ID}$", description="A run's id.")]


def no_debate(debate_id: str) -> Refused:
    """The refusal that says so."""
    return Refused(
        404, f"there is no debate {debate_id!r} in this store", "GET /api/debates lists those that there are"
    )


def must_exist(service: Service, debate_id: str) -> None:
    """Refuse what the store holds no debate of.

    Raises:
        Refused: 404.
    """
    if not service.store.heads([debate_stream(debate_id)]):
        raise no_debate(debate_id)


def row_table(row: DebateRow | RunRow) -> dict[str, Any]:
    """A row of a list for its form: times in ISO 8601, no digests."""
    table = asdict(row)
    for name, value in list(table.items()):
        if isinstance(value, bytes):
            del table[name]
        elif name.endswith("_at") and value is not None:
            table[name] = moment(value, "microseconds")
    return table
