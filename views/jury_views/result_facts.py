"""The small facts of a result, as dictionaries; and how results are described: names over HTTP, verdict words."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from jury_events.verdict import Verdict

SERVED = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")
"""Of every model of results: names are in camelCase over HTTP."""

VerdictWord = Annotated[str, Field(json_schema_extra={"enum": [one.value for one in Verdict]})]


def said(description: str, **more: Any) -> Any:
    """What the reference and the schemas say of a field."""
    return Field(description=description, **more)


@with_config(SERVED)
class DecisivePlace(TypedDict):
    """The item where it went wrong."""

    item: int
    words: Annotated[str | None, said("As a seat quotes it; null where none does.")]
    named_by: Annotated[int, said("Seats that name it.")]
    seats: Annotated[int, said("Seats with an evaluation.")]


@with_config(SERVED)
class BranchOrigin(TypedDict):
    """The debate and event that a fork branches from."""

    debate_id: str
    version: int


@with_config(SERVED)
class OmittedContent(TypedDict):
    """Parts of a case, of one kind, that no juror is shown."""

    what: str
    count: int
    size: Annotated[int | None, said("In bytes; null where unknown.")]


@with_config(SERVED)
class LaterEventsKnown(TypedDict):
    """Up to when a trusted key excludes later events at the origin of an imported debate.

    Both null: they cannot be excluded, so that a review or its withdrawal may be missing.
    """

    excluded_as_of: str | None
    signed_by: str | None


@with_config(SERVED)
class LabelledPlace(TypedDict):
    """Where it first went wrong by the label."""

    message: Annotated[int | None, said("The number of the message in the source, from 0.")]
    agent: Annotated[str | None, said("The agent at fault.")]
    items: Annotated[list[int], said("The items of the message, as the prompts number them.")]


@with_config(SERVED)
class PositionChanges(TypedDict):
    """Statements that changed a position."""

    own: Annotated[int, said("By jurors.")]
    synthetic: Annotated[int, said("By neutral evaluations that replace blocked answers.")]


@with_config(SERVED)
class ModelMismatch(TypedDict):
    """A step where another model answered than was asked."""

    juror_id: Annotated[str | None, said("Null: the final judge.")]
    step: str
    asked: str
    answered: str | None


@with_config(SERVED)
class UnreadItems(TypedDict):
    """Items by their numbers, both ends included."""

    first: int
    last: int


@with_config(SERVED)
class ReadPart(TypedDict):
    """How much of a long record an evaluation rests on."""

    mode: str
    parts: int
    items_read: int
    items_total: int
    characters_read: int
    characters_total: int
    share: Annotated[float, said("Of the characters of the record, 0 to 1.")]
    partly_read: Annotated[list[str], said("Parts that were refused, or never answered usably.")]
    unread: list[UnreadItems]
    findings_left_out: int
    answered: Annotated[
        VerdictWord | None, said("The verdict as answered, where it passes and does not count, as parts were not read.")
    ]


@with_config(SERVED)
class ReviewOfResult(TypedDict):
    """A person's verdict on a debate that was not withdrawn."""

    number: Annotated[int, said("In the debate's stream of reviews.")]
    reviewer: str
    verdict: VerdictWord
    blind: Annotated[bool, said("Given before the jury's words were shown.")]
    sampled: Annotated[bool, said("The debate was drawn at random for this person.")]
    minutes: float | None
    supersedes: Annotated[int | None, said("The number of the review that it replaces.")]
    reviewed_at: str
    foreign: Annotated[bool, said("It came in a cassette without a trusted seal, and counts for nothing.")]
    decisive_item: Annotated[int | None, said("The first item where it went wrong; null: none is named.")]
    label: Annotated[str | None, said("Of the scale of the panel; null: the verdict alone was given.")]
    stands: Annotated[bool, said("It is the reviewer's last one.")]
    reason: Annotated[str | None, said("Null where there is none, and where it was erased.")]


ChangedBy = Literal["own", "synthetic"]
