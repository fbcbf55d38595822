"""The tools that compute: what the votes of runs are worth, the gate between two runs, replay and verification."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_integrations.mcp.reading_tools import READS, DebateName, RunName
from jury_judge import Records
from jury_judge.records.votes import VoteReports
from jury_judge.settings.auditing import Verification
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import StatisticsSettings, is_file
from jury_views.conclusion import FactsOfRun, conclusion_lines

Simulated = Annotated[bool, Field(description="Debates of simulated jurors count too.")]
Whole = Annotated[bool, Field(description="Also every figure.")]


_MOST_SHOWN = 20
"""Differences and failures of an answer."""


def add_reports(server: PlainMcpServer, records: Records) -> None:
    """Give a server the tools that compute reports."""

    @server.tool(annotations=READS)
    async def statistics(run: RunName, *, include_simulated: Simulated = False, whole: Whole = False) -> dict[str, Any]:
        """What the votes of a run are worth, a panel each: how often right, how far seats agree, false passes."""
        await _check_run(records, run)
        said: list[str] = []
        asked = StatisticsSettings.of(run_ids=(run,), store_url=records.store_url, include_simulated=include_simulated)
        found = await VoteReports(said.append).stats(asked)
        panels = [
            {
                "panel": one.panel,
                **dict(conclusion_lines(one, run, FactsOfRun(rates=found.true_rates, drift=found.drift))),
            }
            for group in found.groups
            for one in group.statistics.panels
        ]
        return {"panels": panels, "remarks": said, **({"statistics": found.to_dict()} if whole else {})}

    @server.tool(annotations=READS)
    async def gate(
        base: RunName, candidate: RunName, *, include_simulated: Simulated = False, whole: Whole = False
    ) -> dict[str, Any]:
        """Whether the verdicts of the candidate are worse than those of the base, over the cases of both runs."""
        for run in (base, candidate):
            await _check_run(records, run)
        said: list[str] = []
        sides = (base, candidate)
        asked = GateSettings.of(sources=sides, store_url=records.store_url, include_simulated=include_simulated)
        named = await VoteReports(said.append).gate(asked)
        short = {
            "decision": named.decision,
            "says": named.headline,
            **{str(name): value for name, value in named.facts},
        }
        return {**short, "remarks": [*said, *named.notes], **({"report": named.to_dict()} if whole else {})}


async def _check_run(records: Records, run: str) -> None:
    """Refuse what is no run of the store: a report also reads files, which a client must not name."""
    if is_file(run):
        raise SettingError(f"{visible_line(run, 100)}: name a run, as list_runs gives it")
    await records.check_run(run)


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
