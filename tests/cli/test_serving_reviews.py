"""`jury serve` with reviewers and with a webhook: what it asks for, and what it does."""

import json
import signal
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx2
import pytest

from support.command_line import CommandLine
from support.served import CASE, line, started, url_in
from support.waiting import eventually

ANN = "the token of ann is long"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def reviewers(jury: CommandLine) -> Path:
    file = jury.folder / "reviewers.yaml"
    file.write_text(f"ann: {ANN}\n")
    return file


@pytest.mark.full
def test_reviewers_review_what_the_server_judged_and_a_token_is_needed_on_loopback(
    jury: CommandLine, reviewers: Path
) -> None:
    options = ("--panel", "independent", "--reviewers", str(reviewers))
    with started(jury, "serve", "--port", "0", *options) as server:
        token = line(server).removeprefix("token: ").split()[0]
        base = url_in(line(server))
        own, ann = ({"authorization": f"Bearer {one}"} for one in (token, ANN))
        without = httpx2.get(f"{base}/api/health", timeout=300)
        made = httpx2.post(f"{base}/api/evaluations", json={"case": CASE, "runId": "r"}, headers=own, timeout=300)
        httpx2.get(base + made.json()["links"]["live"], headers=own, timeout=300)
        debate = f"{base}/api/debates/r~refund"
        before = httpx2.get(debate, headers=ann, timeout=300)
        recorded = httpx2.post(f"{debate}/reviews", json={"verdict": "needs_review"}, headers=ann, timeout=300)
        after = httpx2.get(debate, headers=ann, timeout=300)
        server.send_signal(signal.SIGINT)
        server.communicate()

    assert (401, 403, 201, 200) == (without.status_code, before.status_code, recorded.status_code, after.status_code)
    row = jury("list", "--json").json[0]
    assert ("needs_review", ["ann"]) == (row["disposition"], [one["reviewer"] for one in row["reviews"]])


@pytest.mark.full
def test_a_webhook_is_sent_while_the_server_runs(jury: CommandLine) -> None:
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    receiver = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{receiver.server_address[1]}/"
        options = ("--panel", "independent", "--on-review-needed", url)
        with started(jury, "serve", "--port", "0", *options, env={"JURY_WEBHOOK_SECRET": SECRET}) as server:
            base = url_in(line(server))
            made = httpx2.post(f"{base}/api/evaluations", json={"case": CASE, "runId": "r"}, timeout=300)
            httpx2.get(base + made.json()["links"]["live"], timeout=300)
            server.send_signal(signal.SIGINT)
            server.communicate()
        assert 0 == jury("review", "r~refund", "--reviewer", "boss", "--assign", "ann").code
        with started(jury, "serve", "--port", "0", *options, env={"JURY_WEBHOOK_SECRET": SECRET}) as server:
            line(server)
            eventually(lambda: any(b'"assigned"' in body for body in got))
            server.send_signal(signal.SIGINT)
            server.communicate()
    finally:
        receiver.shutdown()
        thread.join()
        receiver.server_close()

    (message,) = [json.loads(body) for body in got if b'"assigned"' in body]
    assert ("r~refund", "ann") == (message["data"]["debateId"], message["data"]["reviewer"])
    journal = (jury.folder / "jury.db.deliveries.jsonl").read_text()
    assert '"status": 204' in journal
    assert SECRET not in journal
