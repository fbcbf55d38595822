"""Cases of clients, judged one after another into one run, within its budget."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

from jury_events.case import Case
from jury_integrations.content_names import named_by_content
from jury_integrations.errors import DebateUnfinished
from jury_integrations.jury_outcome import JuryOutcome
from jury_judge import Jury, PlannedRun, Records, RuntimeSettings, SettingsRefused, judge_run
from jury_judge.serving.submissions import refuse_uris
from jury_judge.serving.submitted_cases import submitted_cases
from jury_judge.sessions.announced_jury import is_simulated
from jury_judge.sessions.planned_run import OneCase, loaded_panel
from jury_judge.sessions.run_session import RunOutcome
from jury_judge.settings.mcp import McpSettings

_PROTOCOL = "MCP"


class McpJudging:
    """Judges for the clients of a server; each call is a session of the run, so that its budget holds over all of them.

    While nothing is judged, the SQLite store is free for other processes.

    Args:
        settings: of the server; with a run.
        say: takes lines for the user: who receives the cases, a juror died …
        environ: where settings are read; None is `os.environ`.

    Raises:
        SettingsRefused: a model of the panel costs money, and there is no `max_cost`.
        JuryError: the panel or a setting cannot be used.
    """

    def __init__(
        self, settings: McpSettings, say: Callable[[str], None], environ: Mapping[str, str] | None = None
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._settings, self._say = settings.run, say
        self._loaded = loaded_panel(self._settings, self._environ)
        if settings.max_cost is None and not is_simulated(self._loaded):
            raise SettingsRefused("{max_cost} USD is needed: agents decide how often these models are asked")
        # Once now, so that a setting that cannot be used shows before a client asks.
        checked = Jury(
            self._loaded,
            store=settings.store_url,
            runtime=RuntimeSettings(in_process=True, simulate=settings.simulate),
            budget=self._settings,
            environ=self._environ,
        )
        self.store_url = checked.store_url
        self._one_at_a_time = asyncio.Lock()

    async def judge(self, table: Mapping[str, Any], records: Records) -> JuryOutcome:
        """Judge a case to its end, or read its verdict where it was judged.

        Args:
            table: as in a file of cases.
            records: of the store.

        Raises:
            CaseFileError: it has nothing to judge, or has a URI.
            DebateUnfinished: the debate has no judgment: the budget is used up, or it was cancelled.
            JuryError: it could not go on; the same call goes on with it.
        """
        (case,) = submitted_cases([table], ["case"])
        refuse_uris([case], _PROTOCOL)
        named = named_by_content(case)
        # A task of its own: the protocol's library cancels a call again and again, which would interrupt its end.
        judging = asyncio.create_task(self._run(named))
        try:
            outcome, lines = await asyncio.shield(judging)
        except asyncio.CancelledError:
            judging.cancel()
            raise
        for finished in outcome.problems:
            if finished.problem is not None:
                raise finished.problem
        if not lines:
            raise DebateUnfinished(f"the case was not judged: {outcome.short or 'the run was cancelled'}")
        debate_id = lines[0]["debate_id"]
        return JuryOutcome.of(named, await records.result(debate_id), await records.item_messages(debate_id))

    async def _run(self, case: Case) -> tuple[RunOutcome, list[dict[str, Any]]]:
        async with self._one_at_a_time:
            lines: list[dict[str, Any]] = []
            return await judge_run(self._planned(case), lines.append, say=self._say), lines

    def _planned(self, case: Case) -> PlannedRun:
        return PlannedRun(OneCase(case), self._settings, loaded=self._loaded, adopt=(), environ=self._environ)
