"""The events of the stream `local/{id}`: what this store did with a debate. They are in no cassette."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from jury_events.debate_events import EventBody
from jury_events.value import Label, Value

Imported = Literal["unsealed", "sealed", "verified"]
"""The proof of an imported debate's origin: none; a seal by anyone; a seal whose signature was checked with a key that
the importer trusts."""

EventNumber = Annotated[int, Field(ge=1, lt=2**31)]


class VersionRange(Value):
    """The imported events of a stream: those after version `after`, up to `until`."""

    after: Annotated[int, Field(ge=0, lt=2**31)]
    until: Annotated[int, Field(ge=0, lt=2**31)]

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.until < self.after:
            raise ValueError(f"until ({self.until}) must not be below after ({self.after})")
        return self


class SignedLengths(Value):
    """The imported streams were as long as in their store at the time `at`: a trusted key signed their lengths.

    `signed_by` is the key's name, `at` microseconds since 1970-01-01 UTC.
    """

    signed_by: Label
    at: Annotated[int, Field(ge=0, lt=2**63)]


class DebateImported(EventBody):
    """Events of this debate were imported from a cassette.

    `debate`, `calls` and `review` are the ranges in the streams; of a batch `debate` is that of its
    one stream. `seal` is the SHA-256 in hexadecimal of the stored
    seal (None: there is none), `sealed_by` the log that this seal names, and `verified_with` the key that its
    signature was checked with on import. `lengths`: the streams ended where their store said; None: nothing shows it.
    """

    id_form: ClassVar[str] = "imported/{0.number}"
    """One an import: `number` counts them."""

    type: Literal["debate_imported"] = "debate_imported"
    debate: VersionRange
    calls: VersionRange
    review: VersionRange
    seal: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    sealed_by: Label | None = None
    verified_with: Label | None = None
    lengths: SignedLengths | None = None
    number: EventNumber

    @property
    def reviews_alone(self) -> bool:
        """Whether nothing but people's reviews came: then the debate itself is none of another store."""
        return self.debate.until == self.debate.after and self.calls.until == self.calls.after

    @property
    def arrived(self) -> bool:
        """Whether any event came."""
        return any(one.until > one.after for one in (self.debate, self.calls, self.review))


def import_proof(seal: str | None, verified_with: str | None) -> Imported:
    """The proof of origin in these two fields of `debate_imported`."""
    if verified_with is not None:
        return "verified"
    return "unsealed" if seal is None else "sealed"


ScoreTargetName = Literal["langfuse", "mlflow", "otel"]


class ExportedScore(Value):
    """A score as a tracing tool has it.

    `content` is the SHA-256 in hexadecimal of what was written, `id` the tool's id of it (None: the tool gives none).
    """

    name: Label
    content: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    id: Label | None = None


class ScoresExportBegun(EventBody):
    """Scores of this debate are about to be written to a tool that would take them twice.

    Without a `scores_exported` of the same number the call ended before it could record what it wrote.
    """

    id_form: ClassVar[str] = "scores_begun/{0.number}"
    """One an export: `number` counts them."""

    type: Literal["scores_export_begun"] = "scores_export_begun"
    target: ScoreTargetName
    place: Label
    number: EventNumber


class ScoresExported(EventBody):
    """Scores of this debate were written onto the trace that it judged.

    `place` is the address of the tool, without credentials; `scores` are those that were written by this export alone.
    """

    id_form: ClassVar[str] = "scores/{0.number}"
    """One an export: `number` counts them."""

    type: Literal["scores_exported"] = "scores_exported"
    target: ScoreTargetName
    place: Label
    scores: tuple[ExportedScore, ...]
    number: EventNumber


class DebateQuarantined(EventBody):
    """Readings of many debates leave this one out until it is released."""

    id_form: ClassVar[str] = "quarantined/{0.number}"
    """One a quarantine: `number` counts them."""

    type: Literal["debate_quarantined"] = "debate_quarantined"
    by: Label
    reason: Label
    number: EventNumber


class DebateReleased(EventBody):
    """The quarantine `number` ended."""

    id_form: ClassVar[str] = "released/{0.number}"
    """One a quarantine."""

    type: Literal["debate_released"] = "debate_released"
    by: Label
    number: EventNumber
