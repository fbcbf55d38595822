"""A span of a trace, without the names that any one tool gives to its fields."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jury_events.case import Image
from jury_events.transcript import Item

SpanKind = Literal["model", "tool", "agent", "other"]
"""model: one call of a model. tool: one run of a tool. agent: a run of an agent. other: anything around them."""


@dataclass(frozen=True, kw_only=True)
class SpanTool:
    """What a tool's span says of its call.

    Attributes:
        name: the tool's.
        call_id: the id that the model gave to the call; None: not recorded.
        arguments: as text (JSON where it was JSON); None: not recorded.
        result: as text; None: not recorded.
    """

    name: str
    call_id: str | None = None
    arguments: str | None = None
    result: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Span:
    """One span.

    Attributes:
        span_id: unique in its trace, if the trace is well formed; the first of several equal ones is the parent of
            spans that name it.
        place: begins errors and locations of what is not shown.
        kind: what the span covers.
        parent_id: None or unknown in the trace: a root.
        start, end: in any one unit for the whole trace; an `end` of None is that of the latest span below it.
        inputs, outputs: the messages that the span got and gave, as items of a transcript.
        images: the pictures of both.
        tool: the run of a span of kind `tool`.
        failure: the reason of its failure; None: it did not fail.
        agent: the name of the agent whose span it is; None: not recorded.
    """

    span_id: str
    place: str
    kind: SpanKind
    start: int
    end: int | None = None
    parent_id: str | None = None
    inputs: tuple[Item, ...] = ()
    outputs: tuple[Item, ...] = ()
    images: tuple[Image, ...] = ()
    tool: SpanTool | None = None
    failure: str | None = None
    agent: str | None = None


def failures(spans: Iterable[Span]) -> str | None:
    """The failures of all spans but the tools' (those are results of their calls), each once; None: there is none."""
    found = (span.failure for span in spans if span.failure is not None and span.tool is None)
    return "\n".join(dict.fromkeys(found)) or None
