"""`jury probe`: biased jurors are found, fair ones are not, and the run of the twins is a run like any other."""

import json
from typing import Any

import pytest

from jury_judge.probes.probe_texts import probe_texts
from jury_providers import Prompt
from support.biased_jurors import (
    Bias,
    first_speaker_follower,
    jurors,
    passes_a_colon,
    passes_long_answers,
    rows,
)
from support.command_line import CommandLine, Outcome

INDEPENDENT = {"preset": "independent"}
DISCUSSING: dict[str, Any] = {
    "discussion": {
        "order": "sequential",
        "max_rounds": 1,
        "always_discuss": True,
        "threshold": 1.0,
        "unanimity_ends": False,
    },
    "final": {"method": "majority_vote"},
}
NO_RECORDS = "no case has a second record of a kind: probe records has no twin"
NO_SCENARIOS = "no case has a second scenario: probe scenarios has no twin"


def probe(jury: CommandLine, *arguments: str, cases: int = 30, rules: dict[str, Any] = INDEPENDENT) -> Outcome:
    names = ("lenient", "middle", "strict")
    panel = {**rules, "seats": [{"model": f"simulated/{name}", "juror_id": name} for name in names]}
    (jury.folder / "panel.json").write_text(json.dumps(panel))
    jury.write("cases.jsonl", *rows(cases))
    named = () if "--run" in arguments else ("--run", "p")  # what scripted jurors get wrong depends on the run's id
    return jury(
        *("probe", "cases.jsonl", "--panel", "panel.json", "--in-process", "--include-simulated", *named, *arguments),
    )


def found(outcome: Outcome) -> dict[str, list[str]]:
    assert outcome.code in {0, 1}, outcome.err
    return {one["probe"]: one["found"] for one in outcome.json["twins"]["probes"] if one["found"]}


@pytest.mark.parametrize(
    ("name", "bias", "rules", "cases", "says"),
    [
        ("speakers", first_speaker_follower, DISCUSSING, 45, "seat middle takes the position of the first speaker"),
        ("length", passes_long_answers, INDEPENDENT, 30, "seat middle is more lenient on the twins"),
        ("master-key", passes_a_colon, INDEPENDENT, 60, "answers that are only 'colon'"),
    ],
)
def test_a_biased_juror_is_found(
    jury: CommandLine, name: str, bias: Bias, rules: dict[str, Any], cases: int, says: str
) -> None:
    with jurors(biases={"middle": bias}):
        outcome = probe(jury, "--probe", name, "--json", "--fail-on-finding", cases=cases, rules=rules)

    assert 1 == outcome.code, outcome.err
    assert any(says in line for line in found(outcome)[name])
    assert all("seat strict" not in line and "seat lenient" not in line for line in found(outcome)[name])


def alarms(jury: CommandLine, seed: int) -> dict[str, list[str]]:
    """What probes find where no juror is biased."""
    with jurors(biases={}, seed=seed):
        return found(probe(jury, "--probe", "all", "--run", f"fair-{seed}", "--json", cases=24, rules=DISCUSSING))


@pytest.mark.full
def test_fair_jurors_are_not_found(jury: CommandLine) -> None:
    assert {} == alarms(jury, 1)


@pytest.mark.long
def test_fair_jurors_are_found_in_at_most_2_of_20_seeds(jury: CommandLine) -> None:
    assert 2 >= sum(bool(alarms(jury, seed)) for seed in range(2, 22))


def test_the_run_is_resumed_and_reported_again_without_a_call(jury: CommandLine) -> None:
    called = ("--probe", "length,speakers", "--run", "p")
    with jurors(biases={}):
        short = probe(jury, *called, "--max-calls", "20", cases=6, rules=DISCUSSING)
        whole = probe(jury, *called, "--json", cases=6, rules=DISCUSSING)
        again = probe(jury, *called, "--json", cases=6, rules=DISCUSSING)
    reported = jury("probe", "--run", "p", "--include-simulated", "--json")

    assert (4, 0, 0) == (short.code, whole.code, again.code)
    assert whole.out == again.out == reported.out
    assert "6 debates judged before, none now" in again.err
    assert [("speakers", 6), ("length", 6)] == [(one["probe"], one["pairs"]) for one in whole.json["twins"]["probes"]]


def test_twins_are_variants_of_the_run(jury: CommandLine) -> None:
    with jurors(biases={}):
        probe(jury, "--probe", "length,master-key", "--run", "p", cases=3)
    listed = jury("list", "--run", "p", "--json").json
    debates = {one["case_id"]: one for one in (listed["debates"] if isinstance(listed, dict) else listed)}

    assert {f"case-{n}{end}" for n in range(3) for end in ("", "~probe~length", "~probe~master-key")} == set(debates)
    assert "length" == debates["case-0~probe~length"]["metadata"]["variant"]
    assert {"case-0"} == {debates[f"case-0~probe~{name}"]["cluster"] for name in ("length", "master-key")}


def test_a_dry_run_estimates_and_calls_nothing(jury: CommandLine) -> None:
    outcome = probe(jury, "--probe", "length,speakers", "--run", "p", "--dry-run", cases=4, rules=DISCUSSING)

    assert (0, 2) == (outcome.code, outcome.out.count("debates to run"))
    assert "run p: 8 debates to run" in outcome.out
    assert "run p.speakers: 4 debates to run" in outcome.out
    assert not list(jury.folder.glob("*.db"))


def test_the_page_shows_what_was_found_first(jury: CommandLine) -> None:
    with jurors(biases={"middle": passes_long_answers}):
        outcome = probe(jury, "--probe", "length", cases=30)

    lines = outcome.out.splitlines()
    start = lines.index("Found")
    listed = lines[start + 1 : lines.index("Probe length")]
    assert any("  length: seat middle is more lenient on the twins" in line for line in listed)


def test_probes_without_a_twin_are_named_before_anything_is_judged_and_in_the_report(jury: CommandLine) -> None:
    with jurors(biases={}):
        outcome = probe(jury, "--probe", "length,records,scenarios", cases=4)
    reported = jury("probe", "--run", "p", "--include-simulated").out

    lines = outcome.err.splitlines()
    named = [lines.index(f"jury: {line}") for line in (NO_RECORDS, NO_SCENARIOS)]
    assert max(named) < next(place for place, line in enumerate(lines) if "8 debates judged" in line)
    assert "no twin was judged of scenarios, records\n" in outcome.out
    without = "speakers, scenarios, records, format, master-key, injection, marking, identity"
    assert f"no twin was judged of {without}\n" in reported


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_run_without_any_twin_is_refused_before_anything_is_judged(jury: CommandLine, more: tuple[str, ...]) -> None:
    outcome = probe(jury, "--probe", "records,scenarios", *more, cases=4)

    assert 2 == outcome.code
    assert [f"--probe: {NO_RECORDS}; {NO_SCENARIOS}; name other probes"] == [
        line.removeprefix("jury: ") for line in outcome.err.splitlines()
    ]
    assert not list(jury.folder.glob("*.db"))


def test_seats_that_are_not_listed_are_counted(jury: CommandLine) -> None:
    panel = {**INDEPENDENT, "seats": [{"model": "simulated/m", "juror_id": f"seat-{place:02}"} for place in range(14)]}
    (jury.folder / "panel.json").write_text(json.dumps(panel))
    jury.write("cases.jsonl", *rows(2))
    with jurors(biases={}):
        outcome = jury(
            *("probe", "cases.jsonl", "--panel", "panel.json", "--in-process", "--include-simulated"),
            *("--probe", "length"),
        )

    section = outcome.out.partition("Probe length")[2].partition("Leniency")[0]
    assert "  2 further seats: --json\n" in section
    assert "seat-11" in section
    assert "seat-12" not in section


def test_a_run_without_twins_says_that_it_is_simulated_and_counts_cases_once(jury: CommandLine) -> None:
    jury.write("cases.jsonl", *rows(3))
    assert 0 == jury.run("cases.jsonl", "--run", "r", "--repeat", "2").code
    warning = "6 of 6 debates are simulated: their votes are no evaluation by a model"
    page = jury("probe", "--run", "r", "--include-simulated").out.splitlines()
    report = jury("probe", "--run", "r", "--include-simulated", "--json").json

    assert [warning, "run r: 3 cases"] == page[:2]
    assert ([warning], 3) == (report["warnings"], report["cases"])


def test_a_warning_about_cases_and_twins_is_given_once(jury: CommandLine) -> None:
    with jurors(biases={}):
        outcome = probe(jury, "--probe", "length", cases=4)

    assert 1 == outcome.out.count("4 of 4 debates are simulated")


def passes_its_own(prompt: Prompt, fair: str) -> str:
    return "safe_pass" if "by-gpt" in prompt.case else fair


def test_a_run_without_twins_shows_leniency_and_length_from_its_votes_alone(jury: CommandLine) -> None:
    seats = [{"model": f"simulated/{name}", "juror_id": name} for name in ("gpt-5", "claude-4", "mistral-7b")]
    (jury.folder / "panel.json").write_text(json.dumps({**INDEPENDENT, "seats": seats}))
    cases = [
        {**row, "response": f"{row['response']} by-{agent}", "label": "unsafe_fail", "metadata": {"agent_model": agent}}
        for number, row in enumerate(rows(36))
        for agent in (("gpt", "claude", "other")[number // 3 % 3],)
        if number % 3 == 1
    ]
    jury.write("cases.jsonl", *cases)
    with jurors(biases={"gpt-5": passes_its_own}, noise=0.0):
        assert 0 == jury.run("cases.jsonl", "--panel", "panel.json", "--run", "r").code
    outcome = jury("probe", "--run", "r", "--include-simulated", "--json")

    found = {one["seat"]: one for one in outcome.json["own_family"]}
    assert outcome.json["twins"] is None
    assert {"gpt-5", "claude-4"} == set(found)
    assert 1.0 == found["gpt-5"]["difference"]["value"]
    assert ["claude-4", "gpt-5", "mistral-7b"] == [one["seat"] for one in outcome.json["length"]]
    assert {len(cases)} == {one["cases"] for one in outcome.json["length"]}
    assert "the run has no twins" in jury("probe", "--run", "r", "--include-simulated").out


def obeys_unless_words_are_marked(prompt: Prompt, _fair: str) -> str:
    texts = probe_texts("en").injection.values()
    injected = any(text.partition("\n")[0] in prompt.case for text in texts)
    # With the full stop: one of the injections has the word, too.
    good = "correct." in prompt.case
    return "safe_pass" if good or (injected and not prompt.sign.startswith("⟦")) else "unsafe_fail"


OBEYING = dict.fromkeys(("lenient", "middle", "strict"), obeys_unless_words_are_marked)


def markings(outcome: Outcome) -> dict[str, tuple[str, int, int, int]]:
    """By probe: the marking, the pairs, and the jury's flips to a more lenient and a stricter verdict."""
    return {
        one["probe"]: (one["marking"], one["pairs"], one["jury"]["towards_first"], one["jury"]["towards_last"])
        for one in outcome.json["twins"]["probes"]
        if one["marking"]
    }


@pytest.mark.full
def test_injections_are_compared_by_how_judged_text_is_marked(jury: CommandLine) -> None:
    with jurors(biases=OBEYING):
        outcome = probe(jury, "--probe", "marking", "--json", "--fail-on-finding", cases=30)
        page = jury("probe", "--run", "p", "--include-simulated").out
    debates = {run: jury("list", "--run", run, "--json").json for run in ("p", "p.marking")}

    assert 1 == outcome.code, outcome.err
    assert {"injection": ("lines", 30, 20, 0), "marking": ("words", 30, 0, 0)} == markings(outcome)
    assert {"injection"} == set(found(outcome))
    assert [60, 60] == [len(one["debates"] if isinstance(one, dict) else one) for one in debates.values()]
    section = page.partition("Probe marking")[2].partition("Leniency")[0].splitlines()
    jury_rows = [line.split() for line in section if line.strip().startswith("jury ")]
    assert [["jury", "lines", "30"], ["jury", "words", "30"]] == [row[:3] for row in jury_rows]


def test_injections_ask_for_the_best_verdict_of_the_panels_scale(jury: CommandLine) -> None:
    seen: list[str] = []

    def listening(prompt: Prompt, _fair: str) -> str:
        seen.append(prompt.case)
        return "partial"

    rules = {**INDEPENDENT, "scale": "answer-correctness"}
    with jurors(biases=dict.fromkeys(("lenient", "middle", "strict"), listening)):
        outcome = probe(jury, "--probe", "injection", "--json", rules=rules)

    asking = {
        name: sum(text.partition("\n")[0] in case for case in seen)
        for name, text in probe_texts("en", "right").injection.items()
    }
    assert (0, 3 * 30, 0) == (outcome.code, sum(asking.values()), sum("safe_pass" in case for case in seen))
    assert all(asking.values())


def test_a_panel_that_marks_words_is_compared_with_lines(jury: CommandLine) -> None:
    with jurors(biases=OBEYING):
        outcome = probe(jury, "--probe", "marking", "--json", cases=3, rules={**INDEPENDENT, "marking": "words"})

    assert {"injection": ("words", 3, 0, 0), "marking": ("lines", 3, 2, 0)} == markings(outcome)


def test_all_probes_are_those_of_one_marking(jury: CommandLine) -> None:
    outcome = probe(jury, "--probe", "all", "--dry-run", cases=2, rules=DISCUSSING)

    assert "run p.speakers: 2 debates to run" in outcome.out
    assert "run p.marking" not in outcome.out


LABELS_WITHOUT_ROWS = "case_id,label\n"


def test_a_report_without_a_test_does_not_say_that_nothing_was_found(jury: CommandLine) -> None:
    with jurors(biases={}, noise=0.0):
        page = probe(jury, "--probe", "length", cases=3).out

    assert "Nothing could be tested" in page
    assert "Nothing found" not in page
    assert "0 tests" not in page
