"""promptfoo: results as JSON, JSON lines and CSV, of its providers of OpenAI, Anthropic and the Claude agent SDK.

`agent.cjs` is a provider of one's own, with fields that few providers return. Needs `promptfoo` and its Node on the
path: `package.json` has both.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import claude_agent

from chat_story import MODEL, user_message
from model_server import ModelServer
from story import (
    LOOK_UP,
    REFUND,
    SHIP,
    STORY,
    SYSTEM,
    Answer,
    Produced,
    ToolUse,
    case,
    piece,
    standard_pieces,
    target_folder,
    until,
)

HERE = Path(__file__).parent
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true",
    "PROMPTFOO_REQUEST_BACKOFF_MS": "1",
}
TASK = ToolUse(
    name="Task",
    call_id="call_M20id",
    call="M20call",
    arguments={"description": "M20call", "subagent_type": "researcher", "prompt": "Find it."},
    result="M23result",
    output="M23result found by the researcher",
)


def called(call: ToolUse) -> dict[str, Any]:
    """A call as chat messages have it."""
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
    return {"id": call.call_id, "type": "function", "function": function}


def conversations() -> list[list[dict[str, Any]]]:
    """The messages of each request of the story: a test of the evaluation."""
    found: list[list[dict[str, Any]]] = []
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for turn in STORY:
        messages.append(user_message(turn))
        for answer in turn.answers:
            found.append(list(messages))
            message: dict[str, Any] = {"role": "assistant", "content": answer.text}
            if answer.reasoning is not None:
                message["reasoning_content"] = answer.reasoning
            if answer.calls:
                message["tool_calls"] = [called(one) for one in answer.calls]
            messages.append(message)
            messages += [{"role": "tool", "tool_call_id": one.call_id, "content": one.output} for one in answer.calls]
    return found


def asked(text: str) -> list[dict[str, Any]]:
    """A request that is one message."""
    return [{"role": "user", "content": text}]


def chat() -> tuple[list[list[dict[str, Any]]], list[Answer | None], list[dict[str, Any]]]:
    """The tests of the chat provider: their requests, the server's answers (None: it fails), and what happened."""
    story = standard_pieces(cut=None, failures_marked=False)
    parts = [
        until("M06call", story),
        until("M09answer", story),
        until("M12call", story),
        [*until("M14cut", story), piece("length", "event")],
        until("M16refusal", story),
        [piece("M40user", "user"), piece("M41text", "assistant"), piece("content_filter", "event")],
        # The provider writes the reasoning into the output: the file has one text, which is the agent's.
        [piece("M45user", "user"), piece("M46reasoning", "assistant"), piece("M47text", "assistant")],
    ]
    requests = [
        *conversations(),
        asked("M40user Say what you may not say."),
        asked("M45user Is it late?"),
        asked("M43user Fail."),
    ]
    answers: list[Answer | None] = [answer for turn in STORY for answer in turn.answers]
    answers += [
        Answer(text="M41text I may", end="filter"),
        Answer(text="M47text Yes.", reasoning="M46reasoning It is night."),
        None,
    ]
    return requests, answers, [*map(case, parts), case([piece("M43user", "user")], error="M44error")]


def tool_use(call: ToolUse, parent: str | None = None) -> dict[str, Any]:
    """An entry of `metadata.toolCalls`."""
    return {
        "id": call.call_id,
        "name": call.name,
        "input": dict(call.arguments),
        "output": call.output,
        "is_error": call.error,
        "parentToolUseId": parent,
    }


def agent() -> dict[str, Any]:
    """The responses of the provider with tool use, by the prompt."""
    calls = [tool_use(LOOK_UP), tool_use(REFUND), tool_use(TASK), tool_use(SHIP, TASK.call_id)]
    result = {"type": "result", "subtype": "success", "result": "M24text It is done.", "session_id": "s-1"}
    return {
        "M02user Refund my order.": {
            "output": "M24text It is done.",
            "raw": json.dumps({**result, "usage": {"service_tier": "standard"}, "permission_denials": []}),
            "sessionId": "s-1",
            "cost": 0.25,
            "metadata": {"toolCalls": calls, "skillCalls": [], "numTurns": 4, "terminalReason": "completed"},
        },
        "M30user Think of it.": {
            "output": "M33text I have thought",
            "reasoning": [
                {"type": "thinking", "thinking": "M31reasoning It is hard.", "signature": "c2lnbmVk"},
                {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
            ],
            "raw": {"id": "r-1", "object": "answer", "note": "M34raw nobody else says this"},
            "finishReason": "length",
            "guardrails": {"flagged": True, "flaggedOutput": True, "reason": "M35guard a card number"},
            "metadata": {"shelf": "M36metadata", "sources": [{"text": "M37source a page"}]},
        },
    }


def evaluated(folder: Path, config: dict[str, Any], outputs: list[str], **environment: str) -> None:
    """Run an evaluation in a folder, which gets its output files."""
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = shutil.which("promptfoo")
    if command is None:
        raise SystemExit("promptfoo: missing; put node_modules/.bin of this folder's package.json on the path")
    arguments = ["eval", "-c", "promptfooconfig.json", "-j", "1", "--no-cache", "--no-table", "--no-progress-bar"]
    arguments += [part for one in outputs for part in ("-o", one)]
    ran = subprocess.run(
        [command, *arguments],
        cwd=folder,
        env={**os.environ, **QUIET, "PROMPTFOO_CONFIG_DIR": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    missing = [one for one in outputs if not (folder / one).exists()]
    if missing:
        raise SystemExit(f"promptfoo wrote no {missing[0]}:\n{ran.stdout}{ran.stderr}")


def keep(produced: Produced, folder: Path, name: str) -> None:
    """Keep an output without the figures of the run and the evaluation's own copy of its settings."""
    content = (folder / name).read_text(encoding="utf-8")
    if not name.endswith(".json"):
        content = re.sub(r'(_ms\\":)\d+', r"\g<1>0", content)  # times in what the Claude agent SDK said last
        (produced.folder / name).write_text(content, encoding="utf-8")
        return
    document = json.loads(content)
    for one in document["results"]["prompts"]:
        one.pop("metrics", None)
    for one in document["results"]["results"]:
        one.pop("tokenUsage", None)
    produced.write_json(name, {**document, "config": {"description": document["config"].get("description")}})


def chat_files(produced: Produced, folder: Path) -> None:
    """The results of the chat provider, as JSON and as a table."""
    requests, answers, happened = chat()
    by_request = {json.dumps(one): answer for one, answer in zip(requests, answers, strict=True)}

    def choose(request: Any) -> Answer:
        found = by_request[json.dumps(request.body["messages"])]
        if found is None:
            raise LookupError("M44error the model is not here")
        return found

    with ModelServer(choose) as server:
        settings = {"apiBaseUrl": f"{server.url}/v1", "apiKey": "none"}
        config = {
            "prompts": [{"id": "file://prompt.json", "label": "conversation"}],
            "providers": [{"id": f"openai:chat:{MODEL}", "config": settings}],
            "tests": [{"vars": {"messages": json.dumps(one)}} for one in requests],
        }
        (folder / "prompt.json").write_text("{{messages}}", encoding="utf-8")
        evaluated(folder, config, ["chat.json", "chat.csv"])
    keep(produced, folder, "chat.json")
    keep(produced, folder, "chat.csv")
    produced.add("chat.json", "results of the OpenAI chat provider", happened)
    produced.add("chat.csv", "the same as a table", [as_table(one) for one in happened])


def provider_files(produced: Produced, folder: Path) -> None:
    """The results of the providers of OpenAI's Responses and of Anthropic, which write what they got into one text."""
    requests = ("M02user Refund my order.", "M10user Send me another one like this.", "M15user Give me a card number.")
    answers = dict(zip(requests, (STORY[0].answers[0], STORY[1].answers[1], STORY[2].answers[0]), strict=True))

    def choose(request: Any) -> Answer:
        asked_for = json.dumps(request.body)
        return next(answer for one, answer in answers.items() if one in asked_for)

    with ModelServer(choose) as server:
        responses = {"id": f"openai:responses:{MODEL}", "config": {"apiBaseUrl": f"{server.url}/v1", "apiKey": "none"}}
        thinking = {"type": "enabled", "budget_tokens": 2000}
        settings = {"apiBaseUrl": server.url, "apiKey": "none", "thinking": thinking, "max_tokens": 4000}
        anthropic = {"id": "anthropic:messages:claude-sonnet-4-5", "config": settings}
        config = {
            "prompts": ["{{request}}"],
            "providers": [responses, anthropic],
            "tests": [{"vars": {"request": one}} for one in requests],
        }
        evaluated(folder, config, ["providers.jsonl"], ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="none")
    keep(produced, folder, "providers.jsonl")
    story = standard_pieces()
    first, cut, refused = [piece("M02user", "user"), *story[2:6]], "M14cut", "M16refusal"
    said = [piece("M10user", "user"), piece(cut, "assistant")]
    happened = [
        case(first),
        case(first),
        case([*said, piece("max_output_tokens", "event")]),
        case([*said, piece("length", "event")]),
        case([piece("M15user", "user"), piece(refused, "refusal")]),
        # Anthropic's messages have no refusals of their own.
        case([piece("M15user", "user"), piece(refused, "assistant"), piece("content_filter", "event")]),
    ]
    produced.add("providers.jsonl", "results of the providers of OpenAI's Responses and Anthropic", happened)


def as_table(happened: dict[str, Any]) -> dict[str, Any]:
    """What a table keeps of it: no ends, no refusals of their own, no errors' reasons."""
    pieces = [one for one in happened["pieces"] if one["kind"] != "event"]
    pieces = [{**one, "kind": "assistant"} if one["kind"] == "refusal" else one for one in pieces]
    return case(pieces, error=None if happened["error"] is None else "the table does not say why")


def prompt_files(produced: Produced, folder: Path) -> None:
    """The results of two prompts with two variables, which a table has in one row a test."""
    prompts = ("Answer gladly: {{request}} ({{name}})", "Answer briefly: {{request}} ({{name}})")
    tests = [{"request": "=M50user Pay.", "name": "M51user"}, {"request": "-M54user Pay.", "name": "M55user"}]
    answers = {}
    happened = []
    for number, test in enumerate(tests):
        for index, prompt in enumerate(prompts):
            sent = prompt.replace("{{request}}", test["request"]).replace("{{name}}", test["name"])
            answers[sent] = {"output": f"@M6{number}{index}text yes"}
            asked_for = [piece(one.strip("=-").partition(" ")[0], "user") for one in test.values()]
            happened.append(case([*asked_for, piece(f"M6{number}{index}text", "assistant")]))
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    shutil.copy(HERE / "agent.cjs", folder)
    described = [{"vars": one, "description": "a payment"} for one in tests]
    asserted = [{"type": "contains", "value": "yes", "metric": "agrees"}]
    config = {
        "prompts": list(prompts),
        "providers": ["file://agent.cjs"],
        "tests": described,
        "defaultTest": {"assert": asserted},
    }
    evaluated(folder, config, ["prompts.csv"])
    keep(produced, folder, "prompts.csv")
    produced.add("prompts.csv", "table of two prompts", happened)


def agent_files(produced: Produced, folder: Path) -> None:
    """The results of a provider with tool use, as JSON lines."""
    answers = agent()
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    shutil.copy(HERE / "agent.cjs", folder)
    config = {
        "prompts": ["{{request}}"],
        "providers": ["file://agent.cjs"],
        "tests": [{"vars": {"request": one}} for one in answers],
    }
    evaluated(folder, config, ["agent.jsonl"])
    keep(produced, folder, "agent.jsonl")
    produced.add("agent.jsonl", "results of a provider with metadata.toolCalls")


def claude_files(produced: Produced, folder: Path) -> None:
    """The results of the provider of the Claude agent SDK."""
    config = claude_agent.config(folder / "shop")
    (folder / "node_modules").symlink_to(Path(shutil.which("promptfoo") or "").parent.parent)  # where the SDK is found
    with ModelServer(claude_agent.answer) as server:
        environment = {**claude_agent.ENVIRONMENT, "ANTHROPIC_BASE_URL": server.url, "HOME": str(folder / "home")}
        evaluated(folder, config, ["claude.jsonl"], **environment)
    keep(produced, folder, "claude.jsonl")
    produced.add("claude.jsonl", "results of the provider of the Claude agent SDK")


def main() -> None:
    """Write the files."""
    versions = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    del versions["node"]
    produced = Produced(folder=target_folder(__file__), tool="promptfoo", versions=versions)
    for write in (chat_files, provider_files, prompt_files, agent_files, claude_files):
        with tempfile.TemporaryDirectory() as folder:
            write(produced, Path(folder))
    produced.write()


if __name__ == "__main__":
    sys.exit(main())
