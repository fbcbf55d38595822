"""`jury serve --ray-address`: submissions are judged on the cluster, and a server that was killed is succeeded."""

import json

import httpx2
import pytest

from support.command_line import CommandLine
from support.served import CASE, line, started, url_in
from support.waiting import eventually

TWO_SEATS = {
    "preset": "independent",
    "seats": [{"juror_id": name, "model": "simulated/juror"} for name in ("a", "b")],
    "final": {"method": "majority_vote"},
}
NEVER = ("--simulate", "latency=3000", "--simulate", "sigma=0")


@pytest.mark.full
@pytest.mark.ray
@pytest.mark.kill
def test_what_was_submitted_is_judged_on_the_cluster_and_by_the_next_server(
    jury: CommandLine, cluster_address: str
) -> None:
    (jury.folder / "two.json").write_text(json.dumps(TWO_SEATS))
    serve = ("serve", "--port", "0", "--panel", "two.json", "--ray-address", cluster_address)
    with started(jury, *serve, *NEVER) as server:
        base = url_in(line(server))
        answer = httpx2.post(f"{base}/api/evaluations", json={"case": CASE, "runId": "r"}, timeout=300)
        eventually(lambda: httpx2.get(f"{base}/api/debates", timeout=300).json()["rows"])
        writer = httpx2.get(f"{base}/api/health", timeout=300).json()["writer"]
        pid = server.pid
        server.kill()
        server.wait()
    with started(jury, *serve) as server:
        said = [line(server), line(server)]
        base = url_in(said[0])
        eventually(lambda: "completed" in [row["status"] for row in debates(base)], 300)
        found = debates(base)
        server.terminate()
        code = server.wait(120)

    assert 202 == answer.status_code
    assert pid != writer["pid"]
    assert "jury: going on with 1 submission of an earlier server" == said[1]
    assert [("r~refund", 2, 2)] == [(row["debateId"], row["calls"], row["askedAgain"]) for row in found]
    assert 0 == code
    assert 0 == jury("verify", "--all").code
    assert 0 == jury("replay", "--all").code


def debates(base: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = httpx2.get(f"{base}/api/debates", timeout=300).json()["rows"]
    return rows
