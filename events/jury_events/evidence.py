"""What a juror quotes of what it was shown, and what the engine found when it looked for the quotation."""

import json
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

import orjson
from pydantic import Field, model_validator

from jury_events.value import JurorId, Label, Value

MOST_ENTRIES = 8
SHORTEST_QUOTE, LONGEST_QUOTE = 3, 200
"""Characters of a quotation."""

MOST_ITEM = 1_000_000
"""The largest number of an item that an answer may name."""

Says = Literal["for", "against", "context"]
"""Whether a quotation speaks for the agent, against it, or only explains."""

EvidenceResult = Literal["verified", "normalised", "elsewhere", "not_found"]
"""What the check of a quotation found.

verified: the text of the item has exactly this. normalised: it has it but for case, quotation marks, dots at the
ends and the kind of white space. elsewhere: another item has exactly this. not_found: none of these.
"""

ItemNumber = Annotated[int, Field(ge=0, le=MOST_ITEM)]


class EvidenceSpan(Value):
    """Where a quotation stands: characters `start` to `end` (exclusive) of the text of `item`.

    The text of an item is its texts of the record in their order, joined by line breaks. `item` is None for what a
    seat said: then of all its texts that were shown, joined so.
    """

    item: ItemNumber | None = None
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _has_characters(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"end: {self.end} is not after start, {self.start}")
        return self


class Evidence(Value):
    """A quotation of an item, or of what `seat` said about it, and the result of its check.

    The quotations of an evaluation are one part, a JSON array of strings in the order of its entries (`quotes_of`).
    `criterion`: the rubric dimension that it is about. `span`: where the text was found; None where it was not.
    """

    SUPPORTING: ClassVar[frozenset[str]] = frozenset({"verified", "normalised"})
    """The results of quotations that stand where the juror says."""

    item: ItemNumber
    says: Says
    criterion: Label | None = None
    seat: JurorId | None = None
    result: EvidenceResult
    span: EvidenceSpan | None = None

    @model_validator(mode="after")
    def _found_somewhere(self) -> Self:
        if (self.span is None) != (self.result == "not_found"):
            raise ValueError("span: is where the text was found; null where it was not")
        return self

    @property
    def supports(self) -> bool:
        """Whether the quotation stands where the juror says."""
        return self.result in self.SUPPORTING


def quotes_part(quotes: Sequence[str]) -> str:
    """The text of the part with the quotations of an evaluation."""
    return orjson.dumps(quotes).decode()


def quotes_of(part: bytes) -> tuple[str, ...]:
    """The quotations in a part that `quotes_part` wrote."""
    return tuple(json.loads(part))
