"""Results of promptfoo: what each test sent (`prompt`, `vars`), what came back, and how it was graded.

Source: promptfoo's output file (`results.results`, version 3).
"""

import json
from collections.abc import Mapping
from typing import Any

from jury_judge.cases.draft import Draft
from jury_judge.cases.formats.format import Format
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.json_values import as_text
from jury_judge.cases.transcripts.reading import is_message, read_messages
from jury_judge.cases.transcripts.tool_calls import add_calls


def _read(row: Any) -> Draft:
    builder = TranscriptBuilder()
    prompt = row.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    sent = _json(raw) if isinstance(raw, str) else raw
    if isinstance(sent, list) and any(map(is_message, sent)):
        read_messages(sent, builder, "prompt.raw")
    elif raw is not None:
        builder.message("user", as_text(raw), "prompt.raw")
    answer = _object(row.get("response")) or {"output": row.get("response")}
    output = answer.get("output")
    if isinstance(output, list) and output and all(isinstance(one, dict) and "function" in one for one in output):
        add_calls(output, builder, "response.output")
    elif output is not None:
        builder.message("assistant", as_text(output), "response.output")
    test, graded = _object(row.get("testCase")), _object(row.get("gradingResult"))
    provider = row.get("provider")
    facts = {
        **_object(test.get("metadata")),
        "success": row.get("success"),
        "score": row.get("score"),
        "provider": provider.get("id") if isinstance(provider, dict) else provider,
        "reason": graded.get("reason"),
    }
    test_id = f"test-{row['testIdx']}" if row.get("testIdx") is not None else None
    prompt_id = f"prompt-{row['promptIdx']}" if row.get("promptIdx") is not None else None
    return Draft(
        case_id=row.get("id") or "-".join(part for part in (test_id, prompt_id) if part) or None,
        built=builder,
        answered=True,
        error=as_text(row.get("error")) or as_text(answer.get("error")) or None,
        metadata={**facts, **{f"vars.{name}": value for name, value in (row.get("vars") or {}).items()}},
        cluster=test_id,
        agent_cost=row.get("cost") or answer.get("cost"),
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in {"[", "{"}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict) or "vars" not in row:
        return False
    return bool(row.keys() & {"promptIdx", "testIdx", "testCase", "gradingResult"}) and "response" in row


def _rows_path(document: Mapping[str, Any]) -> str | None:
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return "results.results"
    return "results" if isinstance(results, list) and any(map(_recognises, results)) else None


PROMPTFOO = Format("promptfoo", _recognises, _read, _rows_path)
