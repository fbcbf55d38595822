"""The tool that judges: cases of clients, into one run, many at once, within its budget."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import Field

from jury_events.text import visible_line
from jury_integrations.hosted_jury import named_by_content
from jury_integrations.jury_outcome import JuryOutcome
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import Jury, Records, RuntimeSettings
from jury_judge.runs.hosted_run import HostedRun
from jury_judge.runs.panel_actors import is_simulated
from jury_judge.runs.plan import panel_of_run
from jury_judge.serving.submitted_cases import refuse_uris, submitted_cases
from jury_judge.settings.serving import McpSettings
from jury_views.number_formats import of_hundred

Report = Callable[[int, str | None], Awaitable[None]]
"""Takes how many steps of a debate are done, and what the last one was."""

_PROTOCOL = "MCP"


_JUDGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)

_MOST = 200
"""Characters of a line: ids of jurors and labels are from the panel."""


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
        if not is_simulated(loaded):
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


def said_of(event: Mapping[str, Any]) -> str | None:
    """What happened; None: nothing that has words."""
    match event:
        case {"type": "phase_change", "phase": phase, "phaseNumber": number}:
            said = f"phase {number}: {str(phase).replace('_', ' ')}"
        case {"type": "juror_evaluation", "juror": juror, "verdict": verdict, "score": score}:
            said = f"{juror}: {event.get('label') or verdict} {score}/100"
        case {"type": "discussion_round_start", "round": number}:
            said = f"round {number}"
        case {"type": "juror_statement", "round": number, "juror": juror, "newVerdict": verdict, "newScore": score}:
            said = f"round {number}: {juror}: {event.get('newLabel') or verdict} {score}/100"
        case {"type": "consensus_check", "round": number, "consensus_status": status}:
            said = f"round {number}: {status}"
        case {"type": "final_judgment", "finalVerdict": verdict, "finalScore": score}:
            said = f"judgment: {event.get('finalLabel') or verdict} {of_hundred(score)}"
        case {"type": "final_judge_chunk"}:
            return None
        case _:
            said = str(event["type"]).replace("_", " ")
    return visible_line(said, _MOST)


def add_judging(server: PlainMcpServer, records: Records, judging: McpJudging) -> None:
    """Give a server the tool that judges into a run."""

    @server.tool(annotations=_JUDGES)
    async def judge(
        case: Annotated[
            dict[str, Any],
            Field(
                description="What is judged: question and response, or a transcript (a list of messages); optional "
                "case_id, policy (the instructions that the agent had), expected_behavior, tags, metadata."
            ),
        ],
        context: Context[Any, Any],
    ) -> dict[str, Any]:
        """Let the jury judge what an AI agent did, to the end of the debate. It may take minutes.

        The same case again costs nothing: its verdict is read from the record, and a debate that was interrupted goes
        on where it stopped. A changed case is a new one.
        """

        async def report(done: int, said: str | None) -> None:
            await context.report_progress(done, None, said)  # nothing where the client sent no token

        outcome = await judging.judge(case, records, report)
        return {**outcome.metadata, "passed": outcome.passed, "explanation": outcome.explanation}
