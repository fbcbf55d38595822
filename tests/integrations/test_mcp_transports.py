"""`jury mcp` as a process, with the real client over standard input and output and over HTTP."""

import json
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psutil
import pytest

from jury_judge import open_or_create
from jury_store import open_store
from support.command_line import JURY, CommandLine, environment
from support.waiting import comes, eventually

CASE = {"question": "Refund order 7.", "response": "Refunded to 4242."}
CONFIGURATIONS = re.findall(
    r"```json\n(.*?)```", (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8"), re.DOTALL
)
JUDGING = ["mcp", "--run", "agents"]
TOKEN = "a-token-of-the-test-0123456789"


def over_stdio(jury: CommandLine, *arguments: str) -> Any:
    from mcp import Client, StdioServerParameters

    return Client(StdioServerParameters(command=JURY, args=[*arguments], cwd=jury.folder, env=environment(None)))


async def judged(client: Any) -> dict[str, Any]:
    answer = await client.call_tool("judge", {"case": CASE})
    assert not answer.is_error, answer.content
    found: dict[str, Any] = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    return found


def steps(jury: CommandLine) -> dict[str, list[bytes]]:
    """The recorded calls, by the run's only debate."""
    with closing(open_store(f"sqlite:///{jury.folder}/jury.db", write=False)) as store:
        rows = store.debates(run_id="agents", limit=10)
        return {row.debate_id: [one.body for one in store.history(row.debate_id).stored_exchanges] for row in rows}


async def test_a_client_starts_the_server_and_it_ends_with_its_input(jury: CommandLine) -> None:
    async with over_stdio(jury, *JUDGING) as client:
        first = await judged(client)
        (process,) = [one for one in psutil.Process().children() if "mcp" in one.cmdline()]

    assert not process.is_running()
    assert [first["debate_id"]] == list(steps(jury))


@pytest.mark.full
async def test_after_a_kill_the_same_call_asks_nothing_twice(jury: CommandLine) -> None:
    with anyio.CancelScope() as calling:
        async with (
            over_stdio(jury, *JUDGING, "--simulate", "latency=0.2") as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(judged, client)

            async def kill() -> None:
                await comes(lambda: (jury.folder / "jury.db").exists() and any(steps(jury).values()))
                (process,) = [one for one in psutil.Process().children() if "mcp" in one.cmdline()]
                process.send_signal(signal.SIGKILL)
                calling.cancel()

            tasks.start_soon(kill)
    (before,) = steps(jury).values()
    async with over_stdio(jury, *JUDGING) as client:
        await judged(client)
    (after,) = steps(jury).values()
    names = [(json.loads(body)["step"], json.loads(body)["attempt"]) for body in after]

    assert 0 < len(before) < len(after)
    assert before == after[: len(before)]
    assert len(names) == len(set(names))


@asynccontextmanager
async def serving(jury: CommandLine, *arguments: str) -> AsyncIterator[str]:
    process = jury.start("mcp", "--http", "--port", "0", *arguments)
    assert process.stderr is not None
    line = await anyio.to_thread.run_sync(process.stderr.readline)
    found = re.search(rb"http://\S+", line)
    assert found is not None, line
    yield found.group().decode()
    process.send_signal(signal.SIGTERM)
    assert 0 == await anyio.to_thread.run_sync(process.wait)


@pytest.mark.full
async def test_over_http_a_client_judges_and_reads(jury: CommandLine) -> None:
    from mcp import Client

    async with serving(jury, "--run", "agents") as url, Client(url) as client:
        first = await judged(client)
        found = await client.read_resource(f"jury://debates/{first['debate_id']}")

    assert first["debate_id"] == json.loads(found.contents[0].text)["debate_id"]  # type: ignore[union-attr]


@pytest.mark.full
async def test_over_http_tokens_hosts_and_origins_are_those_of_serve(jury: CommandLine) -> None:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    open_or_create(f"sqlite:///{jury.folder}/jury.db").close()
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with serving(jury, "--token", TOKEN) as url, httpx2.AsyncClient() as plain:
        answers = [
            await plain.post(url, json=initialize, headers=headers)
            for headers in (
                {},
                {"Authorization": "Bearer wrong-token-of-the-test"},
                {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"},
                {"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"},
            )
        ]
        json_body = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        nested = await plain.post(url, content="[" * 1_000_000, headers=json_body)
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as bearer,
            Client(streamable_http_client(url, http_client=bearer)) as client,
        ):
            tools = [tool.name for tool in (await client.list_tools()).tools]

    assert [401, 401, 421, 403] == [answer.status_code for answer in answers]
    assert (400, "Parse error") == (nested.status_code, nested.json()["error"]["message"].partition(":")[0])
    assert "judge" not in tools
    assert "list_debates" in tools


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
async def test_the_page_has_the_configuration_of_each_client(jury: CommandLine, number: int) -> None:
    open_or_create(f"sqlite:///{jury.folder}/jury.db").close()
    ((_, servers),) = json.loads(CONFIGURATIONS[number]).items()
    asked = servers["jury"]
    if "url" in asked:
        async with serving(jury, "--token", TOKEN) as url:
            assert re.sub(r":\d+", ":8766", url) == asked["url"]
            assert {"Authorization": "Bearer ${JURY_SERVE_TOKEN}"} == asked["headers"]
        return
    arguments = [one.replace("/home/me/jury.db", str(jury.folder / "jury.db")) for one in asked["args"]]
    async with over_stdio(jury, *arguments) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]

    assert "jury" == asked["command"]
    assert ("--run" in asked["args"]) == ("judge" in tools)


@pytest.mark.full
def test_a_store_that_is_not_there_is_refused(jury: CommandLine) -> None:
    outcome = jury("mcp")

    assert 1 == len(outcome.err.splitlines())
    assert not (jury.folder / "jury.db").exists()


@pytest.mark.full
def test_signals_end_the_server_while_its_client_is_silent(jury: CommandLine) -> None:
    process = jury.start("mcp", "--run", "agents", stdin=subprocess.PIPE)
    eventually((jury.folder / "jury.db").exists)
    process.send_signal(signal.SIGTERM)

    assert 130 == process.wait()
