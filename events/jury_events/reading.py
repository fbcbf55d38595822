"""How a record that is longer than a model's window is read, and how much of it a juror has read."""

from typing import Annotated, Literal

from pydantic import Field

from jury_events.evidence import ItemNumber
from jury_events.value import JurorId, Value

ReadingRule = Literal["auto", "whole", "windows", "tools"]
"""Of a panel or a seat. auto: whole where the request takes at most 60 % of the window, else in windows."""

ReadingMode = Literal["windows", "tools", "cited"]
"""How a seat read what it did not read whole: in windows; by tools; only the items that other jurors cite."""

Count = Annotated[int, Field(ge=0)]

SMALLEST_WINDOW = 4_000
"""Tokens: a smaller window has no room for the instructions and an answer."""

Window = Annotated[int, Field(ge=SMALLEST_WINDOW, le=100_000_000)]
"""The tokens of a model's request and answer together."""

MOST_SPANS = 200
"""Of unread items that an evaluation lists."""

CLOSING = "closing"
"""The label of the call that closes a reading in windows; those of parts are `1`, `2`, …, of halves `2.1`, `2.2`.

Calls that gather findings, where a closing call has no room for all of them, are `g1.1`, `g1.2`, … and, of those,
`g2.1`, ….
"""

WindowLabel = Annotated[
    str, Field(pattern=rf"^(?:[1-9][0-9]*(?:\.[12])*|g[1-9][0-9]*\.[1-9][0-9]*|{CLOSING})$", max_length=100)
]

RECORD, TOOLS = "record", "tools"

PartLabel = Annotated[
    str,
    Field(pattern=rf"^(?:[1-9][0-9]*(?:\.[12])*|items [1-9][0-9]*(?:-[1-9][0-9]*)?|{RECORD}|{TOOLS})$", max_length=100),
]
"""A part of a record that a seat did not read, as a call about it was refused, or never answered usably.

The label of a part of a reading in windows; `items 3-7` of a reading by tools, and `tools` where a call of a tool
failed that names no items; `record`: the seat never evaluated by a reading of its own, and knows what others cite.
"""

PartlyRead = Annotated[tuple[PartLabel, ...], Field(min_length=1, max_length=MOST_SPANS)]
"""The first `MOST_SPANS` of them."""


class PlannedReading(Value):
    """How one seat reads, decided when the debate opened. `juror_id` is None for the final judge.

    `windows`: first part and the one after the last, of each window, in the parts of the case that the seat is shown;
    () where it does not read in windows. `room`: the bytes that its calls may show beside what all of them show.
    """

    juror_id: JurorId | None = None
    mode: ReadingMode
    windows: tuple[tuple[Count, Count], ...] = ()
    room: Annotated[int, Field(ge=1)]


class ReadingPlan(Value):
    """The seats of a debate that do not read the case whole.

    `parts` and `image_parts` count the pieces of prompts with the case, and with the case as shown with its pictures;
    0: it is one piece, or none. `pictures`: the numbers of the items that the pictures belong to, in their order.
    `reasoning_parts` counts the pieces with the agent's reasoning, where jurors are shown it after they have judged.
    """

    seats: Annotated[tuple[PlannedReading, ...], Field(min_length=1)]
    parts: Count
    image_parts: Count = 0
    pictures: tuple[ItemNumber, ...] = ()
    reasoning_parts: Annotated[int, Field(ge=1)] | None = None

    def of(self, juror_id: str | None) -> PlannedReading | None:
        """How a seat (None: the final judge) reads; None: whole."""
        return next((seat for seat in self.seats if seat.juror_id == juror_id), None)


class ItemSpan(Value):
    """Items `first` to `last`."""

    first: ItemNumber
    last: ItemNumber


class RecordRead(Value):
    """How much of the record a juror had read when it gave its evaluation.

    `parts`: the parts that it read, each in one call or one result of a tool. `items_read` were read whole. Characters
    are those of the items as shown. `unread`: items that were not read whole, the first `MOST_SPANS` spans of them.
    `findings_left_out`: findings of its own that its closing call had no room for. `partly_read`: parts that were
    refused, or never answered usably; None: there are none.
    """

    mode: ReadingMode
    parts: Count
    items_read: Count
    items_total: Count
    characters_read: Count
    characters_total: Count
    unread: Annotated[tuple[ItemSpan, ...], Field(max_length=MOST_SPANS)] = ()
    findings_left_out: Count = 0
    partly_read: PartlyRead | None = None

    @property
    def share(self) -> float:
        """Of the characters of the record, 0 to 1."""
        return self.characters_read / self.characters_total if self.characters_total else 1.0

    @property
    def partly(self) -> bool:
        """Whether it has not read all of it."""
        return self.characters_read < self.characters_total
