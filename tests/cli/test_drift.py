"""`jury drift`: who drifted, from recorded pairs; stopped, gone on with, altered, shown."""

import asyncio
import base64
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from shutil import copytree
from typing import Any
from unittest.mock import patch

import pytest
from httpx import Response
from starlette.testclient import TestClient

from jury_events import CallOutcome, canonical_json, chain_hash, decode_drift
from jury_judge import (
    DeliveryJournal,
    DriftCheckRun,
    DriftCheckSettings,
    Jury,
    ReviewDeliveries,
    RunRefused,
    SendOutcome,
    Service,
    SettingsRefused,
    Sources,
)
from jury_providers import ModelReply, ModelRequest, OnChunk, Prompt
from jury_replay import auditor
from jury_store import EventStore, open_store
from jury_web import AccessPolicy, create_app, page_routes
from support.biased_jurors import FAIL, PASS, ScriptedJurors, rows
from support.command_line import CommandLine
from support.reference_data import needs_reference_data, reference_rows
from support.refusals import RefusalTables
from support.unguarded import unguarded

ANCHORS = [row for row in rows(30) if row["label"] is not None]
"""Twenty, half of them bad."""
AGENTS = [{"case_id": f"a{number}", "question": "Do it.", "response": "It is correct."} for number in range(12)]


@dataclass
class ChangingJurors(ScriptedJurors):
    """From its call `after` on another model answers, with the noise `wrong`; from `ends` on the key is refused."""

    after: int = 10**9
    ends: int = 10**9
    wrong: float = 1.0
    calls: Iterator[int] = field(default_factory=count)

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        number = next(self.calls)
        changed = number >= self.after
        if number >= self.ends:
            return ModelReply(CallOutcome.AUTHENTICATION, error="the key is refused")
        self.noise = self.wrong if changed else 0.0
        reply = await super().call(request, on_chunk)
        return reply._replace(model_version="scripted-2") if changed else reply


@contextmanager
def jurors(**how: Any) -> Iterator[None]:
    made = ChangingJurors({}, **how)
    with patch("jury_actors.runtime.provider_factory", lambda *_args: lambda _name: made):
        yield


@dataclass
class RecordedJurors(ScriptedJurors):
    """Each seat answers as a recorded judge did, and one call in eight as another one of the jury.

    From the call `after` on the first seat answers as the judge `worse`.
    """

    verdicts: dict[str, dict[str, str]] = field(default_factory=dict)
    """By question, then by judge."""
    judges: tuple[str, ...] = ()
    worse: str = ""
    after: int = 10**9
    calls: Iterator[int] = field(default_factory=count)

    def _fair(self, prompt: Prompt, request: ModelRequest) -> str:
        place = next(n for n, seat in enumerate(("sim-policy", "sim-security", "sim-misuse")) if seat in request.trace)
        drawn = int.from_bytes(sha256(request.trace.encode()).digest()[:4])
        judge = self.judges[place if drawn % 8 else drawn // 8 % 3]
        found = next(one for question, one in self.verdicts.items() if question in prompt.case)
        return found[self.worse if next(self.calls) >= self.after and not place else judge]


STORE: dict[str, str] = {}
"""The variable of the store; empty: the default."""


def drift(jury: CommandLine, *words: str):
    options = ("--in-process", "--display", "none") if words[0] in {"baseline", "check"} else ()
    return jury("drift", *words, *options, env=STORE)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A baseline `d` of ten anchors and four draws, judged rightly throughout, with the stream `spring`."""
    jury = CommandLine(tmp_path_factory.mktemp("made"))
    jury.write("anchors.jsonl", *ANCHORS[:10])
    jury.write("good.jsonl", *AGENTS)
    with jurors():
        jury.run("good.jsonl", "--run", "spring", "--panel", "independent", "--display", "none")
        found = drift(
            jury, *["baseline", "d", "anchors.jsonl", "--draws", "4", "--panel", "independent", "--run", "spring"]
        )

    assert 0 == found.code, found.err
    assert "\n40 debates judged in" in found.err
    assert "this command" not in found.err
    return jury


@pytest.fixture
def anchored(made: CommandLine, tmp_path: Path) -> CommandLine:
    """The same, for one test."""
    copytree(made.folder, tmp_path / "anchored")
    return CommandLine(tmp_path / "anchored")


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def test_a_model_that_changes_after_300_calls_is_found_and_named(
    jury: CommandLine, database: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 calls a judging of all anchors: four draws and a check are before the change."""
    if database == "postgresql":
        monkeypatch.setitem(STORE, "JURY_STORE_URL", request.getfixturevalue("postgres_url"))
    jury.write("anchors.jsonl", *ANCHORS)
    with jurors(after=300):
        drift(jury, *["baseline", "d", "anchors.jsonl", "--draws", "4", "--panel", "independent"])
        calm = drift(jury, "check", "d", "--json")
        changed = drift(jury, "check", "d", "--json")

    assert [(0, "none"), (1, "judge")] == [(one.code, one.json["verdict"]) for one in (calm, changed)]
    seats = {fact["juror_id"]: (fact["before"], fact["now"]) for fact in changed.json["facts"]}
    assert {(("scripted-1",), ("scripted-2",))} == {(tuple(old), tuple(new)) for old, new in seats.values()}
    assert 3 == len(seats)
    jury_figures = changed.json["watched"][0]
    assert ("jury", ["farther"], 2) == (jury_figures["name"], jury_figures["kinds"], jury_figures["since"])
    assert [20.0, 80.0, 80.0, 80.0] == [one["bound"] for one in changed.json["watched"]]
    assert 20 == len(changed.json["anchors"])
    assert (
        "judge: seat sim-policy, seat sim-security, seat sim-misuse: another model answered: scripted-2"
        in changed.json["says"]
    )
    assert 2 == drift(jury, "check", "d").code  # the draws are used up
    assert 0 == jury("verify", "--all", "--deep", env=STORE).code


@needs_reference_data
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "passes", "judges", "worse"),
    [
        ("b1_rjudge_recorded_judges", "safe", ("shieldagent", "alrphfs", "defend"), "agrail_emptyinput"),
        ("b2_triviaqa_judges", "correct", ("GPT-4", "Llama3-70B", "Mistral-7B"), "Gemma-2B"),
        (
            "b11_trajectory_steps",
            "clean",
            ("step:qwen2.5:14b", "selfcons3:qwen2.5:14b", "programmatic"),
            "outcome:qwen2.5:14b",
        ),
    ],
)
def test_recorded_judges_are_calm_until_one_of_them_is_replaced(
    jury: CommandLine, name: str, passes: str, judges: tuple[str, ...], worse: str
) -> None:
    """40 anchors, 120 calls a judging of all: six draws and a check of three judgings are before the change."""
    said = {passes: PASS}
    found: list[tuple[str, dict[str, str]]] = []
    for row in reference_rows(name):
        given = {judge: row["judges"].get(judge) for judge in (*judges, worse)}
        words = {judge: one["verdict"] if isinstance(one, dict) else one for judge, one in given.items()}
        if all(words.values()):
            verdicts_of = {judge: said.get(one, FAIL) for judge, one in words.items()}
            found.append((said.get(row["human_label"], FAIL), verdicts_of))
    chosen = found[:: len(found) // 40][:40]
    verdicts = {f"Judge item {n:03}.": words for n, (_, words) in enumerate(chosen)}
    jury.write(
        "anchors.jsonl",
        *(
            {"case_id": f"c{n}", "question": question, "response": "It is done.", "label": label}
            for n, (question, (label, _)) in enumerate(zip(verdicts, chosen, strict=True))
        ),
    )
    made = RecordedJurors({}, verdicts=verdicts, judges=judges, worse=worse, after=9 * 120)
    with patch("jury_actors.runtime.provider_factory", lambda *_args: lambda _name: made):
        drift(jury, *["baseline", "d", "anchors.jsonl", "--draws", "6", "--panel", "independent"])
        checks = [drift(jury, "check", "d", "--replenish", "2", "--json") for _ in range(4)]

    assert (0, "none") == (checks[0].code, checks[0].json["verdict"])
    assert (1, "judge") == (checks[-1].code, checks[-1].json["verdict"])
    assert {"jury", "seat/sim-policy"} >= {one["name"] for one in checks[-1].json["watched"] if one["kinds"]}
    assert 0 == jury("verify", "--all", "--deep").code


@pytest.mark.full
def test_a_worse_agent_is_named_where_the_anchors_are_calm(anchored: CommandLine) -> None:
    anchored.write("worse.jsonl", *({**row, "response": "It is wrong."} for row in AGENTS))
    with jurors():
        anchored.run("worse.jsonl", "--run", "summer", "--panel", "independent", "--display", "none")
        found = drift(anchored, "check", "d", "--run", "summer", "--json")
    with jurors(after=0):
        both = drift(anchored, "check", "d", "--json")

    assert (1, "agent_or_traffic") == (found.code, found.json["verdict"])
    assert [] == [one["kinds"] for one in found.json["watched"] if one["kinds"] and one["name"] != "stream"]
    assert (1, "judge") == (both.code, both.json["verdict"])


def test_another_model_that_judges_alike_is_drift_of_the_judge(anchored: CommandLine) -> None:
    with jurors(after=0, wrong=0.0):
        found = drift(anchored, "check", "d")

    assert (1, True) == (found.code, ": judge: seat sim-policy, seat sim-security, seat sim-misuse: ano" in found.out)
    assert "since about check" not in found.out


def test_a_stopped_check_goes_on_with_its_pairs_and_a_cancelled_one_says_nothing(anchored: CommandLine) -> None:
    with jurors():
        stopped = drift(anchored, "check", "d", "--max-calls", "7")
        pairs = _events(anchored)[-1]
        refused = anchored.run("anchors.jsonl", "--run", "r", "--panel", "independent", "--require-drift-check", "7d")
        ended = drift(anchored, "check", "d", "--max-calls", "1000")
        allowed = anchored.run("anchors.jsonl", "--run", "r", "--panel", "independent", "--require-drift-check", "7d")
    with jurors(ends=12):
        drift(anchored, "check", "d")
    anchored("cancel", "d.check-2")
    with jurors():
        cancelled = drift(anchored, "check", "d")

    assert (4, 0, 4) == (stopped.code, ended.code, cancelled.code), ended.err
    types = [one.type for one in _events(anchored)]
    assert ["check_opened", "check_ended", "check_opened", "check_abandoned"] == types[-4:]
    assert pairs == _events(anchored)[-4]
    assert (2, 0) == (refused.code, allowed.code), allowed.err
    assert "no drift check of this panel has ended" in refused.err
    assert "last drift check today: none" in allowed.err
    assert "abandoned" in drift(anchored, "show", "d").out


def test_a_decision_or_a_vote_that_was_computed_anew_is_found(anchored: CommandLine, tmp_path: Path) -> None:
    """The vote is of a draw that no check used: the decisions still follow, and the debates say it."""
    with jurors():
        drift(anchored, "check", "d")
    altered = {
        "check_ended": ('"verdict":"none"', '"verdict":"judge"', 5),
        "draws_judged": ('"pppp"', '"pfpp"', 0),
    }

    assert 0 == anchored("verify", "--all", "--deep").code
    for event, (old, new, shown) in altered.items():
        other = CommandLine(copytree(anchored.folder, tmp_path / event))
        with unguarded(other.folder / "jury.db") as connection:
            _rewrite(connection, event, old, new)
        found = other("verify", "--all", "--deep")

        assert 5 == found.code
        assert [True] == [line.startswith("drift/d, event ") for line in found.out.splitlines() if "drift/" in line]
        assert shown == drift(other, "show", "d").code


def test_pages_http_metrics_and_messages_say_what_a_check_found(anchored: CommandLine) -> None:
    with jurors(after=0):
        drift(anchored, "check", "d")
    with closing(open_store(f"sqlite:///{anchored.folder / 'jury.db'}", write=False)) as store:
        service = Service(store)
        client = TestClient(
            create_app(service, AccessPolicy(frozenset({"jury.test"})), page_routes(service)),
            base_url="http://jury.test",
        )
        pages = [client.get(f"/drift{path}?lang={lang}").text for path in ("", "/d") for lang in ("en", "ja")]
        read = client.get("/api/drift/d").json()
        message = _first_message(store, anchored.folder / "deliveries.jsonl")
        missing = client.get("/drift/none").status_code

    assert ["another model answered" in page or "別のモデルが応答" in page for page in pages] == [True] * 4
    assert all("farther from the labels" in page or "ラベルから遠ざかった" in page for page in pages)
    assert '<polyline class="line"' in pages[2]
    assert ("judge", 10) == (read["last"]["verdict"], read["anchors"])
    assert ("drift.found", "judge", "d") == (message["type"], message["data"]["verdict"], message["data"]["driftId"])
    assert 404 == missing


def _first_message(store: EventStore, journal: Path) -> dict[str, Any]:
    sent: list[bytes] = []

    class Kept:
        def send(self, _message_id: str, _seconds: int, body: bytes) -> SendOutcome:
            sent.append(body)
            return SendOutcome(200, None)

    with closing(DeliveryJournal(journal, 0)) as written:
        deliveries = ReviewDeliveries(store, written, Kept().send)
        while not any(b"drift" in body for body in sent):
            deliveries.step()
    return json.loads(next(body for body in sent if b"drift" in body))


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def test_a_baseline_goes_to_another_store_as_files_and_counts_there_under_a_trusted_key(
    anchored: CommandLine, database: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a trusted key anyone could have written a check that found nothing."""
    other = request.getfixturevalue("postgres_url") if database == "postgresql" else "sqlite:///other.db"
    files, strange = anchored.folder / "corpus", "sqlite:///foreign.db"
    allowed = ("anchors.jsonl", "--run", "r", "--panel", "independent", "--require-drift-check", "7d", "--store")
    with jurors():
        drift(anchored, "check", "d")
        for words in ("seal keygen key", "seal now --key key", "export --all -o corpus"):
            assert 0 == anchored(*words.split()).code
        audited = _audited(files / "d.drift.jsonl", anchored.folder / "key.pub", capsys)
        verified, shown = anchored("verify", "corpus", "--deep"), anchored("show", "corpus/d.drift.jsonl")
        anchored("import", "corpus/d.drift.jsonl", "--store", strange)
        foreign, listed = anchored.run(*allowed, strange), anchored("drift", "list", "--store", strange)
        anchored("import", "corpus/d.drift.jsonl", "--key", "key.pub", "--store", strange)
        known, checked = anchored.run(*allowed, strange), anchored("verify", "--all", "--store", strange)
        imported = anchored("import", "corpus", "--key", "key.pub", "--store", other, "--json").json
        trusted = anchored.run(*allowed, other)
        unnamed, again = (
            drift(anchored, "check", "d", "--store", other, *panel) for panel in ((), ("--panel", "independent"))
        )
        anchored("export", "--run", "d.draws", "-o", "again", "--store", other)
    _rewrite_file(files / "d.drift.jsonl", "pppp", "pfpp")
    changed = anchored("verify", "corpus/d.drift.jsonl")

    assert "1 checks used up each draw once" in audited
    assert "signed by a key that you gave" in audited
    assert (0, True) == (verified.code, "baseline d: 1 check" in verified.err), verified.err
    assert "drift d: none (imported without a key: does not count)" == shown.out.splitlines()[0]
    assert (2, True) == (foreign.code, "of d, were imported without a trusted key and count for nothing" in foreign.err)
    assert "none (imported without a key: does not count)" in listed.out
    assert (0, True, 0) == (known.code, "last drift check today: none" in known.err, checked.code), checked.out
    assert [("d", 1, True)] == [(one["drift_id"], one["checks"], one["trusted"]) for one in imported["baselines"]]
    assert (0, True) == (trusted.code, "last drift check today: none" in trusted.err), trusted.err
    assert (2, True) == (unnamed.code, "was imported: name the panel file" in unnamed.err)
    assert 0 == again.code, again.err
    assert "verified with" in anchored("drift", "show", "d", "--store", other).out
    assert 0 == anchored("verify", "--all", "--deep", "--store", other).code
    assert "2 checks used up" in _audited(anchored.folder / "again" / "d.drift.jsonl", None, capsys)
    assert (5, True) == (changed.code, "does not verify" in changed.err), changed.err


def _audited(file: Path, key: Path | None, capsys: pytest.CaptureFixture[str]) -> str:
    auditor.audit(file, [] if key is None else key.read_text().split(), None)
    return capsys.readouterr().out


def _rewrite_file(file: Path, old: str, new: str) -> None:
    """Change the first vote as who computes the chain and the manifest anew; the seal does not fit any more."""
    first, *lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    previous, found = bytes(32), False
    for line in lines[: next(iter(first["streams"].values()))["events"]]:
        found = found or old in line["body"]
        line["body"] = line["body"].replace(old, new, 1) if line["type"] == "draws_judged" else line["body"]
        fields = {name: line[name] for name in ("stream", "version", "event_id", "schema", "recorded_at")}
        previous = chain_hash(previous, event_type=line["type"], body=line["body"].encode(), **fields)
        line["hash"] = base64.urlsafe_b64encode(previous).rstrip(b"=").decode()
    assert found
    body = b"".join(canonical_json(line) + b"\n" for line in lines)
    next(iter(first["streams"].values()))["head"] = base64.urlsafe_b64encode(previous).rstrip(b"=").decode()
    first["sha256"] = hashlib.sha256(body).hexdigest()
    file.write_bytes(canonical_json(first) + b"\n" + body)


def test_who_judges_or_decides_by_a_panel_without_a_check_is_refused(anchored: CommandLine) -> None:
    calls = [
        (*words.split(), "--require-drift-check", "7d")
        for words in ("resume r", "run anchors.jsonl --run r --panel independent", "gate spring --true {}")
    ]
    with jurors():
        anchored.run("anchors.jsonl", "--run", "r", "--panel", "independent", "--max-calls", "6")
        refused = [anchored(*call) for call in calls]
        drift(anchored, "check", "d")
        allowed = [anchored(*call) for call in calls]

    said = "--require-drift-check: no drift check of this panel"
    assert [(2, True)] * 3 == [(one.code, said in one.err) for one in refused]
    assert [] == [one.err for one in allowed if "require-drift-check" in one.err]


async def test_a_jury_and_a_server_refuse_a_panel_without_a_check(anchored: CommandLine) -> None:
    url = f"sqlite:///{anchored.folder / 'jury.db'}"
    case = {key: ANCHORS[0][key] for key in ("case_id", "question", "response")}
    check = DriftCheckRun(DriftCheckSettings.of(drift_id="d", store_url=url, in_process=True))
    made = partial(Jury, "independent", store=url, sources=Sources(require_drift_check="7d"))
    with jurors():
        async with made() as jury:
            with pytest.raises(SettingsRefused, match="require_drift_check: no drift check of this panel"):
                await jury.evaluate(case)
            refused = await asyncio.to_thread(_submitted, made, url, case)
            opened = await asyncio.to_thread(check.open)
            with pytest.raises(RunRefused, match="10 debates of the baseline d go on"):
                await asyncio.to_thread(check.record, opened)
            ended = await check.judge()
            judged = await jury.evaluate(case)
        taken = await asyncio.to_thread(_submitted, made, url, case)

    assert (422, True) == (refused.status_code, "requireDriftCheck: no drift check" in refused.json()["error"])
    assert (True, "safe_pass") == (ended.open_check is None, judged.final_verdict)
    assert 202 == taken.status_code, taken.text


def _submitted(made: Callable[..., Jury], url: str, case: dict[str, Any]) -> Response:
    with closing(open_store(url, write=False)) as store:
        service = Service(store, {"independent": lambda on_chunk: made(on_chunk=on_chunk)}, store_url=url)
        app = create_app(service, AccessPolicy(frozenset({"jury.test"})), [])
        with TestClient(app, base_url="http://jury.test") as client:
            return client.post("/api/evaluations", json={"case": case})


def test_what_a_baseline_and_a_check_refuse(anchored: CommandLine, printed: RefusalTables) -> None:
    anchored.write("bare.jsonl", {"case_id": "a", "question": "Hi?", "response": "Hi."})
    anchored.write("few.jsonl", *ANCHORS[:3])
    calls = (
        "baseline e bare.jsonl",
        "baseline e anchors.jsonl --draws 1",
        "baseline e anchors.jsonl --stratum cluster",
        "baseline e anchors.jsonl --run none",
        "baseline d few.jsonl --panel independent",
        "baseline d anchors.jsonl --panel parallel-rounds",
        "baseline d --draws 2",
        "baseline none",
        "check none",
        "check d --run spring",
        "check d --run-pairs 3",
        "check d --pairs 9999",
        "check a/b",
        "show d --check 4",
        "plan --anchors 5 --pairs 6",
    )
    with jurors():
        said = {call: drift(anchored, *call.split()) for call in calls}

    assert {2} == {one.code for one in said.values()}
    printed.compare("drift", {call: one.err.strip().splitlines()[-1] for call, one in said.items()})


def _events(jury: CommandLine):
    with closing(open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)) as store:
        return [decode_drift(one) for one in store.read_stream("drift/d")]


def _rewrite(connection: sqlite3.Connection, event: str, old: str, new: str) -> None:
    """Change the last event of that type as who can compute the chain anew."""
    columns = "stream, version, event_id, type, schema, recorded_at, body, hash"
    made = connection.execute(f"SELECT {columns} FROM events WHERE stream = 'drift/d' ORDER BY version").fetchall()
    place = max(place for place, row in enumerate(made) if row[3] == event)
    previous = made[place - 1][-1]
    for number, (stream, version, name, kind, schema, at, body, _) in enumerate(made[place:]):
        changed = body.replace(old.encode(), new.encode(), 1) if not number else body
        previous = chain_hash(
            previous,
            stream=stream,
            version=version,
            event_id=name,
            event_type=kind,
            schema=schema,
            recorded_at=at,
            body=changed,
        )
        connection.execute(
            "UPDATE events SET body = ?, hash = ? WHERE stream = ? AND version = ?",
            (changed, previous, stream, version),
        )
    connection.execute("UPDATE streams SET hash = ? WHERE stream = 'drift/d'", (previous,))
