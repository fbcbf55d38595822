"""`jury serve` killed with submissions: each that was acknowledged ends, once, whoever else has the store."""

import json
from collections import Counter
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from jury_store import open_store
from support.command_line import CommandLine
from support.served import line, started, url_in
from support.waiting import eventually

pytestmark = [pytest.mark.kill, pytest.mark.full_for("postgresql")]

SUBMITTED = 24
SLOW = ("--simulate", "latency=0.2")
PANEL = ("--panel", "independent")


def post(base: str, path: str, body: dict[str, object]) -> tuple[int, dict[str, str]]:
    """The status and the answer; 0: nobody answered."""
    request = Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=300) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)
    except (URLError, OSError):
        return 0, {}


def case(number: int) -> dict[str, object]:
    return {"case_id": f"c{number}", "question": f"Refund order {number}.", "response": "Refunded."}


@pytest.mark.full
def test_each_acknowledged_submission_of_a_killed_server_ends_once(tmp_path: Path, url: str) -> None:
    jury = CommandLine(tmp_path)
    serve = ("serve", "--port", "0", "--store", url, *PANEL, "--concurrency", "4")
    acknowledged = []
    with started(jury, *serve, *SLOW) as first:
        base = url_in(line(first))
        for number in range(SUBMITTED - 10):
            named: dict[str, object] = {"runId": "shared"} if number % 2 else {}
            status, answer = post(base, "/api/evaluations", {"case": case(number), **named})
            assert 202 == status, answer
            acknowledged.append(answer["id"])
        rows = [case(number) for number in range(SUBMITTED - 10, SUBMITTED)]
        status, answer = post(base, "/api/runs", {"cases": rows, "runId": "many", "concurrency": 2})
        first.kill()
        first.wait()
    acknowledged += [f"many~c{number}" for number in range(SUBMITTED - 10, SUBMITTED)]
    reader = open_store(url, write=False)
    with started(jury, *serve) as second:
        said = [line(second), line(second)]
        eventually(lambda: len(reader.ended_positions(acknowledged)) == SUBMITTED)
        repeated = post(url_in(said[0]), "/api/runs", {"cases": rows, "runId": "many"})
        second.terminate()
        code = second.wait(120)
    rows_of = reader.debates(waiting=None)
    reader.close()

    assert (202, 202, "finished") == (status, repeated[0], repeated[1]["state"])
    assert said[1].startswith("jury: going on with ")
    assert Counter(acknowledged) == Counter(row.debate_id for row in rows_of if row.status == "completed")
    assert SUBMITTED == len(rows_of)
    assert 0 == code
    checked = jury("verify", "--all", "--store", url)
    assert 0 == checked.code, checked.out


@pytest.mark.full
def test_a_command_and_two_servers_on_one_file_refuse_each_other_with_the_writers_name(
    tmp_path: Path, sqlite_url: str
) -> None:
    jury = CommandLine(tmp_path)
    files = jury.write("cases.jsonl", *map(case, range(3)))
    serve = ("serve", "--port", "0", "--store", sqlite_url, *PANEL)
    listed = jury.run("--list-only", files, "--run", "mine", "--store", sqlite_url, *PANEL)
    with started(jury, *serve, "--simulate", "latency=3600") as first, started(jury, *serve) as second:
        bases = [url_in(line(one)) for one in (first, second)]
        taken = post(bases[0], "/api/evaluations", {"case": case(1), "runId": "r"})
        refused = post(bases[1], "/api/evaluations", {"case": case(2), "runId": "r"})
        again = post(bases[1], "/api/evaluations", {"case": case(1), "runId": "r"})
        with started(jury, "run", "--in-process", files, "--run", "r", "--store", sqlite_url, *PANEL) as command:
            waits = next(text for text in iter(lambda: line(command), "") if "waiting" in text)
        cancelled = jury("cancel", "mine", "--by", "a person", "--store", sqlite_url)
        first.kill()
        first.wait()
        reader = open_store(sqlite_url, write=False)
        mine = reader.run("mine")
        eventually(lambda: reader.ended_positions(["r~c1"]))
        later = post(bases[1], "/api/evaluations", {"case": case(2), "runId": "r"})
        eventually(lambda: reader.ended_positions(["r~c2"]))
        debates = {row.debate_id: row.status for row in reader.debates(waiting=None)}
        reader.close()

    assert [202, 503, 202, 202] == [status for status, _ in (taken, refused, again, later)]
    assert f"is being written by process {first.pid}" in refused[1]["error"]
    assert ("running", True) == (again[1]["state"], f"process {first.pid}" in str(again[1]["process"]))
    assert f"is being written by process {first.pid}" in waits
    assert (0, 0) == (listed.code, cancelled.code), cancelled.err
    assert mine is not None
    assert "a person" == mine.cancelled_by
    waiting = {f"mine~c{number}": "waiting" for number in range(3)}
    assert {**waiting, "r~c1": "completed", "r~c2": "completed"} == debates
