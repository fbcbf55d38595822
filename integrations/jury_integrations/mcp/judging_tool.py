"""The tool that judges."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import Field

from jury_integrations.mcp.judging import McpJudging
from jury_integrations.mcp.plain_errors import PlainMcpServer
from jury_judge import Records

_JUDGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)


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
