"""Cases of clients, judged into one run, many at once, within its budget."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jury_integrations.content_names import named_by_content
from jury_integrations.jury_outcome import JuryOutcome
from jury_integrations.mcp.step_lines import said_of
from jury_judge import Jury, Records, RuntimeSettings
from jury_judge.runs.hosted_run import HostedRun
from jury_judge.runs.plan import panel_of_run
from jury_judge.serving.submitted_cases import refuse_uris, submitted_cases
from jury_judge.settings.serving import McpSettings

Report = Callable[[int, str | None], Awaitable[None]]
"""Takes how many steps of a debate are done, and what the last one was."""

_PROTOCOL = "MCP"


class McpJudging:
    """Judges for the clients of a server. The budget holds over all of them, and over all sessions of the run.

    While nothing is judged, the SQLite store is free for other processes.

    Args:
        settings: of the server; with a run.
        environ: where settings are read; None is `os.environ`.
    """

    def __init__(
        self, settings: McpSettings, say: Callable[[str], None], environ: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings.run
        loaded = panel_of_run(self._settings, environ)
        if not loaded.is_simulated:
            settings.check_bounded("agents decide how often these models are asked")
        # Once now, so that a setting that cannot be used shows before a client asks.
        checked = Jury(
            loaded,
            store=settings.store_url,
            runtime=RuntimeSettings(in_process=True, simulate=settings.simulate),
            budget=self._settings,
            environ=environ,
        )
        self.store_url = checked.store_url
        self._run = HostedRun(self._settings, loaded, say, environ)

    async def judge(self, table: Mapping[str, Any], records: Records, report: Report | None = None) -> JuryOutcome:
        """Judge a case to its end, or read its verdict where it was judged.

        Args:
            table: as in a file of cases.
            report: called with each step of a debate that runs.
        """
        (case,) = submitted_cases([table], ["case"])
        refuse_uris([case], _PROTOCOL)
        named = named_by_content(case)
        # A task of its own: the protocol's library cancels a call again and again, which would interrupt its end.
        judging = asyncio.create_task(self._run.judge(named, records.store, None if report is None else _Steps(report)))
        try:
            debate_id = await asyncio.shield(judging)
        except asyncio.CancelledError:
            judging.cancel()
            raise
        return JuryOutcome.of(named, await records.result(debate_id), await records.item_messages(debate_id))


class _Steps:
    """Reports the live events of a debate, numbered from 1: how many there will be is not known before."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._number = 0

    def __call__(self, event: Mapping[str, Any]) -> Awaitable[None]:
        """Report an event; a chunk of the final judge's answer is a sign of life, and without words."""
        self._number += 1
        return self._report(self._number, said_of(event))
