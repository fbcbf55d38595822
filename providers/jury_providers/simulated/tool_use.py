"""The tools that a role calls before it answers, and findings from their results."""

import json
from collections.abc import Sequence
from typing import Any

from jury_debate.marking import unmark
from jury_providers.provider import OfferedTool, RequestedTool
from jury_providers.simulated.document import CheckCounts, Document
from jury_providers.simulated.excerpts import excerpt
from jury_providers.simulated.findings import Citation, Finding

GATE_TOOL = "fetch_security_gate_failures"
CARD_TOOL = "fetch_agent_card_failures"

_TOOLS = {
    "policy_compliance": (CARD_TOOL,),
    "security_leak_risk": (GATE_TOOL,),
    "misuse_detection": (GATE_TOOL, CARD_TOOL),
}
_ALL = (GATE_TOOL, CARD_TOOL)
_RECORDS = 20
_LARGEST = 1_000_000
_IDS = 3
_ID_NAMES = ("id", "promptId", "prompt_id", "scenarioId", "scenario_id", "caseId", "case_id", "skill", "name")


def call_id(tool: str) -> str:
    """The id of a tool's call: a simulated model calls each tool at most once."""
    return f"call-{tool}"


def wanted_tools(role: str, offered: Sequence[OfferedTool], document: Document) -> tuple[RequestedTool, ...]:
    """The tools to call first; none if the summary shows no records for them."""
    names = {tool.name for tool in offered}
    reports = {GATE_TOOL: document.gate, CARD_TOOL: document.card}
    return tuple(
        RequestedTool(call_id(name), name, json.dumps({"max_records": _RECORDS}))
        for name in _TOOLS.get(role, _ALL)
        if name in names and _has_records(reports[name])
    )


def _has_records(checks: CheckCounts | None) -> bool:
    return checks is None or checks.total > 0


def record_findings(document: Document, results: Sequence[tuple[str, str]], mark: str) -> list[Finding]:
    """Failed records, from the tools' results, whose lines begin with `mark`, else from the summary's counts."""
    by_call = {call_id: finding for call_id, text in results if (finding := _finding(call_id, text, mark)) is not None}
    found = []
    for name, tool, checks in (
        ("gate_failures", GATE_TOOL, document.gate),
        ("card_failures", CARD_TOOL, document.card),
    ):
        finding = by_call.get(call_id(tool))
        if finding is not None:
            found.append(finding._replace(cited=_cited(checks)))
        elif checks is not None and checks.failed:
            found.append(Finding(name, total=checks.failed, cited=_cited(checks)))
    return [finding for finding in found if finding.total]


def _cited(checks: CheckCounts | None) -> tuple[Citation, ...]:
    """The summary's line about a check: what was checked before is not what the agent did."""
    if checks is None or checks.item is None or not (quote := excerpt(checks.line, "")):
        return ()
    return (Citation(checks.item, quote, context=True),)


def _finding(call_id: str, text: str, mark: str) -> Finding | None:
    name = "card_failures" if call_id.endswith(CARD_TOOL) else "gate_failures" if call_id.endswith(GATE_TOOL) else None
    if name is None or len(text) > _LARGEST:
        return None
    try:
        result = json.loads(unmark(text, mark))
    except (ValueError, RecursionError):
        return None
    if not isinstance(result, dict) or not isinstance(records := result.get("records"), list):
        return None
    total = result.get("total")
    ids = [_record_id(record) for record in records[:_RECORDS] if isinstance(record, dict)]
    return Finding(
        name,
        total=total if type(total) is int and total >= 0 else len(records),
        ids=tuple(one for one in ids if one)[:_IDS],
    )


def _record_id(record: dict[str, Any]) -> str:
    for name in _ID_NAMES:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value if value.isprintable() and len(value) <= 60 else excerpt(value, "")  # noqa: PLR2004
    return ""
