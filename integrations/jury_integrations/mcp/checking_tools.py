"""The tools that replay and verify."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from jury_events.errors import SettingError
from jury_integrations.mcp.debate_names import READS, DebateName
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import Records
from jury_judge.settings.auditing import Verification

_MOST_SHOWN = 20
"""Differences and failures of an answer."""


def add_checking(server: PlainMcpServer, records: Records) -> None:
    """Give a server the tools that check a store."""

    @server.tool(annotations=READS)
    async def replay(debate_id: DebateName) -> dict[str, Any]:
        """Whether the record of a debate follows from what its models answered. No model is called."""
        found = await records.replay(debate_id)
        differences = [
            {**one._asdict(), "changes": [change._asdict() for change in one.changes]} for one in found.differences
        ]
        return {**found._asdict(), "differences": differences[:_MOST_SHOWN]}

    @server.tool(annotations=READS)
    async def verify(
        debate_ids: Annotated[list[DebateName], Field(max_length=100)] = [],  # noqa: B006  (the library copies it)
        everything: bool = False,
        deep: bool = False,
    ) -> dict[str, Any]:
        """Whether records were altered: of these debates, or with `everything` of the whole store; `deep` replays them.

        Give either debate_ids or everything. `ok` is false where something was altered; `failures` says what.
        """
        if bool(debate_ids) == everything:
            raise SettingError("give either debate_ids or everything: true")
        asked = Verification.of(debate_ids=tuple(debate_ids), everything=everything, deep=deep, processes=1)
        report = await records.verify(asked)
        failures = [str(failure) for failure in report.failures[:_MOST_SHOWN]]
        return {"ok": report.ok, **asdict(report), "failures": failures, "failed": len(report.failures)}
