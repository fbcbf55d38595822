"""Rows that are lists of messages or of turns: requests and responses of providers, dialogues of datasets, exchanges.

In an exchange, each turn has what the user said and what the agent answered, or a history before them. Which is which
is said by the names of two fields, or by the order of two texts.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from jury_cases.columns import HISTORIES, TURNS, automatic, snake_case
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import WRAPPERS, Format, wraps
from jury_cases.formats.own_rows import decoded_cell, read_own_row
from jury_cases.formats.plain_rows import question_columns, response_columns, words_of
from jury_cases.transcripts.authors import AUTHORS
from jury_cases.transcripts.blocks import BlockReader
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import KINDS, read_choices, read_end, read_message, read_sharegpt
from jury_cases.transcripts.gemini import (
    read_candidates,
    read_content,
    read_contents,
    read_prompt_feedback,
    read_stream,
)
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank, json_kind
from jury_cases.transcripts.reading import is_message, read_messages
from jury_cases.transcripts.responses import is_item, read_responses
from jury_events.transcript import Event

_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_BATCH = "custom_id"


def _found(row: dict[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _body(row: dict[str, Any]) -> dict[str, Any]:
    """A line of a batch's output or of a request log as one object with the fields of request and response."""
    request, response = row.get("request", row.get("params")), row.get("response")
    if isinstance(row.get("result"), dict) and isinstance(row["result"].get("message"), dict):
        response = row["result"]["message"]  # Anthropic's batches
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        response = response["body"]
    if isinstance(request, dict):
        request = next((request[name] for name in ("body", "params") if isinstance(request.get(name), dict)), request)
    body = row.get("body")
    parts = [part for part in (request, body, response) if isinstance(part, dict)]
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= part
    return {**merged, **{name: value for name, value in row.items() if name not in WRAPPERS}}


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise CaseFileError(f"a case must be an object, not {json_kind(row)}")
    return _body(row) if wraps(row) else row


def _case_id(row: Any) -> Any:
    """What `_draft` finds."""
    if not isinstance(row, dict):
        return None
    table = _object(row)
    return table[_BATCH] if isinstance(table.get(_BATCH), str) else automatic(table, "case_id")


def _draft(row: dict[str, Any], builder: TranscriptBuilder, *read: str) -> CaseDraft:
    draft = read_own_row({name: value for name, value in row.items() if name not in read})
    if isinstance(row.get(_BATCH), str):
        draft.case_id = row[_BATCH]
    draft.built = builder
    return draft


def _chat(row: Any) -> CaseDraft:
    """A request's `messages`, a completion's `choices`, or both."""
    table = _object(row)
    builder = TranscriptBuilder()
    if table.get("messages") is not None:
        read_messages(decoded_cell(table["messages"], "messages"), builder)
    if table.get("choices") is not None:
        read_choices(table["choices"], builder)
    return _draft(table, builder, "messages", "choices", "object", "model")


def _responses(row: Any) -> CaseDraft:
    """`instructions`, `input` and `output`, and the reason of an incomplete answer."""
    table = _object(row)
    builder = TranscriptBuilder()
    if table.get("instructions") is not None:
        with builder.messages.paused():
            read_responses(
                [{"type": "message", "role": "developer", "content": table["instructions"]}]
                if isinstance(table["instructions"], str)
                else table["instructions"],
                builder,
                "instructions",
            )
    if table.get("input") is not None:
        read_responses(table["input"], builder, "input")
    incomplete = table.get("incomplete_details")
    if table.get("output") is not None:
        read_responses(table["output"], builder, end_is_known=not is_blank(incomplete))
    if is_blank(table.get("output")) and isinstance(table.get("output_text"), str):
        answer = {"type": "message", "role": "assistant", "content": table["output_text"]}
        read_responses([answer], builder, "output_text")
    if isinstance(incomplete, dict):
        read_end(incomplete.get("reason"), builder, "incomplete_details.reason")
    read = ("instructions", "input", "output", "metadata", "object", "error")
    draft = _draft(table, builder, *read)
    draft.metadata = table["metadata"] if isinstance(table.get("metadata"), dict) else {}
    draft.error = as_text(table["error"]) if table.get("error") else None
    return draft


def _anthropic(row: Any) -> CaseDraft:
    """`system`, `messages`, and the response: a message object, or its `content` beside them."""
    table = _object(row)
    builder = TranscriptBuilder()
    if table.get("system") is not None:
        BlockReader(Speaker("system", "developer"), builder).read(table["system"], "system")
    if table.get("messages") is not None:
        read_messages(decoded_cell(table["messages"], "messages"), builder)
    if table.get("content") is not None:
        read_message({"role": table.get("role", "assistant"), "content": table["content"]}, builder, "content")
        _read_stop(table, builder)
    return _draft(table, builder, "system", "messages", "content", "role")


def _read_stop(table: dict[str, Any], builder: TranscriptBuilder) -> None:
    """Why the answer ended, what the server says of it, and what it removed from the conversation before."""
    details = table["stop_details"] if isinstance(table.get("stop_details"), dict) else {}
    said = [as_text(details[name]) for name in ("category", "explanation") if not is_blank(details.get(name))]
    reason = table.get("stop_reason")
    read_end(": ".join((reason, *said)) if isinstance(reason, str) else None, builder, "stop_reason")
    known = {"type", "category", "explanation", "recommended_model", "fallback_credit_token"}
    builder.unread(details, known | {"fallback_has_prefill_claim"}, "environment", "stop_details")
    managed = table.get("context_management")
    edits = managed.get("applied_edits") if isinstance(managed, dict) else None
    if not is_blank(edits):
        builder.add(Event, "context_management", origin="environment", name="context management", text=as_text(edits))


def _gemini(row: Any) -> CaseDraft:
    """`systemInstruction`, `contents` and `candidates`, and the reason of a blocked prompt."""
    table = _object(row)
    builder = TranscriptBuilder()
    config = _found(table, "config", "generationConfig", "generation_config")
    system = _found(table, "systemInstruction", "system_instruction")
    if system is None and isinstance(config, dict):
        system = _found(config, "systemInstruction", "system_instruction")
    if isinstance(system, str | list):
        system = {"parts": system}
    if isinstance(system, dict):
        read_content(system, builder, "systemInstruction", system=True)
    elif not is_blank(system):
        raise CaseFileError(f"systemInstruction: must be a content, not {json_kind(system)}")
    history = _found(table, "automaticFunctionCallingHistory", "automatic_function_calling_history")
    contents = table.get("contents")
    if isinstance(history, list) and history:
        # The SDK's automatic function calls, after a copy of the contents.
        listed = contents if isinstance(contents, list) else []
        contents = history if history[: len(listed)] == listed else [*listed, *history]
    if contents is not None:
        read_contents(contents, builder)
    if table.get("candidates") is not None:
        read_candidates(table["candidates"], builder)
    elif isinstance(table.get("response"), list):
        read_stream(table["response"], builder, "response")
    read_prompt_feedback(_found(table, "promptFeedback", "prompt_feedback"), builder)
    read = ("contents", "candidates", "systemInstruction", "system_instruction", "response", "result")
    return _draft(table, builder, *read)


def _sharegpt(row: Any) -> CaseDraft:
    """`conversations`, with a `system` text beside them."""
    table = _object(row)
    builder = TranscriptBuilder()
    if isinstance(table.get("system"), str) and table["system"].strip():
        builder.message("system", table["system"], "system")
    read_sharegpt(decoded_cell(_found(table, "conversations", "conversation"), "messages"), builder)
    return _draft(table, builder, "conversations", "conversation", "system")


def _bare(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    read_messages(row if isinstance(row, list) else _object(row).get("messages"), builder)
    return CaseDraft(built=builder) if isinstance(row, list) else _draft(row, builder, "messages")


def _of_object(test: Callable[[dict[str, Any]], bool]) -> Callable[[Any], bool]:
    return lambda row: isinstance(row, dict) and test(_body(row) if wraps(row) else row)


def _has_list(row: dict[str, Any], name: str) -> bool:
    return isinstance(row.get(name), list)


def _is_anthropic(row: dict[str, Any]) -> bool:
    if row.get("type") == "message" and row.get("role") == "assistant" and _has_list(row, "content"):
        return True
    messages = row.get("messages")
    return isinstance(messages, list) and any(
        isinstance(block, dict) and as_text(block.get("type")) in _ANTHROPIC_BLOCKS and "tool_type" not in block
        for message in messages
        if isinstance(message, dict) and isinstance(message.get("content"), list)
        for block in message["content"]
    )


def _is_responses(row: dict[str, Any]) -> bool:
    if row.get("object") == "response":
        return True
    listed = [one for name in ("input", "output") if _has_list(row, name) for one in row[name]]
    messages = any(isinstance(one, dict) and one.get("type") == "message" for one in listed)
    return _has_list(row, "output") and (messages or any(map(is_item, listed)))


def _has_objects(row: dict[str, Any], name: str, *keys: str) -> bool:
    listed = row.get(name)
    return (
        isinstance(listed, list)
        and bool(listed)
        and isinstance(listed[0], dict)
        and any(map(listed[0].__contains__, keys))
    )


def _is_sharegpt(row: dict[str, Any]) -> bool:
    for name in ("conversations", "conversation"):
        value = row.get(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            return True
        if _has_objects(row, name, "from") or (_has_objects(row, name, "role") and _has_objects(row, name, "value")):
            return True
    return False


_OF_ANSWERS = frozenset(
    {"id", "object", "created", "created_at", "model", "usage", "status", "type", "response", "request"}
)

OPENAI_CHAT = Format(
    "openai-chat",
    _of_object(lambda row: _has_objects(row, "choices", "message", "text", "delta")),
    _chat,
    case_id=_case_id,
    columns=_OF_ANSWERS | {"messages", "choices", "custom_id", "body"},
    recognised_by="`choices`",
    shows=(
        "`messages` and the first choice: text, `refusal`, `tool_calls`, `function_call`, "
        "`reasoning_content`, `<think>`, image, audio and file parts"
    ),
)
OPENAI_RESPONSES = Format(
    "openai-responses",
    _of_object(_is_responses),
    _responses,
    case_id=_case_id,
    columns=_OF_ANSWERS
    | {"instructions", "input", "output", "metadata", "error", "incomplete_details", "custom_id", "body"},
    recognised_by="`output` of items",
    shows=(
        "`instructions`, `input`, `output`: messages, refusals, reasoning, all calls and their outputs, "
        "programs, what MCP servers list"
    ),
)
ANTHROPIC = Format(
    "anthropic",
    _of_object(_is_anthropic),
    _anthropic,
    case_id=_case_id,
    columns=_OF_ANSWERS
    | {"system", "messages", "content", "role", "stop_reason", "stop_details", "stop_sequence"}
    | {"context_management", "container", "diagnostics", "input_transformations", "custom_id", "params", "result"},
    recognised_by="`tool_use`, `tool_result`, `thinking` blocks, a message object",
    shows=(
        "`system`, `messages`, the response; images, documents and search results; server and MCP tools; "
        "compactions, fallbacks, applied context edits"
    ),
)
GEMINI = Format(
    "gemini",
    _of_object(
        lambda row: (
            _has_objects(row, "contents", "parts", "role")
            or _has_objects(row, "candidates", "content", "finishReason", "finish_reason")
        )
    ),
    _gemini,
    case_id=_case_id,
    columns=_OF_ANSWERS
    | {"contents", "candidates", "systemInstruction", "system_instruction", "promptFeedback", "prompt_feedback"}
    | {"automaticFunctionCallingHistory", "automatic_function_calling_history", "usageMetadata", "usage_metadata"}
    | {"sdkHttpResponse", "sdk_http_response", "createTime", "create_time", "modelVersion", "model_version"}
    | {"responseId", "response_id", "modelStatus", "model_status", "parsed"},
    recognised_by="`contents`, `candidates`",
    shows=(
        "`systemInstruction`, turns, thoughts, function calls and responses, the provider's own tools, inline "
        "data, executed code; why a prompt was blocked"
    ),
)
SHAREGPT = Format(
    "sharegpt",
    _of_object(_is_sharegpt),
    _sharegpt,
    case_id=_case_id,
    columns=frozenset({"id", "system", "conversations", "conversation"}),
    recognised_by="`conversations` of `from` and `value`",
    shows="turns, `function_call`, `observation`",
)
MESSAGES = Format(
    "messages",
    lambda row: isinstance(row, list) and any(map(is_message, row)),
    _bare,
    recognised_by="a row that is a list",
    shows="the list; also a JSON file that is one list of messages",
)


_USER = frozenset({"user", "usr", "human", "customer", "client"})
_AGENT = frozenset({"agent", "ai", "assistant", "bot", "chatbot", "gpt", "model", "moss", "system"})
_ASKED = frozenset({"question", "query", "prompt", "q", "input", "instruction"})
_ANSWERED = frozenset({"answer", "response", "completion", "a", "output", "reply"})
_SAID = frozenset({"utterance", "message", "text", "turn", "transcript", "content"})
_NUMBERED = re.compile(r"[A-Za-z_ -]*([0-9]+)")


class Exchange(NamedTuple):
    """What one said and the other answered, and the other fields of the turn. None: nothing was said."""

    asked: str | None
    answered: str | None
    rest: Mapping[str, Any]


class Sides(NamedTuple):
    """The names of the fields of both."""

    asked: str
    answered: str


def sides_of(turns: Any) -> Sides | None:
    """In which fields objects have what both said; None: they are no exchanges."""
    objects = turns if isinstance(turns, list) and turns and all(isinstance(one, dict) for one in turns) else []
    names = dict.fromkeys(name for one in objects for name in one)
    asked = [name for name in names if _is_of(name, _USER, _ASKED)]
    answered = [name for name in names if name not in asked and _is_of(name, _AGENT, _ANSWERED)]
    if len(asked) != 1 or len(answered) != 1:
        return None
    sides = Sides(asked[0], answered[0])
    texts = [tuple(one.get(name) for name in sides) for one in objects]
    if not all(value is None or isinstance(value, str) for pair in texts for value in pair):
        return None
    whole = all(any(map(bool, pair)) for pair in texts) and any(all(map(bool, pair)) for pair in texts)
    return sides if whole else None


def _is_of(name: str, who: frozenset[str], what: frozenset[str]) -> bool:
    """Whether a field of this name is what one side said: `user`, `question`, `user_utterance`."""
    words = set(words_of(snake_case(name)))
    return bool(words & (who | what)) and words <= who | what | _SAID and len(words) <= 2  # noqa: PLR2004  (whose, what)


def exchanges_of(value: Any) -> list[Exchange] | None:
    """The exchanges in a value: a list of objects or of pairs, or objects by their numbers; None: it has none."""
    turns = _in_order(value) if isinstance(value, dict) else value
    if turns is not None and (sides := sides_of(turns)) is not None:
        return [
            Exchange(
                one.get(sides.asked),
                one.get(sides.answered),
                {name: inner for name, inner in one.items() if name not in sides},
            )
            for one in turns
        ]
    return list(_of_pairs(turns)) or None


def _in_order(value: Mapping[str, Any]) -> list[Any] | None:
    """Values by their numbered names (`turn_1`, `2`); None: not all of them are numbered."""
    found = [(_NUMBERED.fullmatch(name), inner) for name, inner in value.items()]
    numbered = [(int(match[1]), inner) for match, inner in found if match is not None]
    if not found or len(numbered) < len(found) or len({number for number, _ in numbered}) < len(found):
        return None
    return [inner for _, inner in sorted(numbered, key=lambda one: one[0])]


def _of_pairs(turns: Any) -> Iterator[Exchange]:
    """Pairs of texts; nothing where one of them is a word for a role."""
    pairs: list[Any] = turns if isinstance(turns, list) else []
    of_texts = all(
        isinstance(one, list)
        and len(one) == 2  # noqa: PLR2004  (a pair)
        and isinstance(one[0], str)
        and isinstance(one[1], str | None)
        for one in pairs
    )
    if of_texts and not any(as_text(one).lower() in KINDS for pair in pairs for one in pair):
        yield from (Exchange(asked, answered, {}) for asked, answered in pairs)


class _Found(NamedTuple):
    """The column with exchanges, or with messages before the question; and what the row itself asks and answers."""

    column: str
    exchanges: list[Exchange]
    messages: list[Any]
    own: Exchange | None = None
    read: tuple[str, ...] = ()


def _of_columns(row: Mapping[str, Any]) -> _Found | None:
    for name, value in row.items():
        plain = snake_case(name)
        questions, answers = question_columns(row), response_columns(row)
        is_whole = plain in TURNS or (plain in HISTORIES and not (questions or answers))
        if is_whole and (said := exchanges_of(value)) is not None:
            return _Found(name, said, [])
        if plain not in HISTORIES or is_blank(value := decoded_json(value)):
            continue
        said, messages = exchanges_of(value), value if isinstance(value, list) and is_message(value[0]) else []
        if (said or messages) and len(questions) == 1 and len(answers) == 1:
            asked = "\n\n".join(as_text(row[one]) for one in questions[0] if not is_blank(row[one]))
            answered = None if row[answers[0]] is None else as_text(row[answers[0]])
            return _Found(name, said or [], messages, Exchange(asked, answered, {}), (*questions[0], answers[0]))
    return None


def _read(row: Any) -> CaseDraft:
    found = _of_columns(row)
    assert found is not None, "the row was recognised"
    builder = TranscriptBuilder()
    own = [] if found.own is None else [found.own]
    if found.messages:
        read_messages(found.messages, builder)
    for index, one in builder.messages.of_list(enumerate([*found.exchanges, *own]), len(found.exchanges) + len(own)):
        place = f"{found.column}.{index}"
        if one.asked:
            builder.message("user", one.asked, place)
        builder.unread(dict(one.rest), frozenset({"id", "turn_id", "turn", "index"}), AUTHORS["assistant"], place)
        if one.answered:
            builder.message("assistant", one.answered, place)
    draft = read_own_row({name: value for name, value in row.items() if name not in {found.column, *found.read}})
    draft.built = builder
    if found.own is not None:
        draft.taken = {"question": found.read[:-1], "response": found.read[-1:]}
    return draft


def _is_recognised(row: Any) -> bool:
    return isinstance(row, dict) and _of_columns(row) is not None


EXCHANGES = Format(
    "exchanges",
    _is_recognised,
    _read,
    columns=TURNS | HISTORIES,
    recognised_by=(
        "`turns`, `conversation`, `dialogue` or `chat` of `user` and `assistant`, or of pairs; `history` beside a "
        "question and its answer"
    ),
    shows="both sides of each turn; the exchanges before the question",
)
