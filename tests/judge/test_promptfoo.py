"""promptfoo: what providers return beside the output, and its tables."""

import json
from pathlib import Path
from typing import Any

from support.described_cases import outcome, outcome_of
from support.refusals import RefusalTables


def used(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"id-{name}", "name": name, "input": {"of": name}, "output": f"{name} done", **fields}


def calls(*listed: Any) -> dict[str, Any]:
    return {"metadata": {"toolCalls": list(listed)}}


ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Why."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paid."}]},
    {"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}"},
]
SAID_RAW = json.dumps({"id": "r", "content": [{"type": "text", "text": "Paid."}]})
ENDED = {"conversationEnded": True, "conversationEndReason": "closed"}
FILTERED = {"output": "Content filtered by provider", "isRefusal": True, "finishReason": "content_filter"}
INCOMPLETE = {"id": "r", "object": "response", "output": ITEMS, "incomplete_details": {"reason": "max_output_tokens"}}
PROTOCOL = "MCP Tool Result (look): look done\nMCP Tool Error (pay): pay done"

RESPONSES: dict[str, dict[str, Any]] = {
    "the calls of a sub-agent stand between its call and its result": calls(
        *(used("Task"), used("read", parentToolUseId="id-Task"), used("write", parentToolUseId=None))
    ),
    "calls whose parents form a cycle are all shown": calls(
        *(used("a", parentToolUseId="id-b"), used("b", parentToolUseId="id-a"), used("c", parentToolUseId="id-c"))
    ),
    "a call that never returned has no result": calls({"id": "a", "type": "web_search", "status": "failed"}),
    **{f"calls that are {written}": {"metadata": {"toolCalls": written}} for written in ("x", [1], {"a": 1}, [["a"]])},
    "what tools of a protocol returned is not the model's text": {
        "output": PROTOCOL,
        **calls(used("look"), used("pay", is_error=True)),
    },
    "reasoning": {"reasoning": "Why."},
    "reasoning in blocks": {"reasoning": [{"type": "x", "thought": "Why."}]},
    "reasoning of another form": {"reasoning": [{"type": "x", "y": 1}]},
    "a refusal": {"isRefusal": True},
    "a refusal that is no text": {"isRefusal": True, "output": {"a": 1}},
    "an answer that was cut": {"finishReason": "length"},
    "an answer that was filtered": FILTERED,
    "a guardrail without a reason": {"guardrails": {"flagged": True}},
    "a guardrail with a reason": {"guardrails": {"flagged": True, "flaggedInput": True, "reason": "a number"}},
    "a raw response that says the same": {"raw": SAID_RAW},
    "a raw response that says more": {"raw": {"more": "Unsaid."}},
    "a raw text that says more": {"raw": "Unsaid."},
    "audio": {"audio": {"data": "AAAA"}},
    "an output in base64": {"output": "AAAA", "isBase64": True},
    "a long field of the metadata": {"metadata": {"note": "x" * 301}},
    "short fields of the metadata": {
        "metadata": {"numTurns": 3, "http": {"status": 200}},
        "sessionId": "s",
        "guardrails": {"flagged": True},
    },
    "the end of the conversation": ENDED,
    "a call that was not permitted": {"metadata": {"permissionDenials": [{"tool_use_id": "a"}]}},
    "the items of a response are read in place of its text": {
        "raw": INCOMPLETE,
        "output": 'Reasoning: Why.\nPaid.\n{"type": "function_call"}',
    },
    "an output that was transformed is shown as it is": {
        "raw": {"object": "response", "output": ITEMS},
        "output": "PAID",
    },
}

CALL = '{"type":"tool_use","id":"c","name":"pay","input":{"a":1}}'
OUTPUTS = {
    "all blocks": f"Thinking: One.\n\nTwo.\nSignature: c2ln\n\nPaid.\n\nAll.\n\n{CALL}",
    "a redacted thought": "Redacted Thinking: AAAA\n\nPaid.",
    "a text that begins as a thought": "Thinking: is hard.\n\nPaid.",
    "an object that is no block": 'Paid.\n\n{"a": 1}',
}


def a_row(**response: Any) -> dict[str, Any]:
    said = {"output": "Paid.", **response}
    return {"testIdx": 1, "vars": {}, "prompt": {"raw": "Pay."}, "response": said}


def test_what_a_provider_returns_beside_the_output_is_shown_or_named(printed: RefusalTables, tmp_path: Path) -> None:
    rows = {name: a_row(**response) for name, response in RESPONSES.items()}
    for name, output in OUTPUTS.items():
        rows[f"{name} of Anthropic"] = {**a_row(output=output), "provider": {"id": "anthropic:messages:claude"}}
        rows[f"{name} of another provider"] = a_row(output=output)

    printed.compare("promptfoo", {name: outcome(tmp_path, row, format="promptfoo") for name, row in rows.items()})


GROUP = "Status,Score,Named Scores,Grader Reason,Comment"
HEADERS = {
    "a header without the word": ("word,[a] v1", "X"),
    "a header without the words": ("word,name,[a] v1", "X,Y"),
    "a template with a condition": ("word,[a] {% if word %}{{word}}{% endif %}", "X"),
    "a template with another word": ("word,[a] {{other}}", "X"),
    "a template without words": ("[a] Hello.", None),
    "a formula": ("word,[a] {{word}}", "'=X"),
    "a number behind a quote": ("word,[a] {{word}}", "'-5"),
    "a text in quotes": ("word,[a] {{word}}", "'quoted'"),
}
TABLES = {
    "each output of a row is a case": (
        f"word,[a] Say {{{{word}}}}.,{GROUP},[a] Say {{{{word}}}}.,{GROUP}\nX,1,PASS,1.00,,,,2,FAIL,0.00,,Bad.,\n"
    ),
    **{
        name: f"{header},{GROUP}\n{'' if cells is None else f'{cells},'}done,PASS,1.00,,,\n"
        for name, (header, cells) in HEADERS.items()
    },
    "a run that failed": f"word,[a] {{{{word}}}},{GROUP}\nX,,ERROR,0.00,,,\n",
    "names are repeated in tables of promptfoo alone": "question,response,Status,Status\na,b,c,d\n",
}


def test_each_output_of_a_table_is_a_case(printed: RefusalTables, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"

    def cases_of(text: str) -> str:
        path.write_text(text, encoding="utf-8")
        return outcome_of(path)

    printed.compare("promptfoo_tables", {name: cases_of(text) for name, text in TABLES.items()})


def test_a_row_of_another_form_is_refused(printed: RefusalTables, tmp_path: Path) -> None:
    rows: list[Any] = [[1], {"Named Scores": 1}, [[]], {"traceId": []}]
    printed.compare(
        "other_forms",
        {
            f"{json.dumps(row)} as {form}": outcome(tmp_path, row, format=form)
            for form in ("promptfoo-table", "langfuse-observations")
            for row in rows
        },
    )
