"""What a client reads: the tools that list, show, compare and say why, and debates and runs as resources."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

from jury_events.conditions import Condition
from jury_events.debate_history import DebateHistory
from jury_events.outcome import FinalOutcome
from jury_events.text import moment
from jury_events.verdict import FAIL, LABEL_DIFFERENCES, PASS, REVIEW
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import DebateFilter, DebateRow, PageCursor, Records, SortOrder
from jury_judge.comparisons.comparing import ComparedDebates, debates_object, runs_object
from jury_judge.records.open_store import conditions_of
from jury_judge.settings.debates import debate_filter
from jury_views.debate_fold import evaluations_of
from jury_views.debate_results import result_of
from jury_views.reasons import FINAL_JUDGE, NO_REASON, said_by
from jury_views.result_lines import line_of
from jury_views.result_models import OUTCOME

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

DebateName = Annotated[str, Field(max_length=700, description="The id of a debate, as list_debates gives it.")]

RunName = Annotated[str, Field(max_length=200, description="The id of a run, as list_runs gives it.")]

EitherId = Annotated[str, Field(max_length=700, description="The id of a debate or of a run.")]

Word = Annotated[str | None, Field(max_length=200)]

Verdict = Annotated[str | None, Field(max_length=200, description=f"{PASS}, {REVIEW} or {FAIL}.")]

Number = Annotated[int, Field(ge=1, le=50, description="Debates of each kind.")]

_FLIPS = 100
_LEFT_OUT = frozenset({"metadata", "tags", "omissions", "model_mismatches", "probabilities"})
"""Fields of a result line that the short answer has not: they may be long."""


def add_reading(server: PlainMcpServer, records: Records) -> None:
    """Give a server the tools that read a store."""

    @server.tool(annotations=READS)
    async def list_runs(limit: Annotated[int, Field(ge=1, le=200)] = 20) -> dict[str, Any]:
        """The runs of the store, the newest first, with counts by status and verdict."""
        rows = (await records.run_rows())[:limit]
        return {"runs": [_timed(asdict(row), "first_at", "begun_at", "last_at") for row in rows]}

    @server.tool(annotations=READS)
    async def list_debates(
        *,
        run: Word = None,
        verdict: Verdict = None,
        status: Word = None,
        disposition: Verdict = None,
        search: Word = None,
        where: Annotated[list[str], Field(max_length=20)] = [],  # noqa: B006  (the library copies it)
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
        after: Annotated[int | None, Field(ge=1, lt=2**63, description="`next` of the page before.")] = None,
    ) -> dict[str, Any]:
        """Debates, the newest first, a summary each with the reason of the verdict.

        The disposition is a person's verdict where there is one. search finds a word that jurors wrote or a piece of an
        id; where has conditions on the cases, as "tags~refund". More follow while `next` is not null.
        """
        asked = {"verdict": verdict, "status": status, "disposition": disposition, "search": search}
        named = {name: text for name, text in asked.items() if text is not None}
        chosen: DebateFilter = debate_filter(named, conditions_of(where, recorded=True))._replace(run_id=run)
        cursor = None if after is None else PageCursor(after)
        found = [one async for one in records.listed(chosen, limit=limit + 1, after=cursor, with_reasons=True)]
        more = found[limit - 1].row.position if len(found) > limit else None
        return {
            "debates": [{**debate_summary(one.row), **reasons_of_line(one.result)} for one in found[:limit]],
            "next": more,
        }

    @server.tool(annotations=READS)
    async def show_debate(
        debate_id: DebateName,
        *,
        whole: Annotated[bool, Field(description="Also every evaluation, statement and quotation.")] = False,
    ) -> dict[str, Any]:
        """One debate: the verdict, why, the item where it went wrong, the votes; whole adds all that was said."""
        history = await records.read(debate_id)
        if whole:
            return result_of(history).data()
        line = line_of(history)
        return {name: value for name, value in line.items() if name not in _LEFT_OUT}

    @server.tool(annotations=READS)
    async def compare(a: EitherId, b: EitherId, kind: Literal["debates", "runs"] | None = None) -> dict[str, Any]:
        """Two debates, or two runs joined by case: what differs, and which verdicts changed."""
        found = await records.compare(a, b, kind, flips=_FLIPS)
        if isinstance(found, ComparedDebates):
            return debates_object(found.compared)
        paired = None if found.paired is None else found.paired.to_dict()
        return {
            **runs_object(found.compared, found.panel, found.flips, found.chosen),
            "paired": paired,
            "unpaired": found.unpaired,
        }


def _timed(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: moment(value) if name in names and value is not None else value for name, value in row.items()}


def debate_summary(row: DebateRow) -> dict[str, Any]:
    """What it came to, without its texts."""
    return {
        "debate_id": row.debate_id,
        "run_id": row.run_id,
        "case_id": row.case_id,
        "status": row.status,
        **outcome_of(row),
        "disposition": row.disposition,
        "rounds": row.rounds,
        "calls": row.calls,
        "cost": row.cost,
        "simulated": row.simulated,
        "tags": list(row.tags),
        "opened_at": moment(row.opened_at),
        "begun_at": None if row.begun_at is None else moment(row.begun_at),
    }


def outcome_of(row: DebateRow) -> dict[str, Any]:
    """The verdict, its label and the score; nulls without a verdict."""
    return dict.fromkeys(FinalOutcome._fields) if row.outcome is None else row.outcome._asdict()


def reasons_of_line(line: Mapping[str, Any] | None) -> dict[str, Any]:
    """Why the verdict of a result line came; nulls where there is no line."""
    return dict(NO_REASON) if line is None else {name: line[name] for name in NO_REASON}


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


def add_resources(server: PlainMcpServer, records: Records) -> None:
    """Give a server the resources of a store."""

    @server.resource("jury://debates/{debate_id}", mime_type="application/json")
    async def debate(debate_id: str) -> str:
        """One debate as JSON. Characters of its id that a URI does not have are percent-encoded."""
        return json.dumps(result_of(await records.read(debate_id)).data(), ensure_ascii=False)

    @server.resource("jury://runs/{run_id}", mime_type="application/json")
    async def run(run_id: str) -> str:
        """The debates of one run as JSON, at most the newest 1,000."""
        await records.check_run(run_id)
        listed = records.listed(DebateFilter(run_id=run_id), limit=1000, with_reasons=True)
        rows = [{**debate_summary(one.row), **reasons_of_line(one.result)} async for one in listed]
        return json.dumps({"run_id": run_id, "debates": rows}, ensure_ascii=False)
