"""A case: one or several scenarios, each a question and the agent's execution, and artifact records.

A case is free text throughout: it is stored as one part, never in an event body. Where its items come from is a part of
its own, outside of what is compared: it is the same case whichever file it was read from. What labels say beside a
verdict (the first message where it went wrong, whether the outcome is correct all the same, the label in the words of a
scale) is in its metadata, which no juror is shown.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from operator import attrgetter
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import Field, StringConstraints, ValidationError, model_validator

from jury_events.canonical import canonical_json, encoded_quickly
from jury_events.errors import EventError
from jury_events.transcript import Attachment, ItemSource, NotShown, Sha256, Text, Transcript
from jury_events.value import CaseId, Label, ScenarioId, Value
from jury_events.verdict import FAIL, PASS, Verdict

CASE_SCHEMA = 1
"""Of a stored case."""

MAX_IMAGES = 20
MAX_IMAGE_BYTES = 3_750_000
"""Of one picture: Anthropic accepts 5 MB of base64, the least of the three providers."""

MAX_IMAGES_BYTES = 20_000_000
"""Of all pictures of a case: Anthropic and Google accept requests of about 30 MB in base64."""

IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp")
"""The types that the models of all three providers read; Gemini does not read GIF."""

MetadataValue = Label | bool | Annotated[int, Field(ge=-(2**53), le=2**53)] | float


class QuestionSpec(Value):
    """The task of the agent.

    `policy` describes the agent's role and limits, `expected_behavior` a good answer.
    """

    prompt: Text
    policy: Text | None = None
    expected_behavior: Text | None = None


class ExecutionResult(Value):
    """The agent's answer, its transcript, or both."""

    response: Text = ""
    transcript: Transcript = Transcript()
    error: Text | None = None


class Scenario(Value):
    """One question and its execution."""

    scenario_id: ScenarioId
    question: QuestionSpec
    execution: ExecutionResult


ArtifactKind = Literal["security_gate", "agent_card"]


_SAME_VERDICTS = {
    "passed": "pass",
    PASS.value: "pass",
    "failed": "fail",
    FAIL.value: "fail",
}
"""Synonyms of pass and fail; every other word stays as it is."""


class ArtifactRecord(Value):
    """One line of a Security Gate or Agent Card Accuracy report.

    `verdict` decides whether it passed; `content` is the record as canonical JSON text.
    """

    verdict: Annotated[str, StringConstraints(max_length=100)]
    content: Text

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """Read a decoded JSONL record: its `verdict`, else its `evaluation.verdict` (as Agent Card reports have it).

        The word is lower-cased; `passed` and the verdict `PASS` become `pass`, `failed` and `FAIL` become `fail`. Null
        and blank count as missing.
        """
        verdict = _verdict(record)
        return cls(verdict=verdict, content=canonical_json(record).decode("utf-8"))


def _verdict(record: dict[str, Any]) -> str:
    evaluation = record.get("evaluation")
    nested = evaluation.get("verdict") if isinstance(evaluation, dict) else None
    outer = _word(record.get("verdict"), "verdict")
    inner = _word(nested, "evaluation.verdict")
    if outer and inner and outer != inner:
        raise EventError(
            f"verdict is {_shown(outer)}, but evaluation.verdict is {_shown(inner)}; the record must have one verdict"
        )
    if not (outer or inner):
        members = [_shown(name)[1:-1] for name in list(record)[:_SHOWN_MEMBERS]]
        more = f" and {len(record) - _SHOWN_MEMBERS} more" if len(record) > _SHOWN_MEMBERS else ""
        raise EventError(
            'no verdict; write "verdict" or "evaluation": {"verdict": …}; '
            f"the record has {', '.join(members) or 'nothing'}{more}"
        )
    return outer or inner


_SHOWN_MEMBERS, _SHOWN_LENGTH = 10, 60


def _shown(text: object) -> str:
    return repr(str(text)[:_SHOWN_LENGTH])


def _word(written: Any, place: str) -> str:
    if written is None:
        return ""
    if not isinstance(written, str):
        raise EventError(f"{place}: must be text, as pass or fail, not {type(written).__name__}")
    word = written.strip().lower()
    return _SAME_VERDICTS.get(word, word)


class Image(Value):
    """A picture of a transcript, for jurors whose models read pictures; its attachment has the same digest.

    `content` is base64 in JSON.
    """

    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    digest: Sha256
    content: Annotated[bytes, Field(min_length=1, max_length=MAX_IMAGE_BYTES)]


class Omission(Value):
    """The number of items of one kind (`what`) that no juror is shown; `size` in bytes, None where unknown."""

    what: Label
    count: Annotated[int, Field(ge=1)]
    size: Annotated[int, Field(ge=0)] | None = None


class Case(Value):
    """One to 200 scenarios under an id that is unique in its dataset.

    `label` is the human verdict, `metadata`, `tags` and `cluster` group cases, `agent_cost` is the cost of the judged
    agent in US dollars: they are for people and statistics, and never shown to a juror. A `…_uri` is where the records
    of its kind are read from when the debate opens. `artifact_summary` replaces the generated summary of the records.
    `position` is where the row is in its file (`cases.jsonl:12`); None: it is not known.
    """

    case_id: CaseId
    scenarios: Annotated[tuple[Scenario, ...], Field(min_length=1, max_length=200)]
    security_gate_records: tuple[ArtifactRecord, ...] = ()
    agent_card_records: tuple[ArtifactRecord, ...] = ()
    security_gate_uri: Text | None = None
    agent_card_uri: Text | None = None
    artifact_summary: Text | None = None
    images: Annotated[tuple[Image, ...], Field(max_length=MAX_IMAGES)] = ()
    label: Verdict | None = None
    metadata: dict[Label, MetadataValue] = Field(default_factory=dict)
    tags: Annotated[tuple[Label, ...], Field(max_length=1000)] = ()
    cluster: Label | None = None
    agent_cost: Annotated[float, Field(ge=0)] | None = None
    position: Text | None = None

    @model_validator(mode="after")
    def _scenario_ids_are_unique(self) -> Self:
        ids = self.scenario_ids
        if len(set(ids)) != len(ids):
            raise ValueError(f"scenarios: ids must be unique, got {', '.join(ids)}")
        return self

    def to_part(self) -> bytes:
        """The judged content as stored: canonical JSON of the fields that differ from their defaults.

        A field that a later version adds therefore leaves the bytes of older cases unchanged. Pictures are separate
        parts, and so is where the items come from (`provenance`); fields that no juror sees are in the opening event.
        """
        body = self.model_dump(mode="json", exclude=_NOT_KEPT, exclude_defaults=True)
        content = {**body, "schema": CASE_SCHEMA}
        return encoded_quickly(content) or canonical_json(content)

    @classmethod
    def from_part(cls, content: bytes) -> Self:
        """The inverse of `to_part`."""
        try:
            body = _loaded(content)
            schema = body.pop("schema")
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
            raise EventError("the stored text is not a case") from error
        if schema != CASE_SCHEMA:
            raise EventError(
                f"the stored case has schema {schema!r}, this version knows {CASE_SCHEMA}: upgrade jury-judge"
            )
        try:
            return cls.model_validate_json(_dumped(body))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise EventError(f"the stored text is not a case: {place}: {first['msg']}") from error
        except RecursionError as error:  # orjson reads deeper bodies than the standard library writes
            raise EventError("the stored text is not a case") from error

    def omissions(self, *, images_seen: bool) -> tuple[Omission, ...]:
        """The items that no juror is shown, counted by kind, in alphabetical order.

        Args:
            images_seen: whether any juror is sent pictures; an attachment without bytes in the case is omitted anyway.
        """
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        unknown: set[str] = set()
        shown = {(image.media_type, image.digest) for image in self.images} if images_seen else set()
        for item in (item for scenario in self.scenarios for item in scenario.execution.transcript.items):
            if isinstance(item, NotShown):
                what, size = item.what, item.size
            elif isinstance(item, Attachment) and item.text is None and (item.media_type, item.digest) not in shown:
                what, size = item.media_type, item.size
            else:
                continue
            counts[what] += 1
            sizes[what] += size or 0
            if size is None:
                unknown.add(what)
        return tuple(
            Omission(what=what, count=count, size=None if what in unknown else sizes[what])
            for what, count in sorted(counts.items())
        )

    @property
    def scenario_ids(self) -> tuple[str, ...]:
        """In case order."""
        return tuple(map(_scenario_id, self.scenarios))


_scenario_id = attrgetter("scenario_id")


def _loaded(content: bytes) -> Any:
    """The JSON of a part; what orjson refuses, such as a lone surrogate, the standard library may read."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def _dumped(body: Any) -> bytes | str:
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body)


_NOT_KEPT: Any = {
    **dict.fromkeys(("images", "label", "metadata", "tags", "cluster", "agent_cost", "position"), True),
    "scenarios": {"__all__": {"execution": {"transcript": {"sources"}}}},
}


DECISIVE_MESSAGE = "decisive_message"
"""Metadata: the number of the message in the source, from 0. It is of the only scenario."""

DECISIVE_AGENT = "decisive_agent"
"""Metadata: the name of the agent at fault."""

OUTCOME_CORRECT = "outcome_correct"
"""Metadata: whether the outcome is correct, also where something went wrong on the way (a silent fault)."""

SCALE_LABEL = "scale_label"
"""Metadata: the label in the words of the panel's scale, where the case is judged in one."""

LABEL_METADATA = (DECISIVE_MESSAGE, DECISIVE_AGENT, OUTCOME_CORRECT, SCALE_LABEL)
"""The metadata that are label data."""


def of_label(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that are label data."""
    return {name: metadata[name] for name in LABEL_METADATA if name in metadata}


_LABEL_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


def decisive_message(metadata: Mapping[str, Any]) -> int | None:
    """The number of the decisive message; None where the metadata name none."""
    found = metadata.get(DECISIVE_MESSAGE)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def outcome_correct(metadata: Mapping[str, Any]) -> bool | None:
    """Whether the outcome is correct; None where the metadata do not say so by true or false."""
    found = metadata.get(OUTCOME_CORRECT)
    return found if isinstance(found, bool) else None


def scale_label(metadata: Mapping[str, Any]) -> str | None:
    """The label in the words of a scale; None where the metadata name none."""
    found = metadata.get(SCALE_LABEL)
    return found if isinstance(found, str) and _LABEL_ID.fullmatch(found) else None


_NOT_OF_THE_CASE = "the stored text does not say where the items of the case come from"


class _Stored(Value):
    """The stored form: for each scenario the number of the message and the place of each item."""

    position: Text | None = None
    items: tuple[tuple[tuple[Annotated[int, Field(ge=0, le=2**31)], Text], ...], ...]


def provenance(case: Case) -> bytes | None:
    """What is known of where a case comes from, as canonical JSON; None where nothing is."""
    sources = [scenario.execution.transcript.sources for scenario in case.scenarios]
    if case.position is None and not any(sources):
        return None
    items = [[[one.message, one.place] for one in listed] for listed in sources]
    return canonical_json({"items": items, **({} if case.position is None else {"position": case.position})})


def with_provenance(case: Case, content: bytes) -> Case:
    """The case with what `provenance` wrote."""
    try:
        stored = _Stored.model_validate_json(content)
        pairs = zip(case.scenarios, stored.items, strict=True)
        scenarios = tuple(_sourced(scenario, tuple(_sources(listed))) for scenario, listed in pairs)
    except (ValidationError, ValueError) as error:
        raise EventError(_NOT_OF_THE_CASE) from error
    return case.changed(scenarios=scenarios, position=stored.position)


def item_messages(case: Case, content: bytes) -> tuple[tuple[int, ...], ...]:
    """The numbers of the messages that the items come from, by scenario: what `with_provenance` puts into the case.

    A scenario whose sources are not known has none.
    """
    try:
        stored = _Stored.model_validate_json(content)
    except ValidationError as error:
        raise EventError(_NOT_OF_THE_CASE) from error
    numbers = tuple(tuple(message for message, _ in listed) for listed in stored.items)
    items = [len(scenario.execution.transcript) for scenario in case.scenarios]
    if len(items) != len(numbers) or any(len(one) not in {0, of} for one, of in zip(numbers, items, strict=True)):
        raise EventError(_NOT_OF_THE_CASE)
    return numbers


def without_provenance(case: Case) -> Case:
    """The case as it is judged, compared and stored."""
    return case.changed(scenarios=tuple(_sourced(scenario, ()) for scenario in case.scenarios), position=None)


def _sources(listed: tuple[tuple[int, str], ...]) -> tuple[ItemSource, ...]:
    return tuple(ItemSource(message=message, place=place) for message, place in listed)


def _sourced(scenario: Scenario, sources: tuple[ItemSource, ...]) -> Scenario:
    execution = scenario.execution
    return scenario.changed(execution=execution.changed(transcript=execution.transcript.changed(sources=sources)))
