"""The server itself."""

from typing import Annotated, Literal

from pydantic import Field

from jury_web.api.schemas.base import CamelModel


class StoreWriter(CamelModel):
    """The process that writes to a SQLite store."""

    pid: int
    run: str
    since: str


class Health(CamelModel):
    """The health of the server."""

    status: Literal["ok", "store unreachable"]
    version: str
    schema_number: Annotated[str, Field(alias="schema", description="Of the store.")]
    last_position: Annotated[int | None, Field(description="Of the newest event; null where the store cannot be read.")]
    writer: Annotated[StoreWriter | None, Field(description="null where there is none, or the store is not a file.")]
    panels: Annotated[list[str], Field(description="Panels of this server; none where it is read-only.")]
    readers: int
    running: int
