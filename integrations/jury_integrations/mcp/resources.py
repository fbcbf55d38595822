"""Debates and runs as resources."""

import json

from jury_integrations.mcp.debate_summary import debate_summary, reasons_of_line
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import DebateFilter, Records
from jury_views.debate_results import result_of


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
