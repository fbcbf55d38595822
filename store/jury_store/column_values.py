"""Values that the columns of the lists can store, in both databases."""

from typing import Annotated

from pydantic import AfterValidator, Field

from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("databases cannot store the character U+0000")
    text.encode()
    return text


StoredText = Annotated[str, AfterValidator(_storable)]
Small = Annotated[int, Field(ge=0, lt=2**31)]
Whole = Annotated[int, Field(ge=0, lt=2**63)]
Tokens = Annotated[int, Field(ge=0, lt=2**53)]
Dollars = Annotated[float, Field(ge=0, le=1e12)]
"""Bounded so that sums over many debates stay exact in JSON and floats."""
VerdictName = Annotated[str, Field(pattern=f"^({'|'.join(Verdict)})$")]
LabelName = LabelId
"""A label of a panel's own scale."""
