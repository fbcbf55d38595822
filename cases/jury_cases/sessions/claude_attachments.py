"""What Claude Code adds to a conversation beside its messages: outputs of hooks, files, lines about the system."""

from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_message
from jury_cases.transcripts.json_values import as_text, is_blank, text_or_none
from jury_events.transcript import Event, Origin

_OFFERED = frozenset(
    {
        *("agent_listing_delta", "skill_listing", "dynamic_skill", "deferred_tools_delta", "mcp_instructions_delta"),
        *("command_permissions", "output_style", "todo_reminder", "task_reminder", "token_usage", "budget_usd"),
    }
)
"""Lists of agents, skills and tools that the model may use, its own list of tasks repeated, and accounts."""

_BOOKKEEPING = frozenset(
    {
        *("type", "hookName", "hookEvent", "toolUseID", "command", "durationMs", "exitCode", "stdout", "stderr"),
        *("uuid", "timestamp", "itemCount", "isMeta", "displayPath"),
    }
)
_QUIET = frozenset(
    {
        *("turn_duration", "microcompact_boundary", "stop_hook_summary", "bridge_status", "thinking", "memory_saved"),
        *("scheduled_task_fire", "api_metrics", "file_snapshot"),
    }
)
"""Lines about the system that repeat others, or only count."""


def read_attachment(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read the attachment of a line."""
    table = value if isinstance(value, dict) else {"type": "attachment", "content": value}
    kind = text_or_none(table.get("type")) or "attachment"
    if kind in _OFFERED:
        return
    if kind == "queued_command":
        _queued(table, builder, place)
    elif kind.startswith("hook_"):
        _hook(table, kind, builder, place)
    elif isinstance(file := _file(table), dict) and isinstance(file.get("base64"), str):
        name = text_or_none(table.get("filename")) or text_or_none(file.get("filePath"))
        builder.base64_file(file["base64"], file.get("type"), "user", place, name=name)
    else:
        rest = {name: one for name, one in table.items() if name not in _BOOKKEEPING and not is_blank(one)}
        text = next(iter(rest.values())) if len(rest) == 1 else rest
        if rest:
            _event(kind.replace("_", " "), as_text(text), builder, place)


def _file(table: dict[str, Any]) -> Any:
    content = table.get("content")
    return content.get("file") if isinstance(content, dict) else None


def _queued(table: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    prompt = table.get("prompt")
    if table.get("commandMode") in {None, "prompt"} and isinstance(prompt, str | list):
        read_message({"role": "user", "content": prompt}, builder, f"{place}.prompt")
    else:
        _event(text_or_none(table.get("commandMode")) or "queued command", as_text(prompt), builder, place)


def _hook(table: dict[str, Any], kind: str, builder: TranscriptBuilder, place: str) -> None:
    """The output of a hook; its standard output where that is not what the agent was given."""
    content = table.get("content")
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        content = "\n".join(content)
    rest = {name: one for name, one in table.items() if name not in _BOOKKEEPING | {"content"} and not is_blank(one)}
    parts = [content, rest or None, table.get("stderr") if kind != "hook_success" else None]
    text = "\n".join(as_text(one) for one in parts if not is_blank(one))
    if text.strip():
        failed = "" if kind in {"hook_success", "hook_additional_context"} else f" ({kind[5:].replace('_', ' ')})"
        _event(f"hook {as_text(table.get('hookName'))}".strip() + failed, text.strip(), builder, place)


def read_system_line(line: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    kind = text_or_none(line.get("subtype")) or "system"
    if kind in _QUIET:
        return
    content = line.get("content")
    if kind == "api_error":
        error = line.get("error")
        inner = error.get("message") if isinstance(error, dict) else None
        _event("API error", as_text(inner or error or content), builder, place)
    elif kind == "compact_boundary":
        _event("compaction", as_text(content), builder, place)
    elif not is_blank(content):
        _event(kind.replace("_", " "), as_text(content), builder, place)


def _event(name: str, text: str, builder: TranscriptBuilder, place: str, origin: Origin = "environment") -> None:
    builder.add(Event, place, origin=origin, name=name, text=text)
