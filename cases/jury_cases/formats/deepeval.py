"""Test cases of DeepEval: single answers and conversations, saved datasets, and the results of a local test run.

The fields have the names of Python (`actual_output`) or of JSON (`actualOutput`). `retrieval_context` is what the agent
retrieved; `context`, `expected_output` and `expected_tools` are what a good answer would rest on or do: the expected
behaviour. Source: `deepeval.test_case`, `EvaluationDataset.save_as`, `.deepeval/.latest_test_run.json`.
"""

from collections.abc import Mapping
from typing import Any

from jury_cases.columns import snake_case
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, is_blank, text_or_none
from jury_events.transcript import Event, Origin, Reasoning, ToolCall

_KNOWN = frozenset({"name", "type", "reasoning", "input_parameters", "args", "uri", "output", "result"})
_TOOL = "unnamed"
_RESOURCE = "resources/read"
"""What MCP calls the reading of a resource."""

_IMAGE = frozenset({"data_base64", "mime_type", "url", "local", "filename"})


def read_calls(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read a list of calls; each result stands with its call."""
    for index, written in enumerate(as_objects(None if value == "" else value, place, "calls")):
        call = {snake_case(key): one for key, one in written.items()}
        at = f"{place}.{index}"
        if not is_blank(call.get("reasoning")):
            builder.add(Reasoning, f"{at}.reasoning", text=as_text(call["reasoning"]))
        arguments = next((call[key] for key in ("input_parameters", "args") if call.get(key) is not None), None)
        if "uri" in call:
            arguments = {"uri": call["uri"]}
        tool = text_or_none(call.get("name")) or (_RESOURCE if "uri" in call else _TOOL)
        # The record has no ids; the call and its output are one object.
        call_id = f"{at}#{len(builder)}"
        builder.add(ToolCall, at, call_id=call_id, name=tool, arguments=as_text(arguments))
        if not is_blank(call.get("output")):
            _read_result(call["output"], tool, call_id, builder, f"{at}.output")
        if not is_blank(call.get("result")):
            _read_result(call["result"], tool, call_id, builder, f"{at}.result")
        if not is_blank(call.get("description")):
            builder.not_shown("description of a tool", "developer", f"{at}.description", call["description"])
        builder.unread(call, _KNOWN | {"description"}, "model", at)


def _read_result(output: Any, tool: str, call_id: str, builder: TranscriptBuilder, place: str) -> None:
    failed = False
    if isinstance(output, dict) and isinstance(output.get("content"), list):
        failed = output.get("isError") is True
        unread = {"content", "isError", "_meta", "meta", "structuredContent"}
        builder.unread(output, unread, "tool", place)
        output = [_block(one) for one in output["content"]] or output.get("structuredContent")
    answered = {"role": "tool", "name": tool, "tool_call_id": call_id, "is_error": failed, "content": output}
    read_message(answered, builder, place)


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    rest = {name: value for name, value in block.items() if name not in {"annotations", "_meta", "meta"}}
    if block.get("type") != "image":
        return rest
    url = f"data:{as_text(rest.pop('mimeType', None))};base64,{as_text(rest.pop('data', None))}"
    return {**rest, "type": "image_url", "image_url": {"url": url}}


def expected_calls(value: Any) -> str:
    """Expected calls in words, one a line; "" if there are none."""
    listed = as_objects(None if value == "" else value, "expected_tools", "tools")
    lines = []
    for call in listed:
        arguments = call.get("inputParameters", call.get("input_parameters"))
        output = "" if is_blank(call.get("output")) else f", which returns {as_text(call['output'])}"
        given = "" if is_blank(arguments) else f" {as_text(arguments)}"
        lines.append(f"Calls {as_text(call.get('name')) or _TOOL}{given}{output}")
    return "\n".join(lines)


def read_images(value: Any, text: str, origin: Origin, builder: TranscriptBuilder) -> None:
    """The pictures of a multimodal case that a text names by their ids."""
    if not isinstance(value, dict):
        return
    for name, image in value.items():
        if f"[DEEPEVAL:IMAGE:{name}]" not in text:
            continue
        place = f"imagesMapping.{name}"
        table = {snake_case(key): one for key, one in image.items()} if isinstance(image, dict) else {"url": image}
        media = as_text(table.get("mime_type")) or "image/png"
        if not is_blank(table.get("data_base64")):
            label = text_or_none(table.get("filename"))
            builder.base64_file(table["data_base64"], media, origin, place, name=label)
        else:
            builder.url(table.get("url"), "image", origin, place)
        builder.unread(table, _IMAGE, origin, place)


_OWN_COLUMNS = frozenset({"question", "response", "messages", "execution"})
_OF_CONVERSATIONS = frozenset({"scenario", "expected_outcome", "chatbot_role", "user_description"})
_RESULTS = ("testCases", "conversationalTestCases")
_FACTS = ("name", "comments", "source_file", "scenario", "user_description", "success")
_TURN = frozenset(
    {"role", "content", "user_id", "order", "latency_ms", "interrupted", "retrieval_context", "comments"}
    | {"tools_called", "mcp_tools_called", "mcp_resources_called", "mcp_prompts_called"}
)
_COLUMNS = frozenset(
    {"input", "actual_output", "expected_output", "context", "retrieval_context", "tools_called", "expected_tools"}
    | {"mcp_tools_called", "mcp_resources_called", "mcp_prompts_called", "turns", "additional_metadata", "metrics_data"}
    | {"custom_column_key_values", "images_mapping", "token_cost", "metadata", *_OF_CONVERSATIONS, *_FACTS}
)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {snake_case(name): value for name, value in row.items()}


def _is_conversation(row: Mapping[str, Any]) -> bool:
    turns = decoded_json(row.get("turns"))
    return isinstance(turns, list) and not _OF_CONVERSATIONS.isdisjoint(row)


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict) or not _OWN_COLUMNS.isdisjoint(row):
        return False
    if "turns" in row:
        return _is_conversation(_plain(row))
    return "input" in row and ("actual_output" in row or "actualOutput" in row)


def _rows_path(document: Mapping[str, Any]) -> str | None:
    """The list of a test run's cases that is not empty: a run has single answers or conversations."""
    for prefix, run in (("testRunData.", document.get("testRunData")), ("", document)):
        if not isinstance(run, Mapping) or not all(isinstance(run.get(name), list) for name in _RESULTS):
            continue
        return prefix + next((name for name in _RESULTS if run[name]), _RESULTS[0])
    return None


def _read(row: Any) -> CaseDraft:
    if not isinstance(row, dict):
        raise CaseFileError("a test case must be an object")
    table = _plain(row)
    builder = TranscriptBuilder()
    if _is_conversation(table):
        _read_turns(decoded_json(table["turns"]), table.get("images_mapping"), builder)
        good = text_or_none(table.get("expected_outcome"))
    else:
        _read_answer(table, builder)
        good = text_or_none(table.get("expected_output"))
    if not is_blank(table.get("trace")):
        builder.not_shown("trace of the run", "environment", "trace", table["trace"])
    return CaseDraft(
        case_id=table.get("case_id", table.get("id")),
        policy=text_or_none(table.get("chatbot_role")),
        expected_behavior=_expected(good, table),
        built=builder,
        answered=True,
        metadata=_metadata(table),
        tags=table.get("tags") or None,
        agent_cost=table.get("token_cost") or None,
    )


def _read_answer(table: dict[str, Any], builder: TranscriptBuilder) -> None:
    if is_blank(table.get("actual_output")) and is_blank(table.get("tools_called")):
        raise CaseFileError(
            "actual_output: empty, so that there is nothing to judge; a golden without an answer is left out with "
            "--skip-unreadable"
        )
    answer, images = as_text(table.get("actual_output")), table.get("images_mapping")
    with builder.messages.one():
        builder.message("user", as_text(table.get("input")), "input")
        read_images(images, as_text(table.get("input")), "user", builder)
    with builder.messages.one():
        _read_actions(table, builder, "")
        if answer:
            builder.message("assistant", answer, "actual_output")
        read_images(images, answer, "model", builder)


def _read_turns(turns: list[Any], images: Any, builder: TranscriptBuilder) -> None:
    if not turns:
        raise CaseFileError(
            "turns: empty, so that there is nothing to judge; a golden without turns is left out with --skip-unreadable"
        )
    listed = as_objects(turns, "turns", "turns")
    for index, written in builder.messages.of_list(enumerate(listed), len(listed)):
        turn, place = _plain(written), f"turns.{index}"
        role = as_text(turn.get("role")).lower()
        if role not in {"user", "assistant"}:
            raise CaseFileError(f"{place}.role: must be user or assistant")
        origin: Origin = "user" if role == "user" else "model"
        _read_actions(turn, builder, f"{place}.")
        if not is_blank(turn.get("content")):
            builder.message("user" if role == "user" else "assistant", as_text(turn["content"]), f"{place}.content")
        read_images(images, as_text(turn.get("content")), origin, builder)
        if turn.get("interrupted") is True:
            builder.add(Event, f"{place}.interrupted", origin="environment", name="interrupted")
        builder.unread(turn, _TURN, origin, place)


def _read_actions(table: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    retrieved = _joined(table.get("retrieval_context"))
    if retrieved:
        at = f"{place}retrieval_context"
        builder.add(Event, at, origin="environment", name="retrieval_context", text=retrieved)
    for name in ("tools_called", "mcp_tools_called", "mcp_resources_called", "mcp_prompts_called"):
        read_calls(decoded_json(table.get(name)), builder, f"{place}{name}")


def _joined(value: Any) -> str:
    """A list of texts, or of texts with their source, as one text; a table joins them itself."""
    found = decoded_json(value)
    return "\n\n".join(as_text(one) for one in found) if isinstance(found, list) else as_text(found)


def _expected(good: str | None, table: dict[str, Any]) -> str | None:
    parts = [good or "", expected_calls(decoded_json(table.get("expected_tools")))]
    context = _joined(table.get("context"))
    parts.append(f"Context that the answer should rest on:\n{context}" if context else "")
    return "\n\n".join(part for part in parts if part) or None


def _metadata(table: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {name: table[name] for name in _FACTS if not is_blank(table.get(name))}
    for name in ("additional_metadata", "custom_column_key_values", "metadata"):
        found = decoded_json(table.get(name))
        facts |= found if isinstance(found, dict) else {}
    for metric in as_objects(table.get("metrics_data"), "metricsData", "metrics"):
        if text_or_none(metric.get("name")) is not None:
            facts[f"metric.{metric['name']}"] = metric.get("score")
    return facts


def _case_id(row: Any) -> Any:
    return row.get("case_id", row.get("id")) if isinstance(row, dict) else None


DEEPEVAL = Format(
    "deepeval",
    _recognises,
    _read,
    _rows_path,
    case_id=_case_id,
    columns=_COLUMNS,
    recognised_by="`input` and `actual_output`, or `turns` with a scenario or outcome, as cases, datasets, test runs",
    shows="turns, `tools_called` with outputs, `retrieval_context`; `expected_output`, `expected_tools` and `context` "
    "as expected behaviour; scores as metadata",
)
