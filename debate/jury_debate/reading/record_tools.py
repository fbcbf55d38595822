"""The tools with which a juror reads a record that it is shown as an outline: pure, bounded, the same at every replay.

Results show the record's own lines behind the debate's marker, as the prompt does.
"""

from typing import Any, NamedTuple

from jury_debate.artifacts import ToolSpec
from jury_debate.errors import DebateError
from jury_debate.marking import mark
from jury_debate.prompts_1.texts import Texts, fill
from jury_debate.reading.shown_record import PlacedItem, ShownRecord, cuts, window_frame
from jury_events.canonical import canonical_json
from jury_events.evidence import LONGEST_QUOTE, MOST_ITEM, SHORTEST_QUOTE
from jury_events.strict_json import MODEL_JSON, InvalidJson

READ_ITEMS, SEARCH_ITEMS = "read_items", "search_items"
RECORD_TOOLS = (READ_ITEMS, SEARCH_ITEMS)

MOST_READ_TURNS = 40
"""Turns in which a model may call these tools."""

MOST_PLACES = 20
AROUND = 80
"""Characters before and behind what is found."""


class RecordAnswer(NamedTuple):
    """The result of a tool call, whether the call was valid, and the range of bytes that it shows as read."""

    text: str
    ok: bool
    read: tuple[int, int] | None = None


class SearchedPlace(NamedTuple):
    """A place of a text that was searched for: its item, and some of the item's text around it."""

    number: int
    around: str


class _Unusable(DebateError):
    """The arguments of a call are invalid; the message names the remedy for the model."""


class RecordSearch(NamedTuple):
    """What a search found: the first places, and how many there are."""

    places: tuple[SearchedPlace, ...]
    total: int


def record_tool_definitions(texts: Texts) -> tuple[ToolSpec, ...]:
    """The definitions of the tools for providers."""
    number = {"type": "integer", "minimum": 1, "maximum": MOST_ITEM}
    parameters: dict[str, dict[str, Any]] = {
        READ_ITEMS: {"from": number, "to": number, "part": number},
        SEARCH_ITEMS: {"text": {"type": "string", "minLength": SHORTEST_QUOTE, "maxLength": LONGEST_QUOTE}},
    }
    return tuple(
        ToolSpec(
            name,
            texts.tools[name].description,
            {
                "type": "object",
                "properties": {
                    key: {**schema, "description": texts.tools[name].parameters[key]}
                    for key, schema in parameters[name].items()
                },
                "required": ["from"] if name == READ_ITEMS else ["text"],
                "additionalProperties": False,
            },
        )
        for name in RECORD_TOOLS
    )


def read_items(record: ShownRecord, arguments: str, texts: Texts, most: int) -> RecordAnswer:
    """Items `from` to `to` exactly as shown, or the part of them that is asked for.

    Raises nothing, whatever the model sent.

    Args:
        record: the case as shown.
        arguments: of the call, as received.
        most: bytes of the record that a result shows.
    """
    try:
        places, part = _asked(record, arguments, most)
    except _Unusable as error:
        return _refused(READ_ITEMS, str(error), record)
    parts = len(places) - 1
    start, end = places[part - 1], places[part]
    frame = window_frame(record, start, end, texts, label=str(part), parts=parts)
    shown = record.content[start:end].decode("utf-8", "replace")
    return RecordAnswer(f"{frame.before}{shown}{frame.behind}".rstrip("\n"), ok=True, read=(start, end))


def searched_text(arguments: str) -> str | None:
    """The text that a call searches for; None where its arguments are invalid."""
    try:
        text = _arguments(arguments, {"text"}).get("text")
    except _Unusable:
        return None
    return text if isinstance(text, str) and SHORTEST_QUOTE <= len(text) <= LONGEST_QUOTE else None


def search_result(found: RecordSearch | None, record: ShownRecord, texts: Texts) -> RecordAnswer:
    """The result of a search; None: the arguments were invalid."""
    if found is None:
        wanted = f"text must be a string of {SHORTEST_QUOTE} to {LONGEST_QUOTE} characters"
        return _refused(SEARCH_ITEMS, wanted, record)
    reading = texts.reading
    lines = [fill(reading.found, shown=len(found.places), total=found.total)]
    for place in found.places:
        lines += [fill(reading.found_in, number=place.number), mark(place.around, record.marker)]
    return RecordAnswer("\n".join(lines), ok=True)


def _asked(record: ShownRecord, arguments: str, most: int) -> tuple[list[int], int]:
    """Where the parts of the items begin and end that are asked for, and the number of the part."""
    given = _arguments(arguments, {"from", "to", "part"})
    first = _item(record, given, "from")
    last = _item(record, given, "to") if "to" in given else first
    if last.start < first.start:
        raise _Unusable("to is before from")
    places = [first.start, *cuts(record, most, first.start, last.end), last.end]
    part = _whole(given, "part") if "part" in given else 1
    if part > len(places) - 1:
        raise _Unusable(f"these items have {len(places) - 1} parts")
    return places, part


def _arguments(text: str, known: set[str]) -> dict[str, Any]:
    try:
        given = MODEL_JSON.whole(text) if text.strip() else {}
    except InvalidJson as error:
        raise _Unusable(f"the arguments are not strict JSON: {error}") from error
    if not isinstance(given, dict) or not given.keys() <= known:
        raise _Unusable(f"the arguments must be a JSON object of {', '.join(sorted(known))}")
    return dict(given)


def _item(record: ShownRecord, given: dict[str, Any], name: str) -> PlacedItem:
    item = record.item(_whole(given, name))
    if item is None:
        raise _Unusable(f"{name}: the record has no item of this number")
    return item


def _whole(given: dict[str, Any], name: str) -> int:
    value = given.get(name)
    if type(value) is not float or not value.is_integer() or not 1 <= value <= MOST_ITEM:
        raise _Unusable(f"{name} must be a whole number from 1")
    return int(value)


def _refused(name: str, why: str, record: ShownRecord) -> RecordAnswer:
    error = canonical_json({"error": f"{why}; call {name} again with corrected arguments, or answer without it"})
    return RecordAnswer(mark(error.decode("utf-8"), record.marker), ok=False)
