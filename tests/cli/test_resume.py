"""A run is its listed debates: `jury resume` goes on with them from the store, and `jury verify` knows the list."""

import asyncio
import shutil
from pathlib import Path

import pytest

from jury_events import decode_run, run_facts, run_stream
from jury_judge import Jury, RunSettings, cancellations_at, judge_run, resumed_run
from jury_store import open_store
from support.command_line import CommandLine
from support.unguarded import unguarded

CASES = [
    {"case_id": f"c{n}", "prompt": "Refund order 17.", "response": f"Refunded ({n}).", "metadata": {"level": n % 3}}
    for n in range(8)
]


OPENING = "stream = 'debate/r~c3' AND version = 1"
LISTED = "are not those that were listed"


class Stopped(Exception):
    """The terminal was lost."""


@pytest.fixture(scope="module")
def lost_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose process ended after its first results, and whose file is gone."""
    folder = tmp_path_factory.mktemp("lost")

    async def judged() -> None:
        async with Jury(store=f"sqlite:///{folder / 'jury.db'}", concurrency=1) as judge:
            results = judge.evaluate_many(CASES, run_id="r")
            async for _ in results:
                break
            with pytest.raises(Stopped):
                await results.athrow(Stopped())

    asyncio.run(judged())
    return folder


@pytest.fixture
def lost(lost_folder: Path, tmp_path: Path) -> CommandLine:
    """A copy of it."""
    return CommandLine(Path(shutil.copytree(lost_folder, tmp_path / "lost")))


def _facts(jury: CommandLine):
    store = open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)
    try:
        return run_facts(store.read_stream(run_stream("r"))), [decode_run(one) for one in store.read_stream("run/r")]
    finally:
        store.close()


def test_a_run_whose_files_are_gone_goes_on_from_its_store_to_equal_verdicts(lost: CommandLine) -> None:
    before = lost("verify", "--all", "--json").json["runs"][0]
    waits = lost("list", "--status", "waiting", "--json").json

    outcome = lost("resume", "r", "--jsonl")

    assert (8, True) == (before["listed"], before["waiting"] > 0)
    assert before["waiting"] == len(waits)
    assert 0 == outcome.code, outcome.err
    assert [one["case_id"] for one in CASES] == [line["case_id"] for line in outcome.lines]
    other = CommandLine(lost.folder / "other")
    other.folder.mkdir()
    whole = other.run(other.write("cases.jsonl", *CASES), "--run", "r", "--jsonl")
    verdicts = [[line["final_verdict"] for line in one.lines] for one in (outcome, whole)]
    assert verdicts[0] == verdicts[1]
    assert 0 == lost("verify", "--all", "--deep").code
    facts, events = _facts(lost)
    assert facts is not None
    assert (8, True, 8) == (facts.listed, facts.complete, facts.ended and facts.ended.debates)
    assert ["run_opened", "cases_listed"] == [one.type for one in events[:2]]
    assert ["list_completed", "run_ended"] == [
        one.type for one in events if one.type not in {"run_opened", "cases_listed"}
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (f"UPDATE events SET hash = zeroblob(32) WHERE {OPENING}", LISTED),
        ("DELETE FROM events WHERE stream = 'debate/r~c3'", LISTED),
        (
            "UPDATE events SET body = CAST(body || ' ' AS BLOB) WHERE stream = 'run/r' AND version = 1",
            "run/r, event 1",
        ),
        ("DELETE FROM events WHERE stream = 'run/r' AND version = 2", "run/r, event 2"),
    ],
)
def test_a_debate_that_was_replaced_or_is_gone_behind_the_list_is_found(
    lost: CommandLine, change: str, says: str
) -> None:
    with unguarded(lost.folder / "jury.db") as connection:
        connection.execute(change)

    outcome = lost("verify", "--all")

    assert 5 == outcome.code
    assert any("run/r" in line and says in line for line in outcome.out.splitlines()), outcome.out


def test_a_run_that_is_not_there_is_named(lost: CommandLine) -> None:
    none = lost("resume", "none")

    assert (2, True) == (none.code, "there is no run 'none' in this store" in none.err)


def test_a_run_of_a_store_that_was_never_made_is_begun_with_its_files(jury: CommandLine) -> None:
    missing = jury("resume", "r")

    assert 2 == missing.code
    assert "db upgrade" not in missing.err
    assert missing.err.rstrip().endswith("or begin it with its files: jury run FILES --run r")
    assert not (jury.folder / "jury.db").exists()


def test_a_cancelled_run_keeps_what_waits_and_a_person_reopens_it(lost: CommandLine) -> None:
    done = lost("cancel", "r", "--by", "ann")
    again = lost("cancel", "r", "--by", "bob")
    (listed,) = lost("runs", "--json").json
    verified = lost("verify", "--all", "--json").json
    waits = listed["waiting"]
    cancelled, _ = _facts(lost)

    assert 0 == done.code, done.err
    assert (waits > 0, "ann", True) == (waits > 0, listed["cancelled_by"], verified["ok"])
    assert (f"cancelled by ann, {listed['cancelled']} cancelled, {waits} waiting") in lost("runs").out
    assert f"{waits} cases not begun (jury resume r goes on with them)" in done.err
    assert "ann" == verified["runs"][0]["cancelled_by"]
    assert cancelled is not None
    assert (1, "ann") == (cancelled.requests, cancelled.cancelled_by), again.err
    assert 0 == lost("db", "rebuild").code
    assert "ann" == lost("runs", "--json").json[0]["cancelled_by"]

    timed = lost.run(lost.write("cases.jsonl", *CASES), "--run", "r", "--batch", "--once")

    assert (4, True) == (timed.code, "was cancelled by ann" in timed.err)
    assert (waits, "ann") == tuple(lost("runs", "--json").json[0][name] for name in ("waiting", "cancelled_by"))

    outcome = lost("resume", "r", "--jsonl")

    assert 0 == lost("verify", "--all", "--deep").code
    facts, events = _facts(lost)
    assert facts is not None
    assert (None, 1, 1) == (facts.cancelled_by, facts.requests, facts.reopenings)
    assert ["cancel_requested", "run_reopened"] == [
        one.type for one in events if one.type in {"cancel_requested", "run_reopened"}
    ]
    assert f"run r was cancelled by ann; {facts.opened.by} goes on with it" in outcome.err
    assert listed["cancelled"] == sum(line["status"] == "cancelled" for line in outcome.lines)
    assert 8 == len(outcome.lines)
    assert lost("runs", "--json").json[0]["cancelled_by"] is None


def test_a_case_without_an_evaluation_is_judged_again_and_its_first_debate_counts_nowhere(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    cases = jury.write("cases.jsonl", *CASES)
    faults = ("--simulate", "bad_request=0.85", "--simulate", "seed=3")
    first = jury.run(cases, "--run", "r", "--jsonl", *faults)
    lost = [one["debate_id"] for one in first.lines if one["final_score"] is None]
    spent = jury("list", "--run", "r", "--totals", "--json").json["calls"]

    again = jury("resume", "r", "--again", "no_evaluation", "--jsonl", *faults)
    still = [one["debate_id"] for one in again.lines if one["final_score"] is None]
    last = jury("resume", "r", "--again", "no_evaluation", "--jsonl")
    none = jury("resume", "r", "--again", "no_evaluation", "--jsonl")

    assert (3, True) == (first.code, "again, jury resume r --again no_evaluation" in first.err)
    assert f"{len(lost)} cases that ended without an evaluation are judged again" in again.err
    assert 0 < len(still) < len(lost)
    assert all(one.endswith("~a2") for one in still)
    ids = [line["debate_id"] for line in last.lines]
    assert [one["case_id"] for one in CASES] == [line["case_id"] for line in last.lines]
    assert (last.code, last.out) == (none.code, none.out), none.err
    gone = {*lost, *still}
    listed, exported = (
        jury("list", "--run", "r", "--limit", "99", "--json"),
        jury("export", "--run", "r", "--csv", "x"),
    )
    assert sorted(ids) == sorted(one["debate_id"] for one in listed.json)
    assert {*ids} == {
        line.split(",")[0].strip('"') for line in (tmp_path / "x/debates.csv").read_text().splitlines()[1:]
    }, exported.err
    assert gone.isdisjoint(ids)
    assert (8, 8) == tuple(jury("runs", "--json").json[0][name] for name in ("debates", "completed"))
    assert jury("list", "--run", "r", "--totals", "--json").json["calls"] > spent
    assert {*ids} == {line["debate_id"] for line in jury("rescore", "--run", "r", "--set", "quorum=1", "--jsonl").lines}
    assert "8 debates" in jury("stats", "--run", "r", "--include-simulated").out
    assert jury("db", "rebuild").code == jury("verify", "--all", "--deep").code == 0
    assert f"{lost[0]}~a2 counts in its place" in jury("show", lost[0]).out
    facts, _ = _facts(jury)
    assert facts is not None
    assert (8 + len(gone), True) == (facts.listed, facts.complete)
    assert 0 == jury("export", "--run", "r", "-o", "cassettes").code
    other = ("--store", "sqlite:///other.db")
    assert 0 == jury("import", "cassettes", *other).code
    (there,) = jury("verify", "--all", "--json", *other).json["runs"]
    assert (facts.listed, facts.listed, 0) == (there["listed"], there["ended"], there["missing"])
    assert sorted(ids) == sorted(one["debate_id"] for one in jury("list", "--limit", "99", "--json", *other).json)


def test_the_last_stage_of_a_ladder_is_judged_again(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    for name, seats in (("one", "xy"), ("two", "pq")):
        listed = ", ".join(f"{{model: simulated/m, juror_id: {one}}}" for one in seats)
        (tmp_path / f"{name}.yaml").write_text(f"preset: independent\nseats: [{listed}]\n")
    (tmp_path / "ladder.yaml").write_text("certificate: none\nstages: [{panel: one.yaml}, {panel: two.yaml}]\n")
    cases = jury.write("cases.jsonl", *CASES[:4])
    faults = ("--simulate", "bad_request=1.0")
    first = jury.run(cases, "--run", "r", "--panel", "ladder.yaml", "--jsonl", *faults)

    again = jury("resume", "r", "--again", "no_evaluation", "--jsonl")

    assert (3, 0) == (first.code, again.code), again.err
    assert [f"r~c{n}~s2~a2" for n in range(4)] == [line["debate_id"] for line in again.lines]
    assert 0 == jury("verify", "--all", "--deep").code


def test_who_asked_before_a_run_was_cancelled_does_not_reopen_it(lost: CommandLine) -> None:
    url = f"sqlite:///{lost.folder / 'jury.db'}"
    planned = resumed_run(RunSettings.of(run_id="r", store_url=url))
    planned.reopens = cancellations_at(url, "r")
    lost("cancel", "r", "--by", "ann")
    before = lost("runs", "--json").json[0]["waiting"]
    lines: list[object] = []

    outcome = asyncio.run(judge_run(planned, lines.append))

    assert ("ann", False) == (outcome.cancelled_by, outcome.whole)
    assert before == lost("runs", "--json").json[0]["waiting"] > 0
    assert all(line["status"] in {"completed", "cancelled"} for line in lines)


def test_the_cases_of_a_run_are_a_source_for_another_panel(lost: CommandLine) -> None:
    erased = lost("erase", "--case", "c6", "--by", "ann", "--reason", "asked", "--yes")

    whole = lost("run", "run:r", "--run", "new", "--preset", "independent", "--jsonl")
    again = lost("run", "run:r", "--run", "new", "--preset", "independent", "--jsonl")
    some = lost("run", "run:r", "--run", "some", "--where", "metadata.level=1", "--limit", "2", "--jsonl")
    none = lost("run", "run:r", "--run", "none", "--case-id", "x*")

    assert (0, 0) == (erased.code, whole.code), whole.err
    assert [f"c{n}" for n in range(8) if n != 6] == [line["case_id"] for line in whole.lines]
    assert "1 case left out, whose texts were erased: c6" in whole.err
    assert whole.lines == again.lines
    assert ["c1", "c4"] == [line["case_id"] for line in some.lines]
    assert (2, "no case of run r matches") == (none.code, none.err.partition("jury: ")[2][:24])
    assert 0 == lost("verify", "--all", "--deep").code


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("run:none",), "there is no run 'none' in this store"),
        (("run:r", "cases.jsonl"), "run:ID takes the cases of one run of the store, and stands alone"),
        (("run:r", "--map", "label:x=none"), "--map says how files are read"),
    ],
)
def test_what_a_run_as_a_source_cannot_be(lost: CommandLine, given: tuple[str, ...], says: str) -> None:
    outcome = lost("run", *given, "--run", "new")

    assert (2, True) == (outcome.code, says in outcome.err), outcome.err


def test_a_list_alone_needs_no_key_and_is_judged_without_its_file(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    cases = jury.write("cases.jsonl", *CASES)
    listed = jury("run", cases, "--run", "r", "--list-only", "--panel", "current")
    again = jury("run", cases, "--run", "r", "--list-only", "--panel", "current")
    waits = jury("list", "--run", "r")
    (jury.folder / "cases.jsonl").unlink()
    (run,) = jury("verify", "--all", "--json").json["runs"]

    assert (0, "r\n", 0) == (listed.code, listed.out, again.code), listed.err
    assert "8 debates listed, 8 of them now" in listed.err
    assert "8 debates listed, 0 of them now" in again.err
    assert (0, "", "debates that wait are left out") == (waits.code, waits.out, waits.err[:30])
    assert (8, 8, True) == (run["listed"], run["waiting"], run["complete"])
    assert "KEY" in jury("resume", "r").err
