"""Messages about debates that wait for a person: signed, tried again, never lost at a restart."""

import asyncio
import base64
import errno
import hashlib
import hmac
import json
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jury_events.envelope import StoredEvent
from jury_events.errors import SettingError
from jury_events.review_events import ReviewSample
from jury_events.verdict import Verdict
from jury_judge.errors import JournalFailed
from jury_judge.reviews.review_changes import NewReview
from jury_judge.reviews.reviews import assign_review, record_review, withdraw_review
from jury_judge.webhooks import deliveries as deliveries_module
from jury_judge.webhooks.deliveries import DELAYS, ReviewDeliveries, deliver
from jury_judge.webhooks.journal import DeliveryJournal
from jury_judge.webhooks.sender import SendOutcome, WebhookSender
from jury_judge.webhooks.signature import signed_headers, webhook_secret
from jury_replay.cassettes.importing import import_cassette
from jury_replay.cassettes.reading import read_cassette
from jury_store.errors import StoreFailed
from jury_store.event_store import EventStore
from jury_store.memory import MemoryEventStore
from jury_store.opening import open_store
from support.cassettes import out_of
from support.reviewed import judged_debate
from support.tls import server_context
from support.waiting import until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = webhook_secret(SECRET, "a test")
_SECOND = 1_000_000


class Receiver:
    """A local server that answers with the given statuses, the last one again and again."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    def status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The URL of a local server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def receiving(*statuses: int, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver(*statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status())
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with serving(Handler, tls) as url:
        receiver.url = f"{url}hook?key=hidden"
        yield receiver


@contextmanager
def answering_slowly() -> Iterator[str]:
    """The URL of a local server that sends the head of its answer byte by byte, every 20 ms, for four seconds."""
    ending = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with suppress(OSError):
                for byte in b"HTTP/1.1 204 " + b"x" * 187:
                    self.connection.sendall(bytes([byte]))
                    if ending.wait(0.02):
                        return
                self.connection.sendall(b"\r\n\r\n")

        def log_message(self, *_arguments: object) -> None:
            pass

    with serving(Handler) as url:
        try:
            yield url
        finally:
            ending.set()


class Clock:
    """Microseconds, set by the test."""

    def __init__(self) -> None:
        self.now = 1_700_000_000 * _SECOND

    def __call__(self) -> int:
        return self.now


class ScriptedSender:
    """Ends attempts as it is given, the last one again and again."""

    def __init__(self, *outcomes: SendOutcome) -> None:
        self.outcomes = list(outcomes)
        self.sent: list[tuple[str, bytes]] = []

    def send(self, message_id: str, seconds: int, body: bytes) -> SendOutcome:
        self.sent.append((message_id, body))
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]


class FailingStore(MemoryEventStore):
    """Reading its log fails as `failure` says; `reads` counts all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self.reads = 0

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        self.reads += 1
        if self.failure is not None:
            raise self.failure
        return super().read_all(after, limit)


class FullDisk:
    """Of what is written to `file` only the first bytes fit while it is `full`."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full, self._file, self._write = True, file, os.write
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, content: bytes) -> int:
        if not self.full or not os.path.samestat(os.fstat(descriptor), self._file.stat()):
            return self._write(descriptor, content)
        if len(content) > 5:
            return self._write(descriptor, content[: len(content) - 5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@asynccontextmanager
async def delivering(deliveries: ReviewDeliveries) -> AsyncIterator[None]:
    """Deliver meanwhile; a step that failed is followed by the next at once."""
    stopping = asyncio.Event()
    task = asyncio.create_task(deliver(deliveries, stopping, again=0.0))
    try:
        yield
    finally:
        stopping.set()
        await task


OK = SendOutcome(204, None)
DOWN = SendOutcome(None, "Connection refused")


@pytest.fixture
def journal_file(tmp_path: Path) -> Path:
    return tmp_path / "deliveries.jsonl"


def steps(deliveries: ReviewDeliveries, number: int = 10) -> None:
    for _ in range(number):
        deliveries.step()


def whys(sender: ScriptedSender) -> list[tuple[str, str | None]]:
    data = [json.loads(body)["data"] for _, body in sender.sent]
    return [(one["why"], one["reviewer"]) for one in data]


def test_the_signature_is_that_of_the_specifications_example() -> None:
    key = webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a test")

    assert {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    } == signed_headers(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_c2hvcnQ=", "no prefix", SECRET[6:], "whsec_!!!!", SECRET + "é"]
)
def test_another_secret_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(SettingError, match=r"^FILE: a secret is whsec_") as refused:
        webhook_secret(secret, "FILE")

    assert "c2hvcnQ" not in str(refused.value)


@pytest.mark.parametrize("kind", ["sqlite_url", "postgres_url"])
def test_a_server_that_fails_first_gets_every_message_signed_with_the_same_id(
    kind: str, request: pytest.FixtureRequest, journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(request.getfixturevalue(kind), write=True)
    clock, journal = Clock(), DeliveryJournal(journal_file, 0)
    judged_debate(store, "d", case_id="refund")
    judged_debate(store, "passed", Verdict.SAFE_PASS, seed=2)
    with receiving(500, 302, 204) as receiver:
        deliveries = ReviewDeliveries(store, journal, WebhookSender(receiver.url, KEY), clock=clock)
        steps(deliveries)
        assert 1 == len(receiver.got)
        for delay in DELAYS[:2]:
            clock.now += delay * _SECOND
            steps(deliveries)
        clock.now += 10**6 * _SECOND
        steps(deliveries)
    store.close()
    journal.close()

    assert 3 == len(receiver.got)
    for headers, body in receiver.got:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert f"v1,{expected}" == headers["webhook-signature"]
        assert "application/json" == headers["content-type"]
    assert 1 == len({headers["webhook-id"] for headers, _ in receiver.got})
    assert 3 == len({headers["webhook-timestamp"] for headers, _ in receiver.got})
    message = json.loads(receiver.got[0][1])
    assert "review.needed" == message["type"]
    assert {
        "debateId": "d",
        "caseId": "refund",
        "runId": "run",
        "why": "needs_review",
        "reviewer": None,
    } == message["data"]
    assert ["attempt 1: status 500", "attempt 2: status 302"] == [
        one.getMessage().partition(": ")[2] for one in caplog.records
    ]
    assert "hidden" not in caplog.text
    attempts = [json.loads(line).get("attempt") for line in journal_file.read_text().splitlines()]
    assert [500, 302, 204] == [one["status"] for one in attempts if one]
    assert SECRET not in journal_file.read_text()


def test_assignments_and_reviewers_who_differ_cause_messages_and_other_reviews_are_not(journal_file: Path) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "d", Verdict.SAFE_PASS)
    assign_review(store, "d", "ann", by="boss")
    assign_review(store, "d", "bob", by="boss", sample=ReviewSample(seed=1, size=1, population=1))
    deliveries = ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender)
    steps(deliveries)
    record_review(store, "d", NewReview("ann", Verdict.SAFE_PASS, "The reason."))
    record_review(store, "d", NewReview("bob", Verdict.UNSAFE_FAIL))
    steps(deliveries)

    assert [("assigned", "ann"), ("sampled", "bob"), ("disputed", None)] == whys(sender)
    assert not any(b"reason" in body or b"unsafe" in body for _, body in sender.sent)


def test_who_was_not_asked_here_or_is_asked_no_more_gets_no_message(journal_file: Path, tmp_path: Path) -> None:
    store, elsewhere, sender = MemoryEventStore(), MemoryEventStore(), ScriptedSender(OK)
    judged_debate(elsewhere, "foreign", Verdict.SAFE_PASS)
    assign_review(elsewhere, "foreign", "boss", by="mallory")
    cassette = tmp_path / "foreign.cassette.jsonl"
    cassette.write_bytes(out_of(elsewhere, "foreign"))
    import_cassette(store, read_cassette(cassette), clock=lambda: 7)
    judged_debate(store, "d", Verdict.SAFE_PASS, seed=2)
    for reviewer in ("ann", "bob", "cho"):
        assign_review(store, "d", reviewer, by="lead")
    withdraw_review(store, "d", 1, by="lead")
    record_review(store, "d", NewReview("bob", Verdict.SAFE_PASS))
    steps(ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender))

    assert [("assigned", "cho")] == whys(sender)


PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("said", "disputes"),
    [
        ([("ann", PASS), ("bob", FAIL)], [2]),
        ([("ann", PASS), ("bob", FAIL), ("cho", Verdict.NEEDS_REVIEW)], [2]),
        ([("ann", PASS), ("bob", FAIL), ("cho", PASS), 3], [2, 4]),
        ([("ann", PASS), ("bob", PASS), ("cho", FAIL), 2], [4]),
        ([("ann", PASS), ("bob", PASS), ("ann", FAIL)], [3]),
    ],
)
def test_a_message_is_sent_for_what_begins_a_dispute_only(
    said: list[tuple[str, Verdict] | int], disputes: list[int], journal_file: Path, *, at_once: bool
) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "d", PASS)
    deliveries = ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender)
    begun = []
    for number, one in enumerate(said, 1):
        if isinstance(one, int):
            withdraw_review(store, "d", one, by="lead")
        else:
            record_review(store, "d", NewReview(*one))
        if not at_once:
            steps(deliveries)
            begun += [number] * (len(sender.sent) - len(begun))
    steps(deliveries)

    assert [("disputed", None)] * len(disputes) == whys(sender)
    assert len(disputes) == len({message_id for message_id, _ in sender.sent})
    assert at_once or disputes == begun


def test_a_dispute_that_is_over_causes_no_message(journal_file: Path) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "d", PASS)
    for reviewer, verdict in (("ann", PASS), ("bob", FAIL), ("cho", PASS)):
        record_review(store, "d", NewReview(reviewer, verdict))
    steps(ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender))

    assert [] == sender.sent


def test_what_was_not_delivered_is_sent_after_a_restart_and_the_rest_is_not(journal_file: Path) -> None:
    store, clock = MemoryEventStore(), Clock()
    judged_debate(store, "a")
    judged_debate(store, "b", seed=2)
    journal = DeliveryJournal(journal_file, 0)
    before = ScriptedSender(OK, DOWN)
    steps(ReviewDeliveries(store, journal, before, clock=clock))
    journal.close()
    judged_debate(store, "c", seed=3)
    journal = DeliveryJournal(journal_file, store.last_position())
    after = ScriptedSender(OK)
    steps(ReviewDeliveries(store, journal, after, clock=clock))

    def debates(sender: ScriptedSender) -> list[str]:
        return [json.loads(body)["data"]["debateId"] for _, body in sender.sent]

    assert (["a", "b"], ["b", "c"]) == (debates(before), debates(after))
    assert before.sent[1] == after.sent[0]
    assert {} == journal.pending


def test_what_follows_a_line_that_was_being_written_can_be_read(journal_file: Path) -> None:
    DeliveryJournal(journal_file, 3).close()
    with journal_file.open("ab") as file:
        file.write(b'{"read": 17')
    journal = DeliveryJournal(journal_file, 0)
    journal.queue([], 5)
    journal.close()
    again = DeliveryJournal(journal_file, 0)
    again.close()

    assert 5 == again.read_until


def test_a_line_that_was_being_written_is_dropped_and_written_again(journal_file: Path) -> None:
    store = MemoryEventStore()
    judged_debate(store, "a")
    journal = DeliveryJournal(journal_file, 0)
    steps(ReviewDeliveries(store, journal, ScriptedSender(OK)))
    journal.close()
    whole = journal_file.read_bytes()
    for cut in range(1, len(whole)):
        journal_file.write_bytes(whole[:-cut])
        journal = DeliveryJournal(journal_file, 0)
        sender = ScriptedSender(OK)
        steps(ReviewDeliveries(store, journal, sender))
        journal.close()

        # At least once: it is sent again where its delivery was not on record.
        assert 1 >= len(sender.sent)
        assert journal_file.read_bytes().endswith(b"\n")
        assert any('"status": 204' in line for line in journal_file.read_text().splitlines())


def test_of_a_line_that_did_not_fit_nothing_stays(journal_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = DeliveryJournal(journal_file, 3)
    before = journal_file.read_bytes()
    disk = FullDisk(journal_file, monkeypatch)
    with pytest.raises(JournalFailed, match=f"^{journal_file}: deliveries cannot be recorded there: No space"):
        journal.queue([], 5)
    after = journal_file.read_bytes()
    disk.full = False
    journal.queue([], 7)
    journal.close()
    again = DeliveryJournal(journal_file, 0)
    again.close()

    assert (before, 3) == (after, json.loads(after)["read"])
    assert 7 == again.read_until


async def test_a_full_disk_is_said_once_and_what_waited_is_sent_when_there_is_room(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store, sender = FailingStore(), ScriptedSender(OK)
    journal = DeliveryJournal(journal_file, 0)
    judged_debate(store, "a")
    disk = FullDisk(journal_file, monkeypatch)
    async with delivering(ReviewDeliveries(store, journal, sender)):
        await until(lambda: store.reads > 3)
        disk.full = False
        await until(lambda: sender.sent and not journal.pending)
    journal.close()

    (record,) = caplog.records
    assert record.getMessage().startswith(f"webhook: {journal_file}: deliveries cannot be recorded there: No space")
    assert 1 == len(sender.sent)


def test_an_attempt_that_cannot_be_recorded_is_not_repeated_before_a_restart(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "a")
    journal = DeliveryJournal(journal_file, 0)
    deliveries = ReviewDeliveries(store, journal, sender)
    send = sender.send

    def fills_the_disk(message_id: str, seconds: int, body: bytes) -> SendOutcome:
        FullDisk(journal_file, monkeypatch)
        return send(message_id, seconds, body)

    monkeypatch.setattr(sender, "send", fills_the_disk)
    with pytest.raises(JournalFailed, match="No space left on device"):
        steps(deliveries)
    steps(deliveries)
    monkeypatch.undo()
    journal.close()
    once = len(sender.sent)
    again = DeliveryJournal(journal_file, 0)
    steps(ReviewDeliveries(store, again, sender))
    again.close()

    assert (1, 2) == (once, len(sender.sent))
    assert sender.sent[0] == sender.sent[1]


@pytest.mark.parametrize(
    ("failure", "said"), [(StoreFailed("the database is gone"), "the database is gone"), (KeyError("a defect"), "step")]
)
async def test_whatever_fails_is_said_at_once_and_deliveries_go_on(
    failure: Exception, said: str, journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, sender = FailingStore(), ScriptedSender(OK)
    judged_debate(store, "a")
    store.failure = failure
    async with delivering(ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender)):
        await until(lambda: store.reads > 3)
        store.failure = None
        await until(lambda: sender.sent)

    (record,) = caplog.records
    assert said in record.getMessage()
    assert isinstance(failure, StoreFailed) or "a defect" in caplog.text


def test_a_new_journal_begins_at_the_end_of_the_log(journal_file: Path) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "old")
    deliveries = ReviewDeliveries(store, DeliveryJournal(journal_file, store.last_position()), sender)
    steps(deliveries)
    judged_debate(store, "new", seed=2)
    steps(deliveries)

    assert ["new"] == [json.loads(body)["data"]["debateId"] for _, body in sender.sent]


def test_a_message_that_is_never_accepted_is_given_up_on_record(
    journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, clock, sender = MemoryEventStore(), Clock(), ScriptedSender(DOWN)
    judged_debate(store, "a")
    journal = DeliveryJournal(journal_file, 0)
    deliveries = ReviewDeliveries(store, journal, sender, clock=clock)
    for _ in range(20):
        steps(deliveries)
        clock.now += 24 * 3600 * _SECOND

    assert 1 + len(DELAYS) == len(sender.sent)
    assert {} == journal.pending
    assert caplog.records[-1].getMessage().endswith("Connection refused; given up")
    assert json.loads(journal_file.read_text().splitlines()[-1])["attempt"]["next"] is None


def test_the_log_is_not_read_on_while_too_many_messages_wait(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries_module, "MAX_PENDING", 2)
    monkeypatch.setattr(deliveries_module, "_AT_ONCE", 5)
    store, clock, sender = MemoryEventStore(), Clock(), ScriptedSender(DOWN)
    for number in range(10):
        judged_debate(store, f"d{number}", seed=number + 1)
    journal = DeliveryJournal(journal_file, 0)
    deliveries = ReviewDeliveries(store, journal, sender, clock=clock)
    steps(deliveries, 30)
    waiting = len(journal.pending)
    sender.outcomes = [OK]
    clock.now += 3600 * _SECOND
    steps(deliveries, 60)

    assert 2 == waiting
    assert 10 == len({message_id for message_id, _ in sender.sent})
    assert {} == journal.pending


def test_one_journal_belongs_to_one_server_and_one_store(journal_file: Path, tmp_path: Path) -> None:
    journal = DeliveryJournal(journal_file, 7)
    with pytest.raises(SettingError, match="another server writes its deliveries there"):
        DeliveryJournal(journal_file, 0)
    with pytest.raises(SettingError, match="is of another store"):
        ReviewDeliveries(MemoryEventStore(), journal, ScriptedSender(OK))
    other = tmp_path / "notes.txt"
    other.write_text('{"read": 1e999}\n')
    with pytest.raises(SettingError, match=r"notes\.txt:1: not a line of a journal"):
        DeliveryJournal(other, 0)
    other.write_text("Buy milk.\n")
    with pytest.raises(SettingError, match=r"notes\.txt:1: not a line of a journal"):
        DeliveryJournal(other, 0)


def test_quarantined_debates_are_left_out(journal_file: Path) -> None:
    from jury_replay.quarantine import quarantine

    store: EventStore = MemoryEventStore()
    judged_debate(store, "a")
    quarantine(store, "a", by="boss", reason="odd", clock=lambda: 1_700_000_000_000_000)
    sender = ScriptedSender(OK)
    steps(ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender))

    assert [] == sender.sent


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "a.example", "http://", "http://a.example:x/", "https://user:pw@a.example/", "http://a b/"],
)
def test_a_url_that_cannot_be_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="--on-review-needed") as refused:
        WebhookSender(url, KEY)

    assert "pw" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "hosts", "said"),
    [
        ("169.254.169.254", frozenset(), "not public"),
        ("10.0.0.7", frozenset(), "write hook.example=10.0.0.7 in JURY_WEBHOOK_HOSTS"),
        ("127.0.0.1", frozenset(), "not public"),
        ("127.0.0.1", frozenset({"hook.example=127.0.0.0/8"}), None),
    ],
)
def test_a_name_is_sent_to_checked_addresses_only(address: str, hosts: frozenset[str], said: str | None) -> None:
    with receiving(204) as receiver:
        port = receiver.url.rpartition(":")[2].partition("/")[0]
        url = f"http://hook.example:{port}/"
        outcome = WebhookSender(url, KEY, hosts, resolve=lambda _host, _port: [address]).send("msg_1", 1, b"{}")

    if said is None:
        assert outcome.accepted
    else:
        assert said in (outcome.problem or "")
    assert (1 if said is None else 0) == len(receiver.got)


def test_the_name_in_the_url_may_have_capital_letters() -> None:
    with receiving(204) as receiver:
        url = receiver.url.replace("127.0.0.1", "LocalHost")
        outcome = WebhookSender(url, KEY, resolve=lambda _host, _port: ["127.0.0.1"]).send("msg_1", 1, b"{}")

    assert outcome.accepted


@pytest.mark.parametrize("trusted", [True, False])
def test_https_is_sent_to_the_checked_address_of_a_host_whose_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, trusted: bool
) -> None:
    tls, certificate = server_context(tmp_path, "hook.example")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
    with receiving(204, tls=tls) as receiver:
        port = receiver.url.rpartition(":")[2].partition("/")[0]
        hosts = frozenset({"hook.example=127.0.0.0/8"})
        sender = WebhookSender(f"https://hook.example:{port}/", KEY, hosts, resolve=lambda _host, _port: ["127.0.0.1"])
        outcome = sender.send("msg_1", 1, b"{}")

    assert (204 if trusted else None) == outcome.status
    assert trusted or "certificate verify failed" in (outcome.problem or "")
    assert trusted == bool(receiver.got)


def test_a_receiver_that_answers_byte_by_byte_has_the_timeout_for_all_of_them() -> None:
    with answering_slowly() as url:
        outcome = WebhookSender(url, KEY, seconds=0.3).send("msg_1", 1, b"{}")

    assert SendOutcome(None, "no answer within 0.3 seconds") == outcome


def test_all_addresses_of_a_name_share_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[float] = []

    def connect(_address: tuple[str, int], timeout: float) -> socket.socket:
        timeouts.append(timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    addresses = [f"8.8.{number}.8" for number in range(100)]
    sender = WebhookSender("http://hook.example/", KEY, seconds=10, resolve=lambda _host, _port: addresses)
    outcome = sender.send("msg_1", 1, b"{}")

    assert SendOutcome(None, "no answer within 10 seconds") == outcome
    assert (100, 10) == (len(timeouts), pytest.approx(sum(timeouts)))
