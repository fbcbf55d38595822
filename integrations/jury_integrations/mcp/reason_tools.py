"""The tools that say why: one debate, and where a run disagrees with its labels and with itself."""

from typing import Annotated, Any

from pydantic import Field

from jury_events.conditions import Condition
from jury_events.debate_history import DebateHistory
from jury_events.verdict import FAIL, LABEL_DIFFERENCES
from jury_integrations.mcp.debate_names import READS, DebateName, RunName
from jury_integrations.mcp.debate_summary import outcome_of, reasons_of_line
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import DebateFilter, Records, SortOrder
from jury_views.debate_fold import evaluations_of
from jury_views.reasons import FINAL_JUDGE, said_by
from jury_views.result_lines import line_of
from jury_views.result_models import OUTCOME

Number = Annotated[int, Field(ge=1, le=50, description="Debates of each kind.")]


def add_reasons(server: PlainMcpServer, records: Records) -> None:
    """Give a server the tools that say why."""

    @server.tool(annotations=READS)
    async def why(debate_id: DebateName) -> dict[str, Any]:
        """Why a debate came out as it did: the reason, the item where it went wrong, and what each seat says of it."""
        history = await records.read(debate_id)
        line = line_of(history)
        shown = ("debate_id", "case_id", "status", *OUTCOME, "decided_by")
        return {**{name: line[name] for name in shown}, **reasons_of_line(line), "seats": _seats(history)}

    @server.tool(annotations=READS)
    async def disagreements(run: RunName, limit: Number = 5) -> dict[str, Any]:
        """Where a run disagrees: verdicts that are not the label, false passes first; debates whose seats differ."""
        await records.check_run(run)
        found = []
        for verdict, label in LABEL_DIFFERENCES:
            chosen = DebateFilter(run, verdict=verdict, where=(Condition("label", "=", label),))
            if number := (await records.totals(chosen)).debates:
                order = SortOrder("score", descending=verdict is not FAIL)
                shown = await _shown(records, chosen, order, limit)
                found.append({"verdict": verdict.value, "label": label.value, "number": number, "debates": shown})
        split = DebateFilter(run, split=True)
        return {
            "against_labels": found,
            "split": {
                "number": (await records.totals(split)).debates,
                "debates": await _shown(records, split, SortOrder("agreement", descending=False), limit),
            },
        }


async def _shown(records: Records, chosen: DebateFilter, order: SortOrder, limit: int) -> list[dict[str, Any]]:
    return [
        {
            "debate_id": one.row.debate_id,
            **outcome_of(one.row),
            "votes": one.row.sides,
            **reasons_of_line(one.result),
        }
        async for one in records.listed(chosen, order, limit=limit, with_reasons=True)
    ]


def _seats(history: DebateHistory) -> list[dict[str, Any]]:
    """The last evaluation of each seat and of the final judge."""
    last = {one.step.juror_id: one for one in evaluations_of(history.events)}
    return [
        {
            "seat": seat or FINAL_JUDGE,
            "round": one.step.round,
            "verdict": one.evaluation.verdict.value,
            "label": one.evaluation.label,
            "score": one.evaluation.overall,
            "reason": said_by(one.evaluation, history.texts, history.erased),
            "decisive_item": one.evaluation.decisive_item,
        }
        for seat, one in last.items()
    ]
