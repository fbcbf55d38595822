"""The tools that list, show and compare."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from jury_events.text import moment
from jury_integrations.mcp.debate_names import READS, DebateName, EitherId, Verdict, Word
from jury_integrations.mcp.debate_summary import debate_summary, reasons_of_line
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import DebateFilter, PageCursor, Records
from jury_judge.comparisons.comparing import ComparedDebates, debates_object, runs_object
from jury_judge.records.open_store import conditions_of
from jury_judge.settings.debates import debate_filter
from jury_views.debate_results import result_of
from jury_views.result_lines import line_of

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
