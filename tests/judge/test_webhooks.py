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
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from jury_events import ReviewSample, SettingError, StoredEvent, Verdict
from jury_judge import (
    DELAYS,
    DeliveryJournal,
    JuryError,
    NewReview,
    ReviewDeliveries,
    SendOutcome,
    WebhookSender,
    deliver,
    signed_headers,
    webhook_secret,
)
from jury_replay import import_cassette, quarantine, read_cassette
from jury_store import EventStore, MemoryEventStore, StoreFailed, open_store
from support.cassettes import out_of
from support.each_row import each_row
from support.json_server import JsonAnswer, JsonRequest, JsonServer, json_server
from support.recorded_reviews import assign_review, record_review, withdraw_review
from support.refusals import RefusalTables
from support.reviewed import judged_debate
from support.tls import server_context
from support.waiting import until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = webhook_secret(SECRET, "a test")
PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
OK, DOWN = SendOutcome(204, None), SendOutcome(None, "Connection refused")
_SECOND = 1_000_000


@contextmanager
def receiving(*statuses: int, tls: ssl.SSLContext | None = None) -> Iterator[JsonServer]:
    """A local server that answers with the given statuses, the last one again and again."""
    left = list(statuses)

    def answer(_request: JsonRequest) -> JsonAnswer:
        return JsonAnswer(b"", left.pop(0) if len(left) > 1 else left[0], (("Location", "/elsewhere"),))

    with json_server(answer, tls=tls) as server:
        yield server


class Clock:
    """Microseconds, set by the test."""

    def __init__(self) -> None:
        self.now = 1_700_000_000 * _SECOND

    def __call__(self) -> int:
        return self.now

    def on(self, seconds: float) -> None:
        self.now += int(seconds * _SECOND)


class ScriptedSender:
    """Ends attempts as it is given, the last one again and again."""

    def __init__(self, *outcomes: SendOutcome) -> None:
        self.outcomes = list(outcomes)
        self.sent: list[tuple[str, bytes]] = []

    def send(self, message_id: str, seconds: int, body: bytes) -> SendOutcome:
        self.sent.append((message_id, body))
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    def said(self, field: str) -> list[str | None]:
        return [json.loads(body)["data"][field] for _, body in self.sent]


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


@pytest.fixture
def journal_file(tmp_path: Path) -> Path:
    return tmp_path / "deliveries.jsonl"


def steps(deliveries: ReviewDeliveries, number: int = 10) -> None:
    for _ in range(number):
        deliveries.step()


def sent_by(store: EventStore, journal_file: Path, *outcomes: SendOutcome) -> ScriptedSender:
    """What a server sends that starts, takes some steps and ends."""
    journal, sender = DeliveryJournal(journal_file, 0), ScriptedSender(*outcomes or [OK])
    steps(ReviewDeliveries(store, journal, sender.send))
    journal.close()
    return sender


def test_the_signature_is_that_of_the_specifications_example() -> None:
    assert {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    } == signed_headers(KEY, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')


@pytest.mark.parametrize("kind", ["sqlite_url", pytest.param("postgres_url", marks=pytest.mark.full)])
def test_a_server_that_fails_first_gets_every_message_signed_with_the_same_id(
    kind: str, request: pytest.FixtureRequest, journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(request.getfixturevalue(kind), write=True)
    clock, journal = Clock(), DeliveryJournal(journal_file, 0)
    judged_debate(store, "d", case_id="refund")
    judged_debate(store, "passed", PASS, seed=2)
    with receiving(500, 302, 204) as receiver:
        sender = WebhookSender(f"{receiver.url}/hook?key=hidden", KEY)
        deliveries = ReviewDeliveries(store, journal, sender.send, clock=clock)
        steps(deliveries)
        assert 1 == len(receiver.requests)
        for delay in (*DELAYS[:2], 10**6):
            clock.on(delay)
            steps(deliveries)
    store.close()
    journal.close()

    assert 3 == len(receiver.requests)
    got = [({name.lower(): one for name, one in sent.headers.items()}, sent.content) for sent in receiver.requests]
    for headers, body in got:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert (f"v1,{expected}", "application/json") == (headers["webhook-signature"], headers["content-type"])
    assert 1 == len({headers["webhook-id"] for headers, _ in got})
    assert 3 == len({headers["webhook-timestamp"] for headers, _ in got})
    message = json.loads(got[0][1])
    data = {"debateId": "d", "caseId": "refund", "runId": "run", "why": "needs_review", "reviewer": None}
    result = {"finalVerdict": "needs_review", "finalLabel": None, "finalScore": 20, "decisive": None}
    why = {"reason": "because", "reasonBy": ["juror-gpt"]}
    assert ("review.needed", data | result | why) == (message["type"], message["data"])
    assert ["attempt 1: status 500", "attempt 2: status 302"] == [
        one.getMessage().partition(": ")[2] for one in caplog.records
    ]
    attempts = [json.loads(line).get("attempt") for line in journal_file.read_text().splitlines()]
    assert [500, 302, 204] == [one["status"] for one in attempts if one]
    assert "hidden" not in caplog.text
    assert SECRET not in journal_file.read_text()


def test_assignments_and_reviewers_who_differ_cause_messages_without_what_was_said(journal_file: Path) -> None:
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "d", PASS)
    assign_review(store, "d", "ann", by="boss")
    assign_review(store, "d", "bob", by="boss", sample=ReviewSample(seed=1, size=1, population=1))
    deliveries = ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender.send)
    steps(deliveries)
    record_review(store, "d", NewReview("ann", PASS, "The reason."))
    record_review(store, "d", NewReview("bob", FAIL))
    steps(deliveries)

    assert (["assigned", "sampled", "disputed"], ["ann", "bob", None]) == (sender.said("why"), sender.said("reviewer"))
    assert [[None] * 3] * 3 == [sender.said(name) for name in ("finalVerdict", "reason", "decisive")]
    assert not any(b"The reason." in body or b"unsafe" in body for _, body in sender.sent)


def test_who_was_not_asked_here_or_is_asked_no_more_gets_no_message(journal_file: Path, tmp_path: Path) -> None:
    store, elsewhere = MemoryEventStore(), MemoryEventStore()
    judged_debate(elsewhere, "foreign", PASS)
    assign_review(elsewhere, "foreign", "boss", by="mallory")
    cassette = tmp_path / "foreign.cassette.jsonl"
    cassette.write_bytes(out_of(elsewhere, "foreign"))
    import_cassette(store, read_cassette(cassette), clock=lambda: 7)
    judged_debate(store, "aside", seed=3)
    quarantine(store, "aside", by="boss", reason="odd", clock=lambda: 1_700_000_000_000_000)
    judged_debate(store, "d", PASS, seed=2)
    for reviewer in ("ann", "bob", "cho"):
        assign_review(store, "d", reviewer, by="lead")
    withdraw_review(store, "d", 1, by="lead")
    record_review(store, "d", NewReview("bob", PASS))
    sender = sent_by(store, journal_file)

    assert (["assigned"], ["cho"]) == (sender.said("why"), sender.said("reviewer"))


@pytest.mark.parametrize(
    ("said", "begins", "at_once"),
    [
        ([("ann", PASS), ("bob", FAIL)], [2], 1),
        ([("ann", PASS), ("bob", FAIL), ("cho", REVIEW)], [2], 1),
        ([("ann", PASS), ("bob", FAIL), ("cho", PASS), 3], [2, 4], 2),
        ([("ann", PASS), ("bob", PASS), ("cho", FAIL), 2], [4], 1),
        ([("ann", PASS), ("bob", PASS), ("ann", FAIL)], [3], 1),
        ([("ann", PASS), ("bob", FAIL), ("cho", PASS)], [2], 0),
    ],
)
def test_a_message_is_sent_for_what_begins_a_dispute_that_is_not_over(
    said: list[tuple[str, Verdict] | int], begins: list[int], at_once: int, tmp_path: Path
) -> None:
    """A number among what is said is a review that is withdrawn; `at_once`: messages of a server that starts later."""
    store, sender = MemoryEventStore(), ScriptedSender(OK)
    judged_debate(store, "d", PASS)
    deliveries = ReviewDeliveries(store, DeliveryJournal(tmp_path / "one.jsonl", 0), sender.send)
    begun: list[int] = []
    for number, one in enumerate(said, 1):
        if isinstance(one, int):
            withdraw_review(store, "d", one, by="lead")
        else:
            record_review(store, "d", NewReview(*one))
        steps(deliveries)
        begun += [number] * (len(sender.sent) - len(begun))
    later = sent_by(store, tmp_path / "later.jsonl")

    assert begins == begun
    assert ["disputed"] * at_once == later.said("why")
    assert len(begins) == len({message_id for message_id, _ in sender.sent})


def test_what_was_not_delivered_is_sent_after_a_restart_and_the_rest_is_not(journal_file: Path) -> None:
    store, clock = MemoryEventStore(), Clock()
    judged_debate(store, "a")
    judged_debate(store, "b", seed=2)
    journal, before, after = DeliveryJournal(journal_file, 0), ScriptedSender(OK, DOWN), ScriptedSender(OK)
    steps(ReviewDeliveries(store, journal, before.send, clock=clock))
    journal.close()
    judged_debate(store, "c", seed=3)
    journal = DeliveryJournal(journal_file, store.last_position())
    steps(ReviewDeliveries(store, journal, after.send, clock=clock))

    assert (["a", "b"], ["b", "c"]) == (before.said("debateId"), after.said("debateId"))
    assert before.sent[1] == after.sent[0]
    assert {} == journal.pending


def test_a_line_that_was_being_written_is_dropped_and_written_again(journal_file: Path) -> None:
    store = MemoryEventStore()
    judged_debate(store, "a")
    sent_by(store, journal_file)
    whole = journal_file.read_bytes()
    for cut in range(1, len(whole), 7):
        journal_file.write_bytes(whole[:-cut])
        sender = sent_by(store, journal_file)

        # At least once: it is sent again where its delivery was not on record.
        assert 1 >= len(sender.sent)
        assert journal_file.read_bytes().endswith(b"\n")
        assert any('"status": 204' in line for line in journal_file.read_text().splitlines())
        DeliveryJournal(journal_file, 0).close()  # What followed the line can be read.


def test_on_a_full_disk_nothing_stays_of_a_line_and_what_waited_is_sent_when_there_is_room(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sender, journal = MemoryEventStore(), ScriptedSender(OK), DeliveryJournal(journal_file, 0)
    deliveries = ReviewDeliveries(store, journal, sender.send)
    judged_debate(store, "a")
    before = journal_file.read_bytes()
    disk = FullDisk(journal_file, monkeypatch)
    for _ in range(2):
        with pytest.raises(JuryError, match="deliveries cannot be recorded there: No space left on device"):
            deliveries.step()
        assert before == journal_file.read_bytes()
    disk.full = False
    steps(deliveries)
    journal.close()
    again = DeliveryJournal(journal_file, 0)
    again.close()

    assert (1, {}, store.last_position()) == (len(sender.sent), again.pending, again.read_until)


def test_an_attempt_that_cannot_be_recorded_is_not_repeated_before_a_restart(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sender, journal = MemoryEventStore(), ScriptedSender(OK), DeliveryJournal(journal_file, 0)
    judged_debate(store, "a")

    def fills_the_disk(message_id: str, seconds: int, body: bytes) -> SendOutcome:
        FullDisk(journal_file, monkeypatch)
        return sender.send(message_id, seconds, body)

    deliveries = ReviewDeliveries(store, journal, fills_the_disk)
    with pytest.raises(JuryError, match="No space left on device"):
        steps(deliveries)
    steps(deliveries)
    monkeypatch.undo()
    journal.close()

    assert 1 == len(sender.sent)
    assert sender.sent == sent_by(store, journal_file).sent


@pytest.mark.parametrize(
    ("failure", "said"), [(StoreFailed("the database is gone"), "the database is gone"), (KeyError("a defect"), "step")]
)
async def test_whatever_fails_is_said_at_once_and_deliveries_go_on(
    failure: Exception, said: str, journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, sender = FailingStore(), ScriptedSender(OK)
    judged_debate(store, "a")
    store.failure = failure
    async with delivering(ReviewDeliveries(store, DeliveryJournal(journal_file, 0), sender.send)):
        await until(lambda: store.reads > 3)
        store.failure = None
        await until(lambda: sender.sent)

    (record,) = caplog.records
    assert said in record.getMessage()
    assert isinstance(failure, StoreFailed) or "a defect" in caplog.text


def test_a_message_that_is_never_accepted_is_given_up_on_record(
    journal_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, clock, sender = MemoryEventStore(), Clock(), ScriptedSender(DOWN)
    judged_debate(store, "a")
    journal = DeliveryJournal(journal_file, 0)
    deliveries = ReviewDeliveries(store, journal, sender.send, clock=clock)
    for _ in range(20):
        steps(deliveries)
        clock.on(24 * 3600)

    assert 1 + len(DELAYS) == len(sender.sent)
    assert {} == journal.pending
    assert caplog.records[-1].getMessage().endswith("Connection refused; given up")
    assert json.loads(journal_file.read_text().splitlines()[-1])["attempt"]["next"] is None


def test_what_cannot_be_used_is_refused_without_a_secret(refusals: RefusalTables, tmp_path: Path) -> None:
    secrets = ("whsec_", "whsec_c2hvcnQ=", "no prefix", SECRET[6:], "whsec_!!!!", f"{SECRET}é")
    urls = ("ftp://a.example/", "a.example", "http://", "http://a.example:x/", "https://u:pw@a.example/", "http://a b/")
    journal = DeliveryJournal(tmp_path / "used.jsonl", 7)
    for name, content in (("list.jsonl", '{"read": 1e999}\n'), ("notes.txt", "Buy milk.\n")):
        (tmp_path / name).write_text(content)
    rows: dict[str, Callable[[], object]] = {
        "the secret": lambda: webhook_secret("", "FILE"),
        **{f"the secret {one}": lambda one=one: webhook_secret(one, "FILE") for one in secrets},  # type: ignore[misc]
        **{f"the URL {one}": lambda one=one: WebhookSender(one, KEY) for one in urls},  # type: ignore[misc]
        "a journal that another server writes": lambda: DeliveryJournal(tmp_path / "used.jsonl", 0),
        "a journal of another store": lambda: ReviewDeliveries(MemoryEventStore(), journal, ScriptedSender(OK).send),
        "a number that is none": lambda: DeliveryJournal(tmp_path / "list.jsonl", 0),
        "another file": lambda: DeliveryJournal(tmp_path / "notes.txt", 0),
    }

    refusals.check("webhooks", rows, lambda row: row(), SettingError)


LOOPBACK = frozenset({"hook.example=127.0.0.0/8"})


@each_row(
    ("address", "hosts", "said"),
    [
        ("169.254.169.254", frozenset(), "not public"),
        ("10.0.0.7", frozenset(), "write hook.example=10.0.0.7 in JURY_WEBHOOK_HOSTS"),
        ("127.0.0.1", frozenset(), "not public"),
        ("127.0.0.1", LOOPBACK, None),
    ],
)
def test_a_name_is_sent_to_checked_addresses_only(address: str, hosts: frozenset[str], said: str | None) -> None:
    with receiving(204) as receiver:
        url = f"http://hook.example:{receiver.port}/"
        outcome = WebhookSender(url, KEY, hosts, resolve=lambda _host, _port: [address]).send("msg_1", 1, b"{}")

    assert said is None or said in (outcome.problem or "")
    assert (said is None, int(said is None)) == (outcome.accepted, len(receiver.requests))


@pytest.mark.parametrize("trusted", [True, False])
def test_https_is_sent_to_the_checked_address_of_a_host_whose_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, trusted: bool
) -> None:
    tls, certificate = server_context(tmp_path, "hook.example")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
    with receiving(204, tls=tls) as receiver:
        url = f"https://hook.example:{receiver.port}/"
        outcome = WebhookSender(url, KEY, LOOPBACK, resolve=lambda _host, _port: ["127.0.0.1"]).send("m", 1, b"{}")

    assert (204 if trusted else None) == outcome.status
    assert trusted or "certificate verify failed" in (outcome.problem or "")
    assert trusted == bool(receiver.requests)


def test_a_receiver_that_does_not_end_its_answer_has_the_timeout_for_all_of_it() -> None:
    """A byte every 20 ms, for four seconds."""
    ending = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            for byte in b"HTTP/1.1 204 " + b"x" * 187:
                connection.sendall(bytes([byte]))
                if ending.wait(0.02):
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        outcome = WebhookSender(f"http://127.0.0.1:{listening.getsockname()[1]}/", KEY, seconds=0.3).send("m", 1, b"{}")
        ending.set()
        thread.join()

    assert SendOutcome(None, "no answer within 0.3 seconds") == outcome
