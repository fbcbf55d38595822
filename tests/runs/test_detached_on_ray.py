"""A run that is detached to a Ray cluster: it lives there, and is listed, followed and cancelled as any other."""

import subprocess

import pytest

from support.command_line import CommandLine
from support.waiting import eventually

CASES = [{"id": name, "question": f"{name}?", "response": "Yes."} for name in ("one", "two")]
TWO_SEATS = (
    "seats: [{juror_id: a, model: simulated/juror}, {juror_id: b, model: simulated/juror}]\n"
    "final: {method: majority_vote}\n"
)


@pytest.fixture
def jury(tmp_path) -> CommandLine:
    jury = CommandLine(tmp_path)
    jury.write("cases.jsonl", *CASES)
    jury.write("two.yaml", TWO_SEATS)
    return jury


def call(jury: CommandLine, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    process = jury.start(*arguments)
    out, err = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def runs(jury: CommandLine, url: str) -> list[tuple[str, int, int]]:
    return [(run["state"], run["completed"], run["cancelled"]) for run in jury("runs", "--json", "--store", url).json]


@pytest.mark.full
@pytest.mark.ray
@pytest.mark.parametrize("database", [pytest.param("sqlite", marks=pytest.mark.long), "postgres"])
def test_a_run_lives_on_the_cluster_and_is_followed_and_cancelled(
    request: pytest.FixtureRequest, jury: CommandLine, cluster_address: str, database: str
) -> None:
    url = request.getfixturevalue(f"{database}_url")
    of_run = ("--ray-address", cluster_address, "--store", url, "--panel", "two.yaml")
    slow = ("--simulate", "latency=4", "--simulate", "sigma=0")
    begun = call(jury, "run", "cases.jsonl", "--run", "r1", "--detach", *of_run)
    followed = call(jury, "run", "cases.jsonl", "--run", "r1", "--jsonl", *of_run)
    eventually(lambda: [("complete", 2, 0)] == runs(jury, url))
    second = call(jury, "run", "cases.jsonl", "--run", "r2", "--detach", *of_run, *slow, "--concurrency", "1")
    cancelled = call(jury, "cancel", "r2", "--by", "ann", "--store", url)

    assert (0, b"r1\n") == (begun.returncode, begun.stdout), begun.stderr
    assert b"goes on in a process of the cluster" in begun.stderr
    assert 0 == followed.returncode, followed.stderr
    assert 2 == len(followed.stdout.splitlines())
    assert (0, b"r2\n") == (second.returncode, second.stdout), second.stderr
    assert 0 == cancelled.returncode, cancelled.stderr
    assert b"1 debate cancelled; 1 case not begun" in cancelled.stderr
    assert 0 == jury("verify", "--all", "--store", url).code


@pytest.mark.ray
def test_what_only_this_machine_has_is_refused_at_once(jury: CommandLine, cluster_address: str) -> None:
    detached = ("run", "cases.jsonl", "--run", "r1", "--detach", "--ray-address", cluster_address)
    sealed = jury(*detached, "--seal-key", "key")
    unreadable = jury("run", "none.jsonl", *detached[2:])

    assert 2 == sealed.code == unreadable.code
    assert "--seal-key names a file of this machine" in sealed.err
    assert "none.jsonl" in unreadable.err
