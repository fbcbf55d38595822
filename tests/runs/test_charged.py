"""What the provider charges a run with a budget, whose command is killed while calls are in flight."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.charging_server import TOKENS, ChargingServer, charging_server
from support.command import JURY, Command
from support.waiting import eventually

pytestmark = [pytest.mark.kill]

A_CALL = sum(TOKENS) * 10e-6
"""Dollars."""

MOST = 1.2
AT_ONCE = 6


@pytest.fixture
def server() -> Iterator[ChargingServer]:
    with charging_server() as server:
        yield server


@pytest.fixture
def panel(tmp_path: Path, server: ChargingServer) -> Path:
    """Three seats at the server, at 10 dollars a million tokens."""
    (tmp_path / "prices.toml").write_text('[[price]]\nmodels = ["away/*"]\ninput = 10.0\noutput = 10.0\n')
    path = tmp_path / "panel.yaml"
    path.write_text(
        f"providers: {{away: {{protocol: openai, base_url: '{server.url}/v1'}}}}\n"
        "preset: independent\nsettings: {tries: 1, max_output_tokens: 100}\n"
        "seats: [{model: away/m, juror_id: a}, {model: away/m, juror_id: b}, {model: away/m, juror_id: c}]\n"
    )
    return path


def kill_with_calls_in_flight(command: Command, server: ChargingServer, options: tuple[str, ...]) -> None:
    server.hold()
    before = server.charged
    running = command.start(*options)
    eventually(lambda: running.process.poll() is not None or server.charged - before >= AT_ONCE)
    assert running.process.poll() is None, running.stderr
    running.kill_everything()
    server.release()
    eventually(lambda: not server.held)


def killed_and_resumed(command: Command, server: ChargingServer, panel: Path, kills: int) -> str:
    """The last lines of a run with a budget, after its process was killed so often with calls in flight."""
    options = ("--in-process", "--concurrency", "2", "--panel", str(panel), "--max-cost", str(MOST))
    options += ("--prices", str(panel.with_name("prices.toml")))
    for _ in range(kills):
        kill_with_calls_in_flight(command, server, options)
    listed = json.loads(listed_runs(command))
    assert AT_ONCE * kills <= listed[0]["unrecorded_calls"] <= (AT_ONCE + 2) * kills
    last = command.call(*options)
    assert last.process.returncode == 4, last.stderr
    return last.stderr


def listed_runs(command: Command) -> str:
    arguments = [JURY, "runs", "--json", "--store", command.store_url]
    return subprocess.run(arguments, env=command.environment(), capture_output=True, check=True, text=True).stdout


@pytest.fixture(params=["command", pytest.param("postgres_command", marks=pytest.mark.long)])
def on_either(request: pytest.FixtureRequest) -> Command:
    """`jury run` over the cases, with a store on each database."""
    found: Command = request.getfixturevalue(request.param)
    return found


@pytest.mark.full
@pytest.mark.parametrize("kills", [2, pytest.param(5, marks=pytest.mark.long)])
def test_a_run_that_is_killed_with_calls_in_flight_is_charged_no_more_than_its_budget(
    on_either: Command, server: ChargingServer, panel: Path, kills: int
) -> None:
    said = killed_and_resumed(on_either, server, panel, kills)

    assert server.charged * A_CALL <= MOST, said
    assert "sent and not recorded" in said
    assert f"a higher bound than ${MOST:.2f}" in said


@pytest.mark.full
def test_a_command_that_waited_for_another_claims_none_of_its_calls(
    on_either: Command, server: ChargingServer, panel: Path
) -> None:
    options = ("--in-process", "--panel", str(panel), "--limit", "2")
    server.hold()
    first = on_either.start(*options)
    eventually(lambda: first.process.poll() is not None or server.held >= AT_ONCE)
    second = on_either.start(*options)
    eventually(lambda: second.process.poll() is not None or "waiting up to" in second.stderr)
    server.release()
    first.ends()
    charged = server.charged
    second.ends()

    assert server.charged == charged
    assert f"{charged} calls, " in first.stderr
    assert "this command: 0 calls, " in second.stderr
    assert f"the run: {charged} calls, " in second.stderr
    assert "2 debates judged before, none now" in second.stderr
