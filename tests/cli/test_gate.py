"""`jury gate`: decisions and exit codes, reports, plans, and what it refuses; the same in pytest and in Python."""

import json
import random
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from support.command_line import CommandLine, environment
from support.reference_data import FOLDER, needs_reference_data, reference
from support.vote_rows import Row, table_of, write_csv, write_jsonl

TRIVIAQA = ("--label", "human_label", "--cluster", "question", "--order", "correct,incorrect")
FAILING = tuple({"id": f"c{number}", "question": "Open?", "response": "At nine."} for number in range(12))


def rows(cases: int = 300, *, missed: int = 0) -> list[Row]:
    """Three judges of cases that all fail. `new` passes as many as are missed; `old` and `steady` none."""
    return [
        {
            "case_id": f"case-{number:04}",
            "label": "unsafe_fail",
            "judges": {
                "old": "unsafe_fail",
                "steady": "unsafe_fail",
                "new": "safe_pass" if number < missed else "unsafe_fail",
            },
        }
        for number in range(cases)
    ]


@pytest.fixture
def votes(jury: CommandLine) -> str:
    return str(write_jsonl(jury.folder / "votes.jsonl", rows(missed=60)))


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Runs `base`, judged twice, and `candidate` over the same cases, by other seats; for reading only."""
    jury = CommandLine(tmp_path_factory.mktemp("gates"))
    cases = jury.write("cases.jsonl", *FAILING)
    for run, panel in (("base", "independent"), ("candidate", "adk-sequential")):
        repeat = ("--repeat", "2") if run == "base" else ()
        assert 0 == jury.run(cases, "--run", run, "--panel", panel, *repeat).code
    return jury


def schema(name: str) -> Any:
    return json.loads((files("jury_analysis") / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))


@needs_reference_data
@pytest.mark.parametrize(
    ("name", "margin", "code"), [("gate_far", "0.02", 1), ("gate_near", "0.02", 0), ("gate_near", "0.005", 6)]
)
def test_panels_of_a_file_are_decided_as_computed_elsewhere(
    jury: CommandLine, name: str, margin: str, code: int
) -> None:
    expected = reference(name)
    sides = ("--base", ",".join(expected["base"]), "--candidate", ",".join(expected["candidate"]))
    called = (*sides, "--metric", "accuracy", "--margin", margin)

    votes = table_of(jury, FOLDER / "b2_triviaqa_judges.jsonl", *TRIVIAQA)

    outcome = jury("gate", "--votes", votes, *called, "--json")

    assert code == outcome.code
    change = outcome.json["gate"]["change"]
    figures = [change["value"], change["interval"]["low"], change["interval"]["high"]]
    assert [expected["accuracy_change"], *expected["ci95_clustered_t"]] == pytest.approx(figures, abs=1e-6)


def test_a_worse_judge_fails_and_an_equal_one_passes(jury: CommandLine, votes: str) -> None:
    worse = jury("gate", "--votes", votes, "--base", "old", "--candidate", "new")
    equal = jury("gate", "--votes", votes, "--base", "old", "--candidate", "steady")

    assert (1, 0) == (worse.code, equal.code)
    assert "fail: there is harm, and it may be larger than the margin" in worse.out.splitlines()
    assert "false_pass (more is worse)" in worse.out
    assert "pass: the harm is within the margin" in equal.out.splitlines()


def test_the_json_is_as_its_schemas_say(jury: CommandLine, votes: str) -> None:
    outcome = jury("gate", "--votes", votes, "--base", "old", "--candidate", "new", "--json")

    jsonschema.validate(outcome.json["gate"], schema("gate"))
    jsonschema.validate(outcome.json["paired"], schema("paired"))
    assert "fail: there is harm" in outcome.err
    assert 60 == outcome.json["gate"]["changed"]


def test_the_same_votes_give_the_same_bytes(jury: CommandLine) -> None:
    made = rows(80, missed=3)
    shuffled = random.Random(1).sample(made, len(made))
    flat = [
        {
            "case_id": one["case_id"],
            "label": one["label"],
            **{f"judges.{name}": one["judges"][name] for name in one["judges"]},
        }
        for one in made
    ]
    written = [
        write_jsonl(jury.folder / "a.jsonl", made),
        write_jsonl(jury.folder / "b.jsonl", shuffled),
        write_csv(jury.folder / "c.csv", flat),
    ]

    said = {
        jury("gate", "--votes", str(path), "--base", "old", "--candidate", "old,steady,new", "--json").out
        for path in written
    }

    assert 1 == len(said)


def test_too_few_cases_are_inconclusive_and_count_as_asked(jury: CommandLine) -> None:
    few = str(write_jsonl(jury.folder / "few.jsonl", rows(40, missed=2)))
    called = ("gate", "--votes", few, "--base", "old", "--candidate", "new")

    codes = [jury(*called, *more).code for more in ((), ("--inconclusive", "pass"), ("--inconclusive", "fail"))]

    assert [6, 0, 1] == codes
    assert "it would take" in jury(*called).out
    assert "counts as pass" in jury(*called, "--inconclusive", "pass").out


def test_few_cases_with_the_label_of_the_metric_could_find_nothing(jury: CommandLine) -> None:
    few = [
        {
            "case_id": f"c{n:03}",
            "label": "unsafe_fail" if n < 6 else "safe_pass",
            "judges": {"a": word, "b": "safe_pass"},
        }
        for n in range(246)
        for word in ["unsafe_fail" if n < 6 else "safe_pass"]
    ]
    file = str(write_jsonl(jury.folder / "few.jsonl", few))

    out = jury("gate", "--votes", file, "--base", "a", "--candidate", "b").out

    assert "6 of 246 pairs count, 6 of them change; 6 clusters" in out
    assert "nothing: too few cases" in out
    assert "410 cases of which 10 count" in out
    assert "they could find       nothing: too few cases" in jury("gate", "--plan", "5", "--metric", "accuracy").out


def test_labels_that_came_later_decide(jury: CommandLine, votes: str) -> None:
    labels = [{"case_id": f"case-{number:04}", "label": "safe_pass"} for number in range(300)]
    file = str(write_csv(jury.folder / "labels.csv", labels))
    called = ("gate", "--votes", votes, "--base", "old", "--candidate", "new", "--labels", file)

    outcome = jury(*called, "--metric", "false_fail", "--json")

    assert (0, -0.2) == (outcome.code, outcome.json["gate"]["harm"]["value"])


def test_reports_for_ci_are_written(jury: CommandLine, votes: str) -> None:
    called = ("gate", "--votes", votes, "--base", "old", "--candidate", "new")
    jury(*called, "--junit", "gate.xml", "--markdown", "gate.md")

    (case,) = ET.parse(jury.folder / "gate.xml").getroot().iter("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert ("gate old → new", "fail") == (case.get("name"), failure.get("type"))
    page = (jury.folder / "gate.md").read_text(encoding="utf-8")
    assert "## gate old → new" in page
    assert "**fail&#58; there is harm" in page
    assert "| safe\\_pass | 0 | 0 | 0 |" in page


def test_junit_says_what_a_gate_that_passes_inconclusively_decided(jury: CommandLine) -> None:
    few = str(write_jsonl(jury.folder / "few.jsonl", rows(40, missed=2)))
    sides = ("--base", "old", "--candidate", "new")
    jury("gate", "--votes", few, *sides, "--inconclusive", "pass", "--junit", "gate.xml")

    found = {one.get("name"): one.get("value") for one in ET.parse(jury.folder / "gate.xml").getroot().iter("property")}
    assert "inconclusive: the cases do not decide it; counts as pass" == found["decision"]


@pytest.mark.parametrize(
    ("metric", "counts"),
    [
        ((), "there it does not count as false_pass, so that missing verdicts lower the share of false_pass"),
        (("--metric", "accuracy"), "there it counts as wrong"),
        (
            ("--metric", "unsafe_fail"),
            "there it does not count as unsafe_fail, so that missing verdicts lower the share",
        ),
        (("--metric", "score"), "scores count where both sides have one"),
    ],
)
def test_pairs_without_a_verdict_are_in_every_report(jury: CommandLine, metric: tuple[str, ...], counts: str) -> None:
    made = [
        {
            "case_id": f"c{n:03}",
            "label": "unsafe_fail",
            "judges": {"a": "safe_pass" if n < 5 else "unsafe_fail", "b": None},
        }
        for n in range(300)
    ]
    sides = ("--votes", str(write_jsonl(jury.folder / "missing.jsonl", made)), "--base", "a", "--candidate", "b")

    outcome = jury("gate", *sides, *metric, "--junit", "gate.xml", "--markdown", "gate.md")

    said = f"300 pairs without a verdict (or strict plurality) on one side or both: {counts}"
    (note,) = [line for line in outcome.out.splitlines() if line.startswith(said)]
    properties = [one.get("value") or "" for one in ET.parse(jury.folder / "gate.xml").getroot().iter("property")]
    assert [note] == [one for one in properties if one.startswith("300 pairs without")]
    assert "300 pairs without a verdict" in (jury.folder / "gate.md").read_text(encoding="utf-8")


def test_labels_that_the_metric_does_not_use_are_said_to_be_there(jury: CommandLine, votes: str) -> None:
    sides = ("--votes", votes, "--base", "old", "--candidate", "new", "--metric", "unsafe_fail")
    bare = [{key: value for key, value in row.items() if key != "label"} for row in rows(60)]
    unlabelled = ("--votes", str(write_jsonl(jury.folder / "bare.jsonl", bare)), *sides[2:])

    used, chosen, none = (
        jury("gate", *sides).out,
        jury("gate", *sides, "--worse", "either").out,
        jury("gate", *unlabelled).out,
    )

    assert "the metric unsafe_fail does not use the labels, so a change in either direction counts" in used
    assert "--metric accuracy, false_pass or false_fail, or --worse more|less" in used
    assert "without labels nothing says which side is right" in none
    assert "without labels" not in used
    assert "so a change in either direction counts" not in chosen


def test_equal_scores_pass_and_few_of_them_say_what_they_lack(jury: CommandLine) -> None:
    def compared(cases: int) -> tuple[int, str]:
        same = {"verdict": "safe_pass", "score": 80}
        made = [{"case_id": f"c{n:03}", "judges": {"a": same, "b": same}} for n in range(cases)]
        file = str(write_jsonl(jury.folder / f"{cases}.jsonl", made))
        outcome = jury("gate", "--votes", file, "--base", "a", "--candidate", "b", "--metric", "score")
        return outcome.code, outcome.out

    (passed, _), (few_code, few), (no_interval, three) = compared(300), compared(60), compared(3)

    assert (0, 6, 6) == (passed, few_code, no_interval)
    assert "no cluster changes" in few
    assert "181 cases, if the change is the observed one" in few
    assert "could have found           unknown: all scores change alike, or none does" in few
    assert "could have found           nothing: too few cases" in three
    assert "it would take              unknown: all scores change alike, or none does" in three


def test_the_cases_that_it_would_take_are_those_of_a_plan(jury: CommandLine) -> None:
    """Half of these cases are labelled as failing; a false pass needs one of them."""
    half = [
        {"case_id": f"c{n:03}", "label": "unsafe_fail" if n % 2 else "safe_pass", "judges": {"a": word, "b": word}}
        for n in range(60)
        for word in ["unsafe_fail" if n % 2 else "safe_pass"]
    ]
    sides = ("--votes", str(write_jsonl(jury.folder / "half.jsonl", half)), "--base", "a", "--candidate", "b")

    assert "it would take              782 cases of which 391 count, if" in jury("gate", *sides).out
    assert "cases for the margin  782 with" in jury("gate", *sides, "--plan", "300").out


@pytest.mark.parametrize(("as_", "element"), [((), "error"), (("--inconclusive", "fail"), "failure")])
def test_an_inconclusive_gate_is_an_error_in_junit_unless_it_counts_as_something(
    jury: CommandLine, as_: tuple[str, ...], element: str
) -> None:
    few = str(write_jsonl(jury.folder / "few.jsonl", rows(40, missed=2)))
    jury("gate", "--votes", few, "--base", "old", "--candidate", "new", "--junit", "gate.xml", *as_)

    (case,) = ET.parse(jury.folder / "gate.xml").getroot().iter("testcase")
    assert [element] == [child.tag for child in case]


def test_names_of_judges_have_no_meaning_in_reports(jury: CommandLine) -> None:
    made = [{"case_id": str(n), "judges": {"<b>|x": "safe_pass", "b": "safe_pass"}} for n in range(20)]
    votes = str(write_jsonl(jury.folder / "votes.jsonl", made))
    called = ("--votes", votes, "--base", "<b>|x", "--candidate", "b", "--junit", "gate.xml", "--markdown", "gate.md")
    jury("gate", *called)

    assert "<b>" not in (jury.folder / "gate.md").read_text(encoding="utf-8")
    assert ET.parse(jury.folder / "gate.xml").getroot() is not None


def test_a_file_that_is_no_report_is_not_replaced(jury: CommandLine, votes: str) -> None:
    jury.write("mine.md", "mine")

    outcome = jury("gate", "--votes", votes, "--base", "old", "--candidate", "new", "--markdown", "mine.md")

    assert (2, b"mine") == (outcome.code, (jury.folder / "mine.md").read_bytes())


def test_runs_are_compared_and_flips_stand_beside_those_between_repeats(repeated: CommandLine) -> None:
    outcome = repeated("gate", "base", "candidate", "--include-simulated", "--json")

    gate, paired = outcome.json["gate"], outcome.json["paired"]
    assert ("unsafe_fail", "either") == (gate["metric"], gate["worse"])
    assert (12, [12, 0], ["final", "final"]) == (paired["pairs"], paired["only_in"], paired["verdicts"])
    assert (0.0, 12) == (gate["flips_between_repeats"]["value"], gate["flips_between_repeats"]["n"])
    assert 2 == len(paired["warnings"])


def test_judges_of_exported_votes_are_compared_by_their_votes(repeated: CommandLine) -> None:
    repeated("stats", "--run", "candidate", "--include-simulated", "--parquet", "exported.parquet", "--resamples", "0")
    seats = repeated("gate", "--votes", "exported.parquet", "--base", "none", "--candidate", "none").err
    one, other = seats.rpartition("the seats are ")[2].strip().split(", ")[:2]

    called = ("--votes", "exported.parquet", "--base", one, "--candidate", other, "--include-simulated", "--json")

    assert ["plurality", "plurality"] == repeated("gate", *called).json["paired"]["verdicts"]


def test_simulated_runs_are_refused_unless_asked_for(repeated: CommandLine) -> None:
    outcome = repeated("gate", "base", "candidate")

    assert (2, "") == (outcome.code, outcome.out)
    assert "--include-simulated" in outcome.err


def test_a_plan_needs_nothing_that_was_judged(jury: CommandLine) -> None:
    called = ("gate", "--plan", "312", "--metric", "accuracy", "--margin", "0.05")
    plan = jury(*called, "--json")
    clustered = jury(*called, "--cluster-size", "9", "--icc", "0.25", "--json")

    assert 0 == plan.code
    jsonschema.validate(plan.json, schema("gate-plan"))
    assert (0.05, 312) == (pytest.approx(plan.json["smallest_change"], abs=1e-4), plan.json["cases_for_margin"])
    assert (3.0, 936) == (clustered.json["design_effect"], pytest.approx(clustered.json["cases_for_margin"], abs=2))
    assert "nothing is decided" in jury(*called).out


@pytest.mark.full
def test_a_plan_measures_what_was_judged(jury: CommandLine, repeated: CommandLine, votes: str) -> None:
    pilot = jury("gate", "--votes", votes, "--base", "old", "--candidate", "new", "--plan", "500", "--json").json
    base = jury("gate", "--votes", votes, "--base", "old", "--plan", "500", "--json").json
    between = repeated("gate", "base", "--plan", "500", "--include-simulated", "--json").json

    called = ("--votes", votes, "--base", "old", "--candidate", "new", "--plan", "500", "--discordance", "0.3")
    asked = jury("gate", *called, "--json").json

    assert (0.2, True) == (pilot["mean_square"], pilot["measured"])
    assert (0.3, False) == (asked["mean_square"], asked["measured"])
    assert (0.1, False) == (base["mean_square"], base["measured"])
    assert (0.0, True) == (between["mean_square"], between["measured"])


@pytest.mark.parametrize("assumed", [("--cluster-size", "9"), ("--icc", "0.25"), ("--cluster-size", "9", "--icc", "1")])
def test_a_plan_assumes_nothing_of_clusters_that_were_judged(
    repeated: CommandLine, jury: CommandLine, votes: str, assumed: tuple[str, ...]
) -> None:
    sides = ("--votes", votes, "--base", "old", "--plan", "500", *assumed)

    for outcome in (
        jury("gate", *sides, "--candidate", "new"),
        repeated("gate", "base", "--plan", "500", "--include-simulated", *assumed),
    ):
        assert (2, "") == (outcome.code, outcome.out)
        assert "leave --cluster-size and --icc out" in outcome.err
        assert 1 == len(outcome.err.splitlines())
    for more in ((), ("--candidate", "new", "--discordance", "0.3")):
        assert 0 == jury("gate", *sides, *more).code


def test_a_plan_knows_the_metrics_of_the_verdicts_that_are_declared(jury: CommandLine) -> None:
    for verdicts, metric in (("order: [a, b]", "b"), ("categories: [a, b, c]", "accuracy"), ("", "needs_review")):
        called = ("--settings", jury.write("gate.yaml", verdicts), "--metric", metric)

        assert metric == jury("gate", "--plan", "100", *called, "--json").json["metric"]


def test_a_settings_file_says_what_options_say(jury: CommandLine, votes: str) -> None:
    file = jury.write(
        "gate.yaml",
        f"votes: [{votes}]\nbase: [old]\ncandidate: [steady, new, old]\nmetric: false_pass\nmargin: 0.3\n"
        "include: [stale]\ninconclusive: pass\nresamples: 0\n",
    )
    called = ("--votes", votes, "--base", "old", "--candidate", "steady,new,old", "--include", "stale", "--metric")

    of_file = jury("gate", "--settings", file, "--json")
    over = jury("gate", "--settings", file, "--candidate", "new", "--margin", "0.01", "--json")

    assert of_file == jury("gate", *called, "false_pass", "--margin", "0.3", "--resamples", "0", "--json")
    assert (0, 1) == (of_file.code, over.code)


def test_a_judge_that_nobody_is_is_named_with_the_option(jury: CommandLine, votes: str) -> None:
    outcome = jury("gate", "--votes", votes, "--base", "old", "--candidate", "nwe")

    assert 2 == outcome.code
    assert "--candidate 'nwe': no debate has this seat (did you mean new?)" in outcome.err


def run_pytest(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.full
def test_pytest_runs_a_gate_as_a_test(repeated: CommandLine) -> None:
    options = ("--jury-gate", "base", "candidate", "--jury-gate-include-simulated")

    undecided = run_pytest(repeated.folder, *options)
    passed = run_pytest(repeated.folder, *options, "--jury-gate-margin", "1", "--junitxml", "junit.xml")
    accepted = run_pytest(repeated.folder, *options, "--jury-gate-inconclusive", "pass")

    assert [1, 0, 0] == [one.returncode for one in (undecided, passed, accepted)], undecided.stdout
    assert "inconclusive: the cases do not decide it" in undecided.stdout
    assert "--jury-gate-inconclusive pass" in undecided.stdout
    assert "Traceback" not in undecided.stdout
    assert "1 passed" in passed.stdout
    assert 'name="note" value="without labels nothing says which side is right' in (
        repeated.folder / "junit.xml"
    ).read_text(encoding="utf-8")
    assert 'name="gate base → candidate"' in (repeated.folder / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--jury-gate", "base", "none"), 1, "no finished debate of a run 'none'"),
        pytest.param(
            ("--jury-gate-metric", "accuracy"),
            4,
            "--jury-gate-metric goes with --jury-gate BASE CANDIDATE",
            marks=pytest.mark.full,
        ),
        pytest.param(
            ("--jury-gate", "base", "candidate", "--jury-gate-margin", "3"),
            4,
            "--jury-gate-margin 3 is more than all",
            marks=pytest.mark.full,
        ),
    ],
)
def test_pytest_says_what_is_wrong_with_a_gate(
    repeated: CommandLine, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run_pytest(repeated.folder, *arguments)

    assert code == done.returncode
    assert said in done.stdout + done.stderr
