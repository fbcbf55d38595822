"""Converts a decoded row to a case: the format's draft, the user's `--field` settings, validation."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from jury_cases.columns import METADATA, READ_UNASKED, listing, named_columns, snake_case, value_at
from jury_cases.draft import CaseDraft, as_label, cost_of, decisive_of, is_short, metadata_of, tags_of
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import OWN_ROWS, built_of, decoded_cell, metadata_cell, read_own_row
from jury_cases.formats.plain_rows import EXPECTED_WORDS, missing, refuse_unanswered, take_plain, words_of
from jury_cases.formats.registry import format_of
from jury_cases.omissions import refuse_unshown
from jury_cases.options import EVERY_CASE, CaseOptions
from jury_cases.transcripts.builder import THOUGHT, TranscriptBuilder, images_within_limits
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import json_kind
from jury_cases.transcripts.reading import first_prompt, is_message, last_answer, split_system
from jury_events.case import (
    SCALE_LABEL,
    ArtifactKind,
    ArtifactRecord,
    Case,
    ExecutionResult,
    Image,
    QuestionSpec,
    Scenario,
)
from jury_events.errors import EventError
from jury_events.text import condensed, visible_line
from jury_events.transcript import Message, Transcript

_OF_LABELS = EXPECTED_WORDS | {
    *("answer", "annotation", "annotations", "annotator", "human", "judgement", "judgment", "labels", "outcome"),
    *("attack", "correctness", "failed", "grade", "passed", "rating", "reward", "risk", "score", "scores", "solution"),
    *("succeeded", "success", "verdict"),
}
"""Words of columns that may say what is right."""

_KEPT = 100
"""Columns at most that are kept as metadata unasked."""

_OF_ONE_SCENARIO = ("question", "policy", "expected_behavior", "response", "messages", "execution", "scenario_id")


def read_case(row: Any, options: CaseOptions = EVERY_CASE, *, default_id: str, form: Format | None = None) -> Case:
    """The case of a row, without records referred to by URI.

    Args:
        options: how to read it.
        form: the row's format, if known.
    """
    return case_of_draft(draft_of(row, options, form), row, options, default_id)


def draft_of(row: Any, options: CaseOptions, form: Format | None = None) -> CaseDraft:
    """The row's values, with the user's `--field` and `--role` settings applied; raises CaseFileError."""
    fields = options.fields
    try:
        found = form or format_of(row, options.form)
        # What is in a column that the user reads no metadata from need not be an object.
        left_out = "metadata" in fields and type(row) is dict
        draft = found.read({name: value for name, value in row.items() if name != "metadata"} if left_out else row)
    except RecursionError as error:
        raise CaseFileError("nested too deeply; a case needs a few levels only") from error
    if fields:
        _apply_fields(draft, row, fields)
    if found is OWN_ROWS and isinstance(row, dict):
        take_plain(draft, row, fields)
        if "metadata" not in fields and (others := row.keys() - READ_UNASKED):
            _take_metadata(draft, row, fields, others)
    if draft.built is not None:
        refuse_unanswered(draft, row, fields)
        if options.roles:
            draft.roles.add(draft.built.authors, draft.built.reassign(options.role_rules))
    return draft


def _take_metadata(draft: CaseDraft, row: dict[str, Any], fields: Mapping[str, str], others: Collection[str]) -> None:
    """Keep short values of `others`, columns that are no part of a case, as metadata.

    But for those that may be a label: who reviews blind is shown metadata.
    """
    read = READ_UNASKED.union(named_columns(row, fields), *draft.taken.values())
    kept = []
    for name, value in row.items():
        if name not in others or name in draft.metadata or not is_short(value):
            continue
        if {name, snake_case(name)}.isdisjoint(read) and _OF_LABELS.isdisjoint(words_of(name)):
            kept.append(name)
    draft.kept = tuple(kept[:_KEPT])
    draft.metadata = {**draft.metadata, **{name: row[name] for name in draft.kept}}


def _apply_fields(draft: CaseDraft, row: Any, fields: Mapping[str, str]) -> None:
    for target, source in fields.items():
        value = None if not source else value_at(row, source, target)
        if target == "messages":
            draft.built = None if value is None else built_of(value)
        elif target == "execution":
            inner = read_own_row({"execution": value})
            draft.built, draft.response, draft.error = inner.built, inner.response, inner.error
            draft.answered = True
        elif target == "metadata":
            draft.metadata = metadata_cell(value)
        elif target.startswith(METADATA):
            draft.metadata = {**draft.metadata, target.removeprefix(METADATA): value}
        elif target == "cost":
            draft.agent_cost = value
        else:
            setattr(draft, target, decoded_cell(value, target))
            draft.answered = draft.answered or target == "response"
        if target == "case_id" and source and value is None:
            raise CaseFileError(f"case_id: {source!r} is null; every case needs an id")


def case_of_draft(
    draft: CaseDraft, row: Any, options: CaseOptions, default_id: str, *, refuse_labels: bool = True
) -> Case:
    """The case of a draft; raises as `read_case`. `refuse_labels`: else an unknown word is no label."""
    scenarios: tuple[Scenario, ...]
    if draft.scenarios is None:
        scenarios, drafts = (_scenario(draft, row, options, "scenario-1"),), [draft]
    else:
        scenarios, drafts = _scenarios(draft, draft.scenarios, options)
    # The pictures of all scenarios within the limits of a request; the others stay attachments, not shown.
    images: dict[str, Image] = {}
    for one in drafts:
        if one.built is not None:
            images |= {image.digest: image for image in one.built.images}
    label = None if draft.label is None else options.words.position(draft.label, refuse=refuse_labels)
    metadata = metadata_of(draft.metadata) if draft.metadata else {}
    if not (draft.decisive_message is None and draft.decisive_agent is None):
        metadata |= decisive_of(draft.decisive_message, draft.decisive_agent)
    if label is not None and label.label is not None:
        metadata[SCALE_LABEL] = label.label
    try:
        return Case(
            case_id=draft.case_id if isinstance(draft.case_id, str) else _case_id(draft.case_id, default_id),
            scenarios=scenarios,
            security_gate_records=_records(draft, "security_gate"),
            agent_card_records=_records(draft, "agent_card"),
            security_gate_uri=draft.security_gate_uri,
            agent_card_uri=draft.agent_card_uri,
            images=images_within_limits(images.values()) if images else (),
            label=None if label is None else label.verdict,
            metadata=metadata,
            tags=() if draft.tags is None else tags_of(draft.tags),
            cluster=None if draft.cluster is None else _cluster(draft.cluster),
            agent_cost=None if draft.agent_cost is None else cost_of(draft.agent_cost),
        )
    except ValidationError as error:
        raise CaseFileError(condensed(error)) from error


def quick_case_id(row: Any, options: CaseOptions, form: Format, default_id: str) -> str | None:
    """The id of a row's case without reading the rest of the row; None: the row must be read."""
    try:
        if "case_id" in options.fields:
            source = options.fields["case_id"]
            return _case_id(value_at(row, source, "case_id"), "") or None if source else default_id
        if form.case_id is None:
            return None
        found = form.case_id(row)
        return default_id if found is None else _case_id(found, "")
    except CaseFileError:
        return None  # reading the row raises it, with its place


def _case_id(found: Any, default_id: str) -> str:
    if found is None:
        return default_id
    if isinstance(found, float) and found.is_integer():
        found = int(found)  # as tables of numbers keep whole ones
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        raise CaseFileError(f"case_id: must be text or a whole number, not {json_kind(found)}")
    return found


def _cluster(found: Any) -> str | None:
    if isinstance(found, dict | list):
        raise CaseFileError(f"cluster: must be text or a number, not {json_kind(found)}")
    return as_label(str(found)) or None


def _scenarios(draft: CaseDraft, listed: Any, options: CaseOptions) -> tuple[tuple[Scenario, ...], list[CaseDraft]]:
    if not isinstance(listed, list) or not listed or not all(isinstance(item, dict) for item in listed):
        raise CaseFileError("scenarios: must be a list of objects with question and response, one at least")
    for part in _OF_ONE_SCENARIO:
        if part in options.fields or _has(draft, part):
            raise CaseFileError(f"{part}: the row has scenarios; write {part} inside each of them instead")
    built, drafts = [], []
    for index, item in enumerate(listed):
        try:
            drafts.append(one := read_own_row(item))
            if options.roles and one.built is not None:
                draft.roles.add(one.built.authors, one.built.reassign(options.role_rules))
            built.append(_scenario(one, item, options, f"scenario-{index + 1}"))
        except CaseFileError as error:
            raise CaseFileError(f"scenarios.{index}.{error}") from error
    return tuple(built), drafts


def _has(draft: CaseDraft, part: str) -> bool:
    if part in {"messages", "execution"}:
        return draft.built is not None or (part == "execution" and draft.error is not None)
    return getattr(draft, part) is not None


def _scenario(draft: CaseDraft, row: Any, options: CaseOptions, default_id: str) -> Scenario:
    if draft.built is None and draft.error is None and not draft.answered:
        raise CaseFileError(_missing(row, options, question=draft.question is None, response=True))
    question, answer = draft.question, draft.response
    if isinstance(question, list) and (asked := _blocks(draft, "user", question, "question")) is not None:
        question = {"prompt": asked}
    if isinstance(answer, str) and THOUGHT.match(answer):
        answer = [answer]
    if not (answer is None or isinstance(answer, str)):
        answer = _blocks(draft, "assistant", answer, "response")
    transcript = Transcript()
    if draft.built is not None:
        transcript = draft.built.transcript()
        answer = last_answer(transcript) if answer is None else answer
        question = first_prompt(transcript) if question is None else question
    if question is None and (question := options.question) is None:
        raise CaseFileError(_missing(row, options, question=True, response=False))
    asking, transcript = _question(draft, question, options, transcript)
    try:
        execution = ExecutionResult(response=answer or "", transcript=transcript, error=draft.error)
    except ValidationError as problem:
        raise CaseFileError(f"execution.{condensed(problem)}") from problem
    if not (asking.prompt.strip() or execution.response.strip() or len(transcript) or draft.error):
        raise CaseFileError("question: it is empty, and so is the response; there is nothing to judge")
    refuse_unshown(asking.prompt, execution.response, transcript)
    scenario_id = default_id if draft.scenario_id is None else draft.scenario_id
    try:
        return Scenario(scenario_id=scenario_id, question=asking, execution=execution)
    except ValidationError as error:
        raise CaseFileError(condensed(error)) from error


def _blocks(draft: CaseDraft, role: str, value: Any, part: str) -> str | None:
    """A text of the row; if it is a list of blocks, its items are added to the transcript, a user's first."""
    (one,) = value if isinstance(value, list) and len(value) == 1 else (value,)
    if isinstance(one, dict) and is_message(one):
        value = one.get("content", one.get("value"))
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise CaseFileError(f"{part}: must be text, not {json_kind(value)}")
    items = TranscriptBuilder()
    with items.messages.paused():
        read_message({"role": role, "content": value}, items, part)
    shown = [] if draft.built is None else [one.item for one in draft.built.built]
    if draft.built is None:
        draft.built = items
    elif any(not isinstance(item, Message) and item not in shown for item in items.transcript().items):
        before, after = (items, draft.built) if role == "user" else (draft.built, items)
        before.extend(after)
        draft.built = before
    texts = (item.text for item in items.transcript().items if item.kind in {"user", "assistant", "refusal"})
    return "\n".join(texts)


def _question(
    draft: CaseDraft, written: Any, options: CaseOptions, transcript: Transcript
) -> tuple[QuestionSpec, Transcript]:
    """The question, and the transcript, without its system text if that became the policy."""
    if isinstance(written, str):
        written = {"prompt": written}
    if not isinstance(written, dict):
        raise CaseFileError(f"question: must be text or an object with a prompt, not {json_kind(written)}")
    spec = dict(written)
    if (reference := spec.pop("reference", None)) is not None and spec.get("expected_behavior") is None:
        spec["expected_behavior"] = reference
    for part in ("policy", "expected_behavior"):
        value = getattr(draft, part)
        if value is not None and (part in options.fields or spec.get(part) is None):
            spec[part] = value if isinstance(value, str) else _text(value, part)
    if draft.built is not None:
        system, rest = split_system(transcript)
        if spec.get("policy") is None or (system or "").strip() == str(spec["policy"]).strip():
            spec["policy"], transcript = spec.get("policy") or system, rest
    if spec.get("policy") is None:
        spec["policy"] = options.policy
    try:
        return QuestionSpec.model_validate(spec), transcript
    except ValidationError as error:
        raise CaseFileError(f"question.{condensed(error)}") from error


def _missing(row: Any, options: CaseOptions, *, question: bool, response: bool) -> str:
    if options.has_options:
        return missing(row, question=question, response=response)
    lacks = [name for name, lacking in (("response", response), ("question", question)) if lacking]
    return f"{' and '.join(lacks)}: missing; give {' and '.join(lacks)}, or messages with both; it has {listing(row)}"


def _text(value: Any, part: str) -> str:
    if isinstance(value, list):
        items = TranscriptBuilder()
        read_message({"role": "system", "content": value}, items, part)
        found = items.transcript().items
        if all(item.kind == "system" for item in found):
            return "\n".join(item.text for item in found if item.kind == "system")
        raise CaseFileError(f"{part}: must be text, and contains {visible_line(found[-1].kind)}")
    raise CaseFileError(f"{part}: must be text, not {json_kind(value)}")


def _records(draft: CaseDraft, kind: ArtifactKind) -> tuple[ArtifactRecord, ...]:
    field = f"{kind}_records"
    listed, uri = getattr(draft, field), getattr(draft, f"{kind}_uri")
    if uri is not None:
        if listed is not None:
            raise CaseFileError(f"{kind}_uri: the row has {field} too; keep one of them")
        if not isinstance(uri, str):
            raise CaseFileError(f"{kind}_uri: must be text, not {json_kind(uri)}")
        return ()
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise CaseFileError(f"{field}: must be a list of objects, not {json_kind(listed)}")
    return tuple(artifact_record(item, f"{field}.{index}") for index, item in enumerate(listed))


def artifact_record(item: Any, field: str) -> ArtifactRecord:
    """A decoded record, with its verdict at the top level or in `evaluation.verdict`."""
    if not isinstance(item, dict):
        raise CaseFileError(f"{field}: must be an object, not {json_kind(item)}")
    try:
        return ArtifactRecord.from_json(item)
    except ValidationError as error:
        raise CaseFileError(f"{field}.{condensed(error)}") from error
    except EventError as error:
        raise CaseFileError(f"{field}: {error}") from error
