"""Errors as one line that a client's model can read and act on."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from pydantic import ValidationError

from jury_events.errors import JuryError
from jury_events.nearest import did_you_mean
from jury_events.text import condensed, visible_line

_MOST = 2000
"""Characters of a line."""


def line_of(error: BaseException) -> str:
    """What an error says, in one line without control characters; refused values are left out."""
    return visible_line(condensed(error) if isinstance(error, ValidationError) else str(error), _MOST)


def _check_names(arguments: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse an unknown argument, which the library would ignore: a filter with a slip would choose everything."""
    for name in arguments:
        if name not in known:
            shown = visible_line(name, 60)
            names = f"; the arguments are {', '.join(known)}" if known else ""
            raise ToolError(f"there is no argument {shown!r}{did_you_mean(name, known)}{names}")


_Tool = TypeVar("_Tool", bound=Callable[..., Any])


class PlainMcpServer(MCPServer[Any]):
    """A server whose tools and resources fail with the one line of the error, and with nothing of a defect."""

    def tool(self, *args: Any, **given: Any) -> Callable[[_Tool], _Tool]:
        """A decorator that adds a tool, whose answer is text alone: clients would show the same as an object, too."""
        return super().tool(*args, **{**given, "structured_output": False})

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """The answer of a tool."""
        for tool in await self.list_tools():
            if tool.name == name:
                _check_names(arguments, tool.input_schema.get("properties", {}))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, JuryError | ValidationError):
                raise ToolError(line_of(cause)) from error
            if isinstance(error, UnexpectedToolError):
                raise
            raise ToolError(line_of(error)) from error

    async def read_resource(self, uri: Any, context: Any = None) -> Any:
        """The content of a resource."""
        try:
            return await super().read_resource(uri, context)
        except UnexpectedResourceError as error:
            if isinstance(error.__cause__, JuryError):
                raise ResourceNotFoundError(line_of(error.__cause__)) from error
            raise
        except ResourceError as error:
            raise ResourceNotFoundError(line_of(error)) from error
