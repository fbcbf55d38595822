"""`jury serve` and `jury watch`: debates in a browser, over HTTP, and in the terminal, from one feed."""

import json
import signal
import socket

import httpx2
import pytest

from jury_migrations import upgrade
from jury_store import open_store
from support.command_line import CommandLine
from support.served import CASE, line, started, url_in
from support.writing import Writing


def test_serve_shows_and_runs_debates_and_ends_with_ctrl_c(jury: CommandLine) -> None:
    with started(jury, "serve", "--port", "0", "--panel", "independent") as server:
        base = url_in(line(server))
        page = httpx2.get(f"{base}/", timeout=300)
        answer = httpx2.post(f"{base}/api/evaluations", json={"case": CASE, "runId": "r"}, timeout=300)
        httpx2.get(base + answer.json()["links"]["live"], timeout=300)
        server.send_signal(signal.SIGINT)
        _, said = server.communicate()

    assert (200, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
    assert 202 == answer.status_code
    assert 0 == server.returncode
    assert "Traceback" not in said.decode()
    assert "completed" == jury("list", "--json").json[0]["status"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--read-only",), "jury: ending\n"),
        (
            ("--panel", "independent", "--simulate", "latency=600"),
            "jury: ending; 1 submission under way: the next server of this store goes on\n",
        ),
    ],
)
def test_the_end_of_a_server_reports_unfinished_debates(jury: CommandLine, options: tuple[str, ...], said: str) -> None:
    upgrade(f"sqlite:///{jury.folder / 'jury.db'}")
    with started(jury, "serve", "--port", "0", *options) as server:
        base = url_in(line(server))
        httpx2.post(f"{base}/api/evaluations", json={"case": CASE}, timeout=300)
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate()

    assert said == errors.decode().splitlines(keepends=True)[-1]


@pytest.mark.full
def test_off_loopback_a_token_is_made_printed_once_and_asked_for(jury: CommandLine) -> None:
    upgrade(f"sqlite:///{jury.folder / 'jury.db'}")
    with started(jury, "serve", "--port", "0", "--host", "0.0.0.0", "--read-only") as server:
        token = line(server).removeprefix("token: ").split()[0]
        base = url_in(line(server))
        without = httpx2.get(f"{base}/api/health", timeout=300)
        found = httpx2.get(f"{base}/api/health", headers={"authorization": f"Bearer {token}"}, timeout=300)

    assert (401, 200) == (without.status_code, found.status_code)
    assert len(token) >= 32


@pytest.mark.full
def test_a_token_that_is_given_is_asked_for_on_loopback_too_and_not_printed(jury: CommandLine) -> None:
    token = "a token that is not guessed"
    with started(jury, "serve", "--port", "0", env={"JURY_SERVE_TOKEN": token}) as server:
        said = line(server)
        answer = httpx2.get(f"{url_in(said)}/api/health", timeout=300)

    assert 401 == answer.status_code
    assert token not in said


def test_a_port_in_use_is_named(jury: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = jury("serve", "--port", str(port))

    assert 2 == outcome.code
    assert f"127.0.0.1:{port}: Address already in use" in outcome.err


def test_watch_prints_a_debate_to_its_end(judged: CommandLine) -> None:
    plain = judged("watch", "r1~leak")
    as_json = judged("watch", "r1~leak", "--json")

    assert (0, 0) == (plain.code, as_json.code)
    assert plain.out.splitlines()[0] == "phase 1: independent evaluation"
    assert plain.out.splitlines()[-1].startswith("completed after ")
    first, last = as_json.lines[0], as_json.lines[-1]
    assert ("r1~leak", "phase_change") == (first["debate_id"], first["event"]["type"])
    assert "evaluation_completed" == last["event"]["type"]
    assert {"debate_id", "id", "event"} == first.keys()


def test_watch_names_each_debate_where_there_are_several(judged: CommandLine) -> None:
    outcome = judged("watch", "r1~leak", "r1~polite")

    assert 0 == outcome.code
    assert {"r1~leak", "r1~polite"} == {one.split("  ")[0] for one in outcome.out.splitlines()}


@pytest.mark.full
def test_watch_follows_a_run_and_ends_with_ctrl_c(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    before, later = Writing(store, "a", run_id="r"), Writing(store, "b", seed=2, run_id="r")
    other = Writing(store, "c", seed=3, run_id="s")
    before.write(before.script.opened())
    with started(jury, "watch", "--run", "r", "--json") as watching:
        assert watching.stdout is not None
        assert "Ctrl-C ends it" in line(watching)
        seen = [json.loads(watching.stdout.readline())]
        other.write(*other.script.whole())
        later.write(*later.script.whole())
        before.write(*before.script.whole()[1:])
        seen += [json.loads(watching.stdout.readline()) for _ in range(9)]
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate()
    store.close()

    assert 130 == watching.returncode
    assert b"interrupted" in said
    assert {"a": 5, "b": 5} == {name: sum(one["debate_id"] == name for one in seen) for name in ("a", "b")}


@pytest.mark.full
def test_watch_follows_the_debates_whose_cases_match_the_conditions(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    before, later, other, another = (Writing(store, name, seed=seed) for seed, name in enumerate("abcd"))
    before.write(before.script.opened(tags=("refund",)))
    other.write(other.script.opened())
    with started(jury, "watch", "--where", "tags=refund", "--json") as watching:
        assert watching.stdout is not None
        assert "Ctrl-C ends it" in line(watching)
        seen = [json.loads(watching.stdout.readline())]
        another.write(*another.script.whole())
        later.write(later.script.opened(tags=("refund",)), *later.script.whole()[1:])
        seen += [json.loads(watching.stdout.readline()) for _ in range(5)]
        watching.send_signal(signal.SIGINT)
        watching.communicate()
    store.close()

    assert ["a", "b", "b", "b", "b", "b"] == [one["debate_id"] for one in seen]


def test_watch_names_a_debate_that_cannot_be_read(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    bad, good = Writing(store, "bad"), Writing(store, "good", seed=2)
    bad.write(bad.script.opened()._replace(schema=99))
    good.write(*good.script.whole())
    store.close()

    outcome = jury("watch", "bad", "good")

    assert 5 == outcome.code
    assert "debate bad cannot be read" in outcome.err
    assert "good  completed" in outcome.out
