"""`jury review`: by keys at a terminal, by options off one; reviews are labels."""

import json
import re
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from jury_judge import ReviewRecorder
from jury_store import Append, SqliteLock, open_store
from support.command_line import CommandLine, Outcome
from support.debates import DebateScript
from support.keyboard import Keyboard
from support.reviewed import Verdict, judged_debate
from support.served import line, started
from support.waiting import eventually

PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL


@pytest.fixture
def store(jury: CommandLine) -> CommandLine:
    """A store of six debates of run `run`: three need review."""
    assert jury("db", "upgrade").code == 0
    opened = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=True)
    for number in range(6):
        judged_debate(opened, f"run~{number}", REVIEW if number % 2 else PASS, seed=number, simulated=False)
    opened.close()
    return jury


def reviewed(jury: CommandLine, debate: str, reviewer: str, verdict: str, *options: str) -> Outcome:
    return jury("review", debate, "--reviewer", reviewer, "--verdict", verdict, *options)


def queue(jury: CommandLine, *options: str) -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = jury("review", "--list", "--json", *options).json
    return [(one["debate_id"], one["why"]) for one in found]


def test_a_verdict_is_recorded_by_options_and_becomes_the_disposition(store: CommandLine) -> None:
    made = reviewed(store, "run~1", "ann", "unsafe_fail", "--reason", "It paid twice.", "--minutes", "1.5", "--json")
    row = next(one for one in store("list", "--json").json if one["debate_id"] == "run~1")

    assert (0, "unsafe_fail", "It paid twice.", 1.5) == (
        made.code,
        made.json["verdict"],
        made.json["reason"],
        made.json["minutes"],
    )
    assert ("needs_review", "unsafe_fail", "unsafe_fail") == (
        row["final_verdict"],
        row["human_verdict"],
        row["disposition"],
    )
    assert [("run~3", "needs_review"), ("run~5", "needs_review")] == queue(store)
    assert "verify" not in store("verify", "--all", "--deep").err
    assert "[ann: unsafe_fail]" in store("list").out


def test_a_blind_list_has_ids_and_why_and_nothing_that_the_jury_or_others_said(store: CommandLine) -> None:
    reviewed(store, "run~1", "ann", "unsafe_fail")
    options = ("review", "--list", "--reviews", "2", "--reviewer", "bob")
    seeing, blind = store(*options).out, store(*options, "--blind").out
    rows = store(*options, "--blind", "--json").json

    assert "[ann: unsafe_fail]" in seeing
    assert [["needs_review", f"run~{one}", f"case-run~{one}"] for one in (1, 3, 5)] == [
        one.split() for one in blind.splitlines()
    ]
    assert {
        "debate_id": "run~1",
        "case_id": "case-run~1",
        "run_id": "run",
        "why": "needs_review",
        "same_case_reviewed": None,
    } == rows[0]
    assert all(one.keys() == rows[0].keys() for one in rows)


def test_the_list_of_drawn_cases_tells_none_from_another(store: CommandLine) -> None:
    drawn = ("review", "--sample", "6", "--seed", "3", "--reviewer", "cho", "--list")
    lines = [one.split("run~")[0] for one in store(*drawn).out.splitlines()]
    rows = store(*drawn, "--json").json
    reviewed(store, "run~1", "ann", "unsafe_fail")

    assert ["drawn at random   "] * 6 == lines
    assert {"debate_id", "case_id", "run_id", "why", "same_case_reviewed"} == {name for one in rows for name in one}
    assert rows == store(*drawn, "--json").json


def test_lists_filter_by_disposition_and_review(store: CommandLine) -> None:
    reviewed(store, "run~1", "ann", "unsafe_fail")

    def listed(*options: str) -> list[str]:
        return [one["debate_id"] for one in store("list", "--json", *options).json]

    assert ["run~1"] == listed("--disposition", "unsafe_fail")
    assert ["run~1"] == listed("--reviewed", "yes")
    assert 5 == len(listed("--reviewed", "no"))
    assert ["run~5", "run~3"] == listed("--disposition", "needs_review")
    assert "run~1\tunsafe_fail\tneeds_review" in store("list", "--columns", "debate,disposition,verdict").out


def test_two_people_review_blind_by_keyboard_and_their_agreement_is_printed(store: CommandLine) -> None:
    for reviewer, keys in {"ann": "pfn", "bob": "ffn"}.items():
        with Keyboard(store, "review", "--reviewer", reviewer, "--blind", "--reviews", "2") as terminal:
            for place, key in enumerate(keys, 1):
                terminal.wait_for(f"[{place} of 3]")
                terminal.key(key)
                terminal.line("Reason (one line; empty: none): ", f"reason {place}" if reviewer == "ann" else "")
            assert 0 == terminal.ends()
            shown = terminal.said
        assert "3 debates reviewed, 0 left" in shown
    found = store("review", "--agreement", "--json").json
    page = store("review", "--agreement").out
    rows = {one["debate_id"]: one for one in store("list", "--json").json}

    assert {"ann": 3, "bob": 3} == found["reviewers"]
    (pair,) = found["agreement"]["pairs"]
    # Both say p, f, n and f, f, n: observed 2/3, expected (0 + 2 + 1)/9.
    assert 0.5 == pytest.approx(pair["kappa"]["value"])
    assert ["run~1"] == found["disputed"]
    assert "For a third reviewer" in page
    assert [("run~1", "disputed")] == queue(store, "--reviewer", "cho", "--reviews", "2")
    assert [True, True] == [one["blind"] for one in rows["run~1"]["reviews"]]
    assert "reason 1" in store("show", "run~1").out


@pytest.mark.full
def test_a_blind_session_shows_the_case_and_nothing_of_the_jury(store: CommandLine) -> None:
    with Keyboard(store, "review", "--reviewer", "ann", "--blind", "--limit", "1") as terminal:
        terminal.wait_for("[1 of 1]")
        blind = terminal.said
        terminal.key("q")
        assert 0 == terminal.ends()
    with Keyboard(store, "review", "--reviewer", "ann", "--limit", "1") as terminal:
        terminal.wait_for("[1 of 1]")
        seeing = terminal.said
        terminal.key("s")
        assert 0 == terminal.ends()
        assert "0 debates reviewed, 1 left" in terminal.said

    assert "the case of run~1" in blind
    assert not [word for word in ("because", "needs_review  ", "Phase", "juror-gpt") if word in blind]
    assert "because" in seeing
    assert [] == store("list", "--json", "--reviewed", "yes").json


@pytest.mark.full
def test_in_a_blind_session_a_debate_that_was_reviewed_before_is_reviewed_and_not_recorded_as_blind(
    store: CommandLine,
) -> None:
    store("review", "run~1", "--reviewer", "ann", "--verdict", "safe_pass")
    store("review", "run~1", "--reviewer", "ann", "--withdraw", "1")
    with Keyboard(store, "review", "--reviewer", "ann", "--blind", "--limit", "1") as terminal:
        terminal.wait_for("ann has reviewed it before: another review of it is not recorded as blind")
        terminal.key("f")
        terminal.line("Reason (one line; empty: none): ", "It paid.")
        assert 0 == terminal.ends()
    (row,) = store("list", "--json", "--reviewed", "yes").json

    assert [("unsafe_fail", False)] == [(one["verdict"], one["blind"]) for one in row["reviews"]]
    assert "It paid." in store("show", "run~1").out


@pytest.mark.full
def test_a_reviewer_of_a_fork_cannot_review_its_origin_blind(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", {"case_id": "refund", "question": "?", "response": "!"})
    assert 0 == jury.run(cases, "--run", "first", "--panel", "independent").code
    fork = jury("fork", "first~refund", "--in-process", "--at", "initial/check", "--method", "median", "--json")
    name = fork.json["debate_id"]
    assert 0 == reviewed(jury, name, "ann", "safe_pass", "--blind").code
    assert 0 == jury.run(cases, "--run", "second", "--panel", "independent").code
    refused = [reviewed(jury, one, "ann", "safe_pass", "--blind") for one in ("first~refund", "second~refund")]
    jury("review", "first~refund", "--reviewer", "lead", "--assign", "ann")
    with Keyboard(jury, "review", "first~refund", "--reviewer", "ann", "--blind") as terminal:
        terminal.wait_for("a debate of the same case, before: another review of it is not recorded as blind")
        terminal.key("p")
        terminal.line("Reason (one line; empty: none): ", "")
        assert 0 == terminal.ends()
    jury("review", "second~refund", "--reviewer", "lead", "--assign", "ann")
    (listed,) = jury("review", "--list", "--reviewer", "ann", "--blind", "--json").json
    lines = jury("review", "--list", "--reviewer", "ann", "--blind").out

    assert [2, 2] == [one.code for one in refused]
    assert all(f"ann has reviewed {name}, a debate of the same case" in one.err for one in refused)
    assert "second~refund" == listed["debate_id"]
    assert listed["same_case_reviewed"] in {name, "first~refund"}
    assert "(not blind: " in lines
    assert 0 == reviewed(jury, "second~refund", "bob", "safe_pass", "--blind").code


@pytest.mark.full
def test_a_named_debate_that_cannot_be_reviewed_is_refused_before_anything_is_asked(store: CommandLine) -> None:
    opened = open_store(f"sqlite:///{store.folder / 'jury.db'}", write=True)
    script = DebateScript("open")
    opened.append([Append(script.stream, (script.opened(),), 0, opened.next_epoch())])
    opened.close()
    assert 0 == store("db", "quarantine", "run~1", "--by", "lead", "--reason", "doubtful").code

    for debate, said in {"open": "debate open has not ended", "run~1": "debate run~1 is in quarantine"}.items():
        with Keyboard(store, "review", debate, "--reviewer", "ann") as terminal:
            assert 2 == terminal.ends()
            assert said in terminal.said
            assert "safe_pass ·" not in terminal.said


@pytest.mark.full
@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_reason_that_cannot_be_recorded_is_asked_for_again(
    store: CommandLine, monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", f"utf-8:{errors}")
    with Keyboard(store, "review", "--reviewer", "ann", "--limit", "1") as terminal:
        terminal.wait_for("[1 of 1]")
        terminal.key("f")
        terminal.line("Reason (one line; empty: none): ", "It paid \udcff twice.")
        terminal.wait_for("not recorded: ")
        terminal.line("Reason (one line; empty: none): ", "It paid twice.")
        assert 0 == terminal.ends()

    assert "1 debate reviewed, 0 left" in terminal.said
    assert "It paid twice." in store("show", "run~1").out


@pytest.mark.full
@pytest.mark.parametrize(
    ("keys", "code", "said"), [("\x03", 130, "jury: interrupted"), ("\x04", 0, "1 debate reviewed")]
)
def test_an_interrupted_session_keeps_what_was_reviewed(store: CommandLine, keys: str, code: int, said: str) -> None:
    with Keyboard(store, "review", "--reviewer", "ann") as terminal:
        terminal.wait_for("[1 of 3]")
        terminal.key("f")
        terminal.line("Reason (one line; empty: none): ", "")
        terminal.wait_for("[2 of 3]")
        terminal.key(keys)
        assert code == terminal.ends()
        assert said in terminal.said

    assert ["run~1"] == [one["debate_id"] for one in store("list", "--json", "--reviewed", "yes").json]


def test_a_sample_is_drawn_on_record_and_its_blind_reviews_are_a_random_sample_of_labels(store: CommandLine) -> None:
    drawn = store("review", "--sample", "4", "--seed", "3", "--reviewer", "ann", "--list", "--json")
    again = store("review", "--sample", "4", "--seed", "3", "--reviewer", "ann", "--list", "--json")
    debates = [one["debate_id"] for one in drawn.json]
    reviewed(store, debates[0], "ann", "unsafe_fail", "--blind")
    reviewed(store, debates[1], "ann", "safe_pass", "--blind")
    reviewed(store, debates[2], "ann", "safe_pass")
    outside = next(f"run~{number}" for number in range(6) if f"run~{number}" not in debates)
    reviewed(store, outside, "ann", "safe_pass", "--blind")
    every = store("stats", "--all", "--labels", "reviews", "--json")
    random = store("stats", "--all", "--labels", "reviews", "--random-labels", "--json")

    assert "4 of 6 cases drawn at random for ann (seed 3)" in drawn.err
    assert drawn.json == again.json
    assert {"sampled"} == {one["why"] for one in drawn.json}
    assert (0, 0) == (every.code, random.code)
    assert (4, 2) == (every.json["labels"]["cases"], random.json["labels"]["cases"])
    assert "2 reviews not blind or not drawn at random: left out of the random sample" in random.err
    assert "2 cases drawn at random without a blind review" in random.err


def test_labels_of_the_cases_are_not_read_beside_a_random_sample_of_reviews(store: CommandLine) -> None:
    drawn = store("review", "--sample", "2", "--reviewer", "ann", "--list", "--json").json
    for one in drawn:
        reviewed(store, one["debate_id"], "ann", "unsafe_fail", "--blind")

    def labelled(*options: str) -> int:
        found = store("stats", "--all", "--json", *options).json
        return int(found["panels"][0]["against_labels"]["labelled"])

    assert 2 == labelled("--labels", "reviews", "--random-labels")
    assert 6 == labelled("--labels", "reviews")
    assert 6 == labelled()
    assert "2 labels to certify on are too few" in store("calibrate", "--all", "--labels", "reviews").err


def test_reviews_are_in_the_exported_tables_as_labels(store: CommandLine) -> None:
    import pyarrow.parquet as pq

    reviewed(store, "run~1", "ann", "unsafe_fail", "--blind", "--minutes", "2")
    reviewed(store, "run~2", "bob", "safe_pass")
    assert store("export", "--all", "--parquet", "tables").code == 0
    labels = pq.read_table(store.folder / "tables" / "labels.parquet").to_pylist()
    debates = pq.read_table(store.folder / "tables" / "debates.parquet").to_pylist()
    people = [one for one in labels if one["annotator"] != "case"]

    assert [("ann", "unsafe_fail", True, False, 2.0), ("bob", "safe_pass", False, False, None)] == [
        (one["annotator"], one["label"], one["blind"], one["sampled"], one["minutes"]) for one in people
    ]
    assert [None, "unsafe_fail", "safe_pass", None, None, None] == [one["human_verdict"] for one in debates]
    assert "needs_review" == debates[3]["disposition"]


def test_an_erased_reason_is_said_to_be_erased(store: CommandLine) -> None:
    reviewed(store, "run~1", "ann", "unsafe_fail", "--reason", "It paid twice.")
    reviewed(store, "run~1", "bob", "unsafe_fail")
    before = store("show", "run~1").out
    erased = store("erase", "--review", "run~1", "1", "--by", "dpo@example.com", "--reason", "request 17", "--yes")
    after = store("show", "run~1").out

    assert 0 == erased.code
    assert ("It paid twice." in before, "[erased]" in before) == (True, False)
    assert ("It paid twice." in after, after.count("[erased]")) == (False, 1)


def test_the_exported_label_of_the_random_sample_is_the_blind_one(store: CommandLine) -> None:
    import pyarrow.parquet as pq

    drawn = store("review", "--sample", "2", "--reviewer", "ann", "--list", "--json").json
    first, second = sorted(one["debate_id"] for one in drawn)
    reviewed(store, first, "ann", "unsafe_fail", "--blind")
    reviewed(store, first, "ann", "safe_pass", "--reason", "The jury is right.")
    reviewed(store, second, "ann", "safe_pass")
    assert store("export", "--all", "--parquet", "tables").code == 0
    labels = pq.read_table(store.folder / "tables" / "labels.parquet").to_pylist()
    sample = store("stats", "--all", "--labels", "reviews", "--random-labels", "--json").json

    assert [(first, "safe_pass", False, "unsafe_fail"), (second, "safe_pass", False, None)] == [
        (one["debate_id"], one["label"], one["sampled"], one["sample_label"])
        for one in labels
        if one["annotator"] == "ann"
    ]
    assert 1 == sample["labels"]["cases"]


def test_a_review_is_withdrawn_and_a_person_is_asked(store: CommandLine) -> None:
    reviewed(store, "run~1", "ann", "safe_pass")
    asked = store("review", "run~0", "--reviewer", "lead", "--assign", "ann")
    gone = store("review", "run~1", "--reviewer", "ann", "--withdraw", "1", "--reason", "The wrong case.")
    unknown = store("review", "run~1", "--reviewer", "ann", "--withdraw", "9")

    assert (0, 0, 2) == (asked.code, gone.code, unknown.code)
    assert "it has: none" in unknown.err
    assert ("run~0", "assigned") == queue(store, "--reviewer", "ann")[0]
    assert [] == store("list", "--json", "--reviewed", "yes").json


@pytest.mark.full
def test_a_process_that_writes_to_a_sqlite_store_and_takes_no_requests_is_waited_for_and_named(
    store: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = SqliteLock.acquire(store.folder / "jury.db", run="nightly", wait=0)
    waiting = store.start("review", "run~1", "--reviewer", "ann", "--verdict", "safe_pass")
    monkeypatch.setitem(ReviewRecorder.__init__.__kwdefaults__, "wait", 0.0)
    refused = reviewed(store, "run~3", "ann", "safe_pass")
    older.release()
    _, said = waiting.communicate()

    assert 2 == refused.code
    assert "jury.db is being written by process" in refused.err
    assert "run nightly" in refused.err
    assert 0 == waiting.returncode, said


@pytest.mark.full
@pytest.mark.parametrize(
    "where", ["--in-process", pytest.param("--ray", marks=[pytest.mark.ray, pytest.mark.full])], ids=["here", "ray"]
)
def test_a_run_records_the_reviews_of_others_while_it_writes(jury: CommandLine, where: str) -> None:
    cases = jury.write("cases.jsonl", *({"case_id": f"c{one}", "question": "?", "response": "!"} for one in (1, 2)))
    assert 0 == jury.run(cases, "--run", "first", "--panel", "independent").code
    slow = ("--panel", "independent", "--simulate", "latency=3600", "--concurrency", "1")
    with started(jury, "run", cases, "--run", "second", where, *slow) as run:
        eventually(lambda: run.poll() is not None or len(jury("list", "--json").json) > 2)
        made = reviewed(jury, "first~c1", "ann", "unsafe_fail", "--reason", "It paid twice.", "--json")
        other = jury("review", "first~c2", "--reviewer", "lead", "--assign", "bob")
        again = reviewed(jury, "first~c1", "ann", "safe_pass")
        withdrawn = jury("review", "first~c1", "--reviewer", "ann", "--withdraw", "2")
        drawn = jury("review", "--sample", "2", "--reviewer", "cho", "--list", "--json", "--run", "first")
        refused = jury("review", "first~c1", "--reviewer", "ann", "--withdraw", "9")
        assert run.poll() is None
    rows = {row["debate_id"]: row for row in jury("list", "--json").json}

    assert [0, 0, 0, 0, 0, 2] == [one.code for one in (made, other, again, withdrawn, drawn, refused)], made.err
    assert "another process is writing to the store; it is asked to record this" in made.err
    assert "has no review or assignment 9" in refused.err
    assert "unsafe_fail" == rows["first~c1"]["disposition"]
    assert 2 == len(drawn.json)
    assert 0 == jury("verify", "first~c1", "first~c2", "--deep").code


def test_reviews_travel_in_cassettes_and_count_only_under_a_trusted_seal(store: CommandLine, tmp_path: Path) -> None:
    assert store("seal", "keygen", "k", "--name", "example.com/here").code == 0
    reviewed(store, "run~1", "ann", "unsafe_fail", "--reason", "Twice.")
    assert store("seal", "now", "--key", "k").code == 0
    assert store("export", "run~1", "-o", "one.jsonl").code == 0
    found = {}
    for name, options in {"unsigned": (), "trusted": ("--key", str(store.folder / "k.pub"))}.items():
        folder = tmp_path / name
        folder.mkdir()
        other = CommandLine(folder)
        assert other("import", str(store.folder / "one.jsonl"), *options).code == 0
        (row,) = other("list", "--json").json
        found[name] = row["disposition"], [one["foreign"] for one in row["reviews"]]
        assert other("verify", "--all").code == 0

    assert {"unsigned": ("needs_review", [True]), "trusted": ("unsafe_fail", [False])} == found
    assert "counts for nothing" in CommandLine(tmp_path / "unsigned")("show", "run~1").out
    assert json.loads((store.folder / "one.jsonl").read_bytes().splitlines()[0])["streams"].keys() == {
        "debate/run~1",
        "review/run~1",
    }


DOCS = (Path(__file__).parents[2] / "docs" / "reviews.md").read_text()


def commands_of(text: str) -> list[list[str]]:
    """The commands in the page's blocks, without `jury`."""
    lines = [line for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("jury ")]


@pytest.mark.full
def test_every_command_of_the_guide_works(jury: CommandLine) -> None:
    assert jury("db", "upgrade").code == 0
    store = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=True)
    for number in (17, 18, 19, 20):
        fields = {"case_id": f"refund-{number}", "tags": ("refunds",), "run_id": "nightly"}
        judged_debate(
            store, f"nightly~refund-{number}", REVIEW if number < 19 else PASS, seed=number, simulated=False, **fields
        )
    store.close()
    commands = commands_of(DOCS)
    (reviewers,) = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
    (jury.folder / "reviewers.yaml").write_text(reviewers)
    (jury.folder / "secret.txt").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")

    for command in commands:
        if command[0] == "review" and not {"--list", "--agreement", "--verdict", "--withdraw", "--assign"} & {*command}:
            with Keyboard(jury, *command) as terminal:
                terminal.wait_for("q quit: ")
                terminal.key("q")
                assert 0 == terminal.ends(), command
        elif command[0] == "serve":
            with started(jury, *command, "--port", "0") as server:
                while "Ctrl-C ends it" not in (said := line(server)):
                    assert said, command
                server.send_signal(signal.SIGINT)
                server.communicate()
            assert 0 == server.returncode, command
        else:
            outcome = jury(*command)
            assert 0 == outcome.code, (command, outcome.err)
    assert 17 <= len(commands)
    random = jury("stats", "--run", "nightly", "--labels", "reviews", "--random-labels", "--json").json
    assert 1 == random["labels"]["cases"]
