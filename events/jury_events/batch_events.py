"""The events of the stream `batches/{id}`: what was sent to a provider as one batch, and what became of it.

What a model answered is not here: it is an ordinary `exchange_recorded` of its debate, `via` the batch.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from jury_events.debate_events import EventBody
from jury_events.envelope import END_OF_TIME
from jury_events.exchange import Usage
from jury_events.parts import PartRef
from jury_events.value import Label, ModelName, Value

Count = Annotated[int, Field(ge=0, lt=2**31)]
ItemNumber = Annotated[int, Field(ge=1, lt=2**31)]
Dollars = Annotated[float, Field(ge=0)]
Microseconds = Annotated[int, Field(ge=0, lt=END_OF_TIME)]
Nonce = Annotated[str, StringConstraints(pattern=r"^[a-z2-7]{26}$")]
AccountDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
OwnerId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{1,220}$")]
ExchangeId = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class BatchPrepared(EventBody):
    """Recorded before anything is sent.

    `nonce` is written where the provider lists the batch. `address` and `key` are the SHA-256, in hexadecimal, of what
    identifies the server and of the API key. `items` calls and `size` bytes; item N has the `custom_id` `{nonce}-{N}`,
    counted from 1. `most`: what the calls can cost at most, in US dollars; None: not known. `wave`: of the run, from 1.
    `provider_time`: of the provider's own clock, before anything was sent; None: it did not say.
    """

    id_form: ClassVar[str] = "prepared"
    """One a batch."""

    type: Literal["batch_prepared"] = "batch_prepared"
    batch_id: OwnerId
    run_id: Label
    wave: ItemNumber
    provider: Label
    address: AccountDigest
    key: AccountDigest
    model: ModelName
    nonce: Nonce
    items: ItemNumber
    size: Count
    most: Dollars | None = None
    provider_time: Microseconds | None = None


class BatchedExchange(Value):
    """An item: the exchange of a debate that its answer becomes.

    `body`: a reference to the SHA-256, in hexadecimal, of the bytes that are sent: with its salt it can be erased.
    """

    debate_id: OwnerId
    exchange: ExchangeId
    body: PartRef


class BatchItemsListed(EventBody):
    """Some of the items, in order; `first` is the number of the first. Stored together with `batch_prepared`."""

    id_form: ClassVar[str] = "items/{0.first}"
    """One a page."""

    type: Literal["batch_items_listed"] = "batch_items_listed"
    first: ItemNumber
    calls: tuple[BatchedExchange, ...]


class BatchUploaded(EventBody):
    """The provider has the items as a file."""

    id_form: ClassVar[str] = "uploaded"
    """One a batch."""

    type: Literal["batch_uploaded"] = "batch_uploaded"
    file_id: Label


class BatchSubmitted(EventBody):
    """The provider has the batch, under its own id.

    `found`: it was looked up after a crash. `certain`: False where it was found by time and count alone. `expires_at`:
    when the provider ends it, in microseconds since 1970-01-01 UTC; None: it does not say.
    """

    id_form: ClassVar[str] = "submitted/{0.number}"
    """A further one only where the first was another's batch."""

    type: Literal["batch_submitted"] = "batch_submitted"
    provider_id: Label
    expires_at: Microseconds | None = None
    found: bool
    certain: bool
    number: ItemNumber


MistakeCause = Literal["ids", "gone"]


class BatchMistaken(EventBody):
    """The batch that was found by time and count is not this one.

    `cause`: its results have other `ids`; a `person` said so; it is `gone` before anything showed whose it was.
    """

    id_form: ClassVar[str] = "mistaken/{0.number}"
    """One a mistake."""

    type: Literal["batch_mistaken"] = "batch_mistaken"
    provider_id: Label
    cause: MistakeCause
    number: ItemNumber


BatchStage = Literal["waiting", "running", "cancelling", "ended"]


class BatchChanged(EventBody):
    """The provider says something new: its `stage`, its own `word` for it, and the items that it counts as done."""

    id_form: ClassVar[str] = "changed/{0.number}"
    """One a change."""

    type: Literal["batch_changed"] = "batch_changed"
    stage: BatchStage
    word: Label
    answered: Count | None = None
    failed: Count | None = None
    error: Label | None = None
    number: ItemNumber


class BatchCancelRequested(EventBody):
    """The provider is to be asked to end the batch: its deadline passed, or `by` a person."""

    id_form: ClassVar[str] = "cancel-requested"
    """One a batch."""

    type: Literal["batch_cancel_requested"] = "batch_cancel_requested"
    cause: Literal["deadline", "person"]
    by: Label | None = None


class BatchCancelSent(EventBody):
    """The provider was asked to end the batch, and did not refuse; `at`: its own clock then, None: it did not say."""

    id_form: ClassVar[str] = "cancel-sent"
    """One a batch."""

    type: Literal["batch_cancel_sent"] = "batch_cancel_sent"
    at: Microseconds | None = None


class BatchMissed(EventBody):
    """The provider does not have what it should: the `batch`, or `results` of all of its items.

    It is asked again some time later, before calls are made again. `at`: its own clock, None: it did not say.
    """

    id_form: ClassVar[str] = "missed/{0.number}"
    """One for each time that it was first missed."""

    type: Literal["batch_missed"] = "batch_missed"
    what: Literal["batch", "results"]
    reason: Label
    at: Microseconds | None = None
    number: ItemNumber


UnansweredEnd = Literal["expired", "cancelled", "missing", "unreadable", "superseded"]
"""Why an item is no exchange: the provider ended it; its results do not have it, or not readably; what it asked is not
asked any more."""


class UnansweredItem(Value):
    """An item that did not answer, or not in time, with what it was billed.

    `text`: a reference to an answer that is not used.
    """

    item: ItemNumber
    end: UnansweredEnd
    usage: Usage | None = None
    cost: Dollars | None = None
    text: PartRef | None = None


class BatchItemsUnanswered(EventBody):
    """Items whose exchange ids are free again."""

    id_form: ClassVar[str] = "unanswered/{0.number}"
    """One a page."""

    type: Literal["batch_items_unanswered"] = "batch_items_unanswered"
    unanswered: tuple[UnansweredItem, ...]
    number: ItemNumber


CloseCause = Literal["ended", "not_submitted", "refused", "results_gone"]


class BatchClosed(EventBody):
    """Nothing follows.

    `ended`: every item is answered or unanswered. `not_submitted`: the provider never had it. `refused`: it computed
    nothing of it. `results_gone`: it does not have the results any more. `unknown` and `doubled` are lines of the
    results that name no item, or one that another line has named.
    """

    id_form: ClassVar[str] = "closed"
    """One a batch."""

    type: Literal["batch_closed"] = "batch_closed"
    cause: CloseCause
    detail: Label | None = None
    answered: Count
    unanswered: Count
    unknown: Count
    doubled: Count


class BatchTextsErased(EventBody):
    """Texts of this batch were deleted together with those of a debate: digests' salts, answers that are not used."""

    id_form: ClassVar[str] = "erased/{0.number}"
    """One an erasure."""

    type: Literal["batch_texts_erased"] = "batch_texts_erased"
    debate_id: OwnerId
    by: Label
    number: ItemNumber
    parts: tuple[PartRef, ...]
