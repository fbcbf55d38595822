"""`jury serve` and `jury watch`: debates in a browser, over HTTP, and in the terminal, from one feed."""

import signal

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
def test_who_has_only_a_cassette_serves_it_below_the_path_of_a_proxy(judged: CommandLine) -> None:
    judged("export", "r1~leak", "-o", "leak.cassette.jsonl")
    with started(judged, "serve", "leak.cassette.jsonl", "--port", "0", "--root-path", "/jury") as server:
        base = url_in(line(server))
        page = httpx2.get(f"{base}/debates/r1~leak", timeout=300)
        judging = httpx2.post(f"{base}/api/evaluations", json={"case": CASE}, timeout=300)
    stores = [judged("serve", "leak.cassette.jsonl", "--store", "sqlite:///x.db"), judged("serve", "jury.db")]

    assert (200, True) == (page.status_code, 'href="/jury/static/style.css"' in page.text)
    assert 422 == judging.status_code
    assert [2, 2] == [one.code for one in stores]
    assert "name it with --store" in stores[1].err


@pytest.mark.full
def test_a_token_that_is_given_is_asked_for_on_loopback_too_and_not_printed(jury: CommandLine) -> None:
    token = "a token that is not guessed"
    with started(jury, "serve", "--port", "0", env={"JURY_SERVE_TOKEN": token}) as server:
        said = line(server)
        answer = httpx2.get(f"{url_in(said)}/api/health", timeout=300)

    assert 401 == answer.status_code
    assert token not in said


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
