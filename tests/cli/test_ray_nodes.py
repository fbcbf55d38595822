"""A cluster of several nodes: each is looked at before anything is recorded or paid."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from support.command_line import CommandLine
from support.nodes import Nodes, ray_nodes
from support.waiting import eventually

pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray_nodes")]


CASES = [{"case_id": f"c{number}", "question": "Refund order 17.", "response": "Refunded."} for number in range(4)]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """The workers of the first node have keys of OpenAI and Anthropic, those of the second of OpenAI only."""
    folder = tempfile.mkdtemp(dir="/tmp", prefix="nodes-")
    key = Path(folder) / "anthropic-key"
    key.write_text("canary-of-a-file\n")
    first = {"OPENAI_API_KEY": "canary-1", "ANTHROPIC_API_KEY_FILE": str(key)}
    with ray_nodes(folder, first, {"OPENAI_API_KEY": "canary-2"}) as found:
        yield found
    shutil.rmtree(folder, ignore_errors=True)


def a_panel(jury: CommandLine, model: str) -> str:
    return jury.write("panel.json", {"preset": "independent", "seats": [{"model": model, "fallbacks": []}]})


def values(url: str, query: str) -> list[Any]:
    """The first column of the rows that a query finds."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = list(connection.execute(text(query)).scalars())
    engine.dispose()
    return found


def answered(jury: CommandLine, nodes: Nodes, *arguments: str) -> tuple[int, list[str], str]:
    process = jury.start(*arguments, "--ray-address", nodes.address, env=nodes.env)
    out, err = process.communicate()
    return process.returncode, out.decode().splitlines(), err.decode()


@pytest.mark.full
def test_doctor_names_the_node_without_a_key(jury: CommandLine, nodes: Nodes, postgres_url: str) -> None:
    looked = ("doctor", "--store", postgres_url, "--panel")
    without, with_all = (
        answered(jury, nodes, *looked, a_panel(jury, model))
        for model in ("anthropic/claude-haiku-5-5", "openai/gpt-5.4-mini")
    )

    of_nodes = [line for line in without[1] if " node " in line]
    assert (2, 2) == (without[0], len(of_nodes))
    assert sorted(line.split()[0] for line in of_nodes) == ["ok", "problem"]
    [problem] = [line for line in of_nodes if line.startswith("problem")]
    assert "needs a key; set ANTHROPIC_API_KEY" in problem
    assert 0 == with_all[0], with_all
    assert 2 == len([line for line in with_all[1] if line.startswith("ok       node 127.0.0.1 (")])
    assert "canary" not in str((without, with_all))


@pytest.mark.full
def test_a_run_names_the_node_without_a_key_before_anything_is_recorded(
    jury: CommandLine, nodes: Nodes, postgres_url: str
) -> None:
    panel = a_panel(jury, "anthropic/claude-haiku-5-5")
    code, out, err = answered(
        jury, nodes, "run", jury.write("c.jsonl", *CASES), "--panel", panel, "--store", postgres_url
    )

    assert (2, []) == (code, out), err
    assert "1 of 2 nodes of the Ray cluster cannot run jurors: 127.0.0.1 (" in err
    assert "set ANTHROPIC_API_KEY" in err
    assert "Traceback" not in err
    assert "canary" not in err
    assert [0] == values(postgres_url, "SELECT count(*) FROM events")


@pytest.mark.full
def test_several_nodes_need_postgresql(jury: CommandLine, nodes: Nodes) -> None:
    code, out, err = answered(jury, nodes, "run", jury.write("c.jsonl", *CASES))
    looked = answered(jury, nodes, "doctor")

    assert (2, []) == (code, out), err
    assert "the Ray cluster has 2 nodes, and a SQLite file is on one of them only: use a PostgreSQL store" in err
    assert 2 == looked[0]
    assert any("2 nodes, and a SQLite store is on one of them" in line for line in looked[1])


@pytest.mark.full
@pytest.mark.timeout(900)
def test_jurors_move_to_a_node_that_joined(jury: CommandLine, nodes: Nodes, postgres_url: str) -> None:
    """Their number is fixed: the two nodes have two each, and one of each moves to the larger node."""
    cases = jury.write("many.jsonl", *({**CASES[0], "case_id": f"c{number}"} for number in range(5_000)))
    log = jury.folder / "run.log"
    with log.open("wb") as stderr:
        running = jury.start(
            *("run", cases, "--store", postgres_url, "--run", "r", "--concurrency", "4", "--replicas", "1"),
            *("--simulate", "latency=0.5", "--ray-address", nodes.address),
            env=nodes.env,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )

    def comes(what: Callable[[], object]) -> None:
        eventually(lambda: running.poll() is not None or what())
        assert running.poll() is None, log.read_text()[-2000:]

    comes(lambda: [2, 2] == [len(found) for found in nodes.jurors()])
    nodes.do('add {"CPUS": 4}')
    comes(lambda: "joined: it has 2 of " in log.read_text())
    comes(lambda: [1, 1, 2] == [len(found) for found in nodes.jurors()])
    interrupted = "was lost" in log.read_text()
    running.terminate()
    code = running.wait(300)
    nodes.do("kill 2")

    assert 130 == code, log.read_text()[-2000:]
    assert not interrupted
    assert 0 == jury("verify", "--store", postgres_url, "--all").code
