"""A run's budget: it ends with one line on stderr and code 4, and the same run resumes from there."""

import json
import re

import pytest

from jury_store import open_store
from support.command_line import CommandLine


@pytest.fixture
def many(jury: CommandLine) -> str:
    return jury.write("many.jsonl", *({"id": f"c{n}", "question": "q", "response": f"r{n}"} for n in range(200)))


FAULTS = ("--simulate", "unparseable=1.0", "--simulate", "seed=3")
"""Every answer has to be repaired, which no estimate counts."""


@pytest.fixture
def faulty(jury: CommandLine) -> str:
    """A panel of one seat, each debate of which takes one call where nothing has to be repaired."""
    (jury.folder / "faulty.yaml").write_text("preset: independent\nseats: [{model: simulated/juror, juror_id: a}]\n")
    return "faulty.yaml"


def rows(jury: CommandLine):
    store = open_store(f"sqlite:///{jury.folder}/jury.db", write=False)
    try:
        return store.debates(limit=10_000)
    finally:
        store.close()


def calls(jury: CommandLine) -> int:
    return sum(row.calls for row in rows(jury))


def test_a_run_makes_no_call_beyond_its_budget_and_can_be_resumed(jury, cases, faulty):
    stopped = jury.run(cases, "--run", "r1", "--panel", faulty, *FAULTS, "--max-calls", "3")
    spent = calls(jury)
    whole = jury.run(cases, "--run", "r1", "--panel", faulty, *FAULTS, "--jsonl")

    assert (4, 3) == (stopped.code, spent)
    assert 1 == stopped.err.count("jury: the budget of 3 calls is used up; call again with a higher --max-calls")
    assert "the same command with --run r1 and a higher bound than 3 calls resumes" in stopped.err
    assert "mend the cause" not in stopped.err
    assert 3 == len(whole.lines)


def test_debates_are_finished_before_others_begin_and_the_end_estimates_the_rest(jury, many):
    stopped = jury.run(many, "--run", "r1", "--jsonl", "--max-calls", "37", "--limit", "20")
    first, spent = [row.status for row in rows(jury)], calls(jury)
    further = jury.run(many, "--run", "r1", "--jsonl", "--max-calls", "60", "--limit", "20")

    assert 4 == stopped.code == further.code
    assert len(stopped.lines) >= 3
    assert ["completed"] * len(stopped.lines) == first, "no debate was begun that could not be finished"
    assert 37 - 13 <= spent <= 37
    assert f"{20 - len(stopped.lines)} debates left, about {10 * (20 - len(stopped.lines))} more calls" in stopped.err
    assert (
        "(an estimate); the same command with --run r1 and a higher bound than 37 calls goes on from here"
        in stopped.err
    )
    assert len(further.lines) > len(stopped.lines)


def test_what_was_begun_in_an_earlier_session_is_finished_before_anything_else(jury, cases, faulty):
    jury.run(cases, "--run", "r1", "--panel", faulty, *FAULTS, "--max-calls", "1", "--case-id", "返金")
    begun = [(row.case_id, row.status == "completed") for row in rows(jury)]
    jury.run(cases, "--run", "r1", "--panel", faulty, *FAULTS, "--max-calls", "4", "--concurrency", "1")

    assert [("返金", False)] == begun
    assert ("返金", "completed") == (rows(jury)[0].case_id, rows(jury)[0].status)


def test_a_debate_that_a_budget_cannot_finish_is_not_begun(jury, cases):
    stopped = jury.run(cases, "--run", "r1", "--max-calls", "6")

    assert (4, 0) == (stopped.code, calls(jury))
    assert "the budget of 6 calls covers no further debate: 3 debates left, about 30 more calls" in stopped.err


def test_a_debate_that_is_not_begun_keeps_no_result_behind_it_from_being_printed(jury, cases):
    judged = jury.run(cases, "--run", "r1", "--jsonl", "--case-id", "返金")
    bounded = jury.run(cases, "--run", "r1", "--jsonl", "--max-calls", str(calls(jury)))

    assert (4, judged.lines) == (bounded.code, bounded.lines)
    assert "covers no further debate: 2 debates left" in bounded.err


def test_what_earlier_sessions_spent_counts(jury, cases):
    jury.run(cases, "--run", "r1", "--max-calls", "7")
    again = jury.run(cases, "--run", "r1", "--max-calls", "13")

    assert (4, 7) == (again.code, calls(jury))


@pytest.mark.full
def test_a_run_that_stops_before_any_repair_or_fallback_leaves_a_log_that_verifies(jury, cases):
    jury.write(
        "panel.yaml",
        "preset: independent\nseats: [{model: simulated/juror, juror_id: a, fallbacks: [simulated/other]}]\n",
    )
    faults = ("--simulate", "unparseable=0.6", "--simulate", "timeout=0.2", "--simulate", "seed=3")
    options = ("--run", "r1", "--panel", "panel.yaml", *faults)

    for bound in range(1, 25):
        jury.run(cases, *options, "--max-calls", str(bound))
        verified = jury("verify", "--all")

        assert 0 == verified.code, verified.out
        assert verified.out.startswith("nothing was altered")
    assert 3 == len(jury.run(cases, *options, "--jsonl").lines)


def test_another_run_has_its_own_budget(jury, cases):
    jury.run(cases, "--run", "r1", "--max-calls", "7")
    jury.run(cases, "--run", "r2", "--max-calls", "7")

    assert 14 == calls(jury)


def test_a_budget_that_is_enough_changes_nothing(jury, cases):
    free = jury.run(cases, "--run", "r1", "--jsonl")
    bounded = jury.run(cases, "--run", "r2", "--jsonl", "--max-calls", "1000", "--max-cost", "0")

    assert 0 == bounded.code
    assert [line["final_verdict"] for line in free.lines] == [line["final_verdict"] for line in bounded.lines]


def test_a_cost_cannot_be_bounded_where_a_price_is_unknown(jury, cases):
    env = {"OPENAI_API_KEY": "sk-none"}
    refused = jury.run(cases, "--max-cost", "1", "--judge-model", "openai/gpt-unheard-of", env=env)

    assert (refused.code, refused.out) == (2, "")
    assert "--max-cost: no price is known for openai/gpt-unheard-of" in refused.err
    assert "--prices FILE" in refused.err
    assert not (jury.folder / "jury.db").exists()


PRICE = '[[price]]\nmodels = ["openai/gpt-unheard-of"]\ninput = 1\noutput = 2\n'


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_a_price_of_ones_own_makes_it_known(jury, cases, how):
    (jury.folder / "own.toml").write_text(PRICE)
    flag = ("--prices", "own.toml") if how == "flag" else ()
    env = {"JURY_PRICES": "own.toml"} if how == "variable" else {}
    estimate = jury.run(cases, "--dry-run", "--json", "--judge-model", "openai/gpt-unheard-of", *flag, env=env)

    assert estimate.code == 0
    assert [] == estimate.json["prices_missing"]
    assert estimate.json["cost"]["likely"] > 0


@pytest.mark.full
@pytest.mark.parametrize(("outcome", "said"), [("authentication", "refuses the key"), ("quota", "quota is used up")])
def test_a_refused_key_stops_the_run_early_and_once_mended_it_completes(jury, many, outcome, said):
    stopped = jury.run(many, "--run", "r1", "--jsonl", "--simulate", f"{outcome}=1", "--concurrency", "8")
    before = rows(jury)
    recorded = sum(row.calls for row in before)
    whole = jury.run(many, "--run", "r1", "--jsonl")

    assert (4, "") == (stopped.code, stopped.out)
    assert 1 == sum(said in line for line in stopped.err.splitlines())
    assert recorded <= 8 * 3
    assert len(before) <= 2 * 8
    assert not [row for row in before if row.status in {"failed", "completed"}]
    assert (0, 200) == (whole.code, len(whole.lines))
    assert {"completed"} == {row.status for row in rows(jury)}


def test_a_stop_is_noted_even_without_progress(jury, cases):
    stopped = jury.run(cases, "--run", "r1", "--display", "none", "--simulate", "quota=1")

    assert stopped.code == 4
    assert "quota is used up" in stopped.err


def test_a_dry_run_writes_nothing_and_makes_no_call(jury, cases):
    estimate = jury.run(cases, "--dry-run")

    assert estimate.code == 0
    assert "3 debates to run" in estimate.out
    assert re.search(
        r"^List prices of 20\d\d-\d\d-\d\d; a price file of yours comes first\.$", estimate.out, re.MULTILINE
    )
    assert [cases] == [path.name for path in jury.folder.iterdir()]


def test_a_dry_run_names_the_cases_that_are_longer_than_a_window(jury):
    """The panel has no key, and none is needed."""
    cases = jury.write(
        "long.jsonl",
        *(
            {"case_id": name, "question": "Go.", "response": "x" * size}
            for name, size in (("short", 9), ("long", 100_000))
        ),
    )
    own = "{protocol: openai, base_url: 'http://127.0.0.1:9/v1', window: 20000}"
    jury.write(
        "p.yaml",
        f"providers: {{own: {own}}}\nseats: [{{model: own/m, juror_id: a}}]\nfinal: {{method: median}}\n"
        "reading: whole\nsettings: {max_output_tokens: 8000}\n",
    )

    estimate = jury.run(cases, "--dry-run", "--panel", "p.yaml")
    summary = jury("cases", cases, "--summary", "--panel", "p.yaml")
    data = json.loads(jury("cases", cases, "--summary", "--panel", "p.yaml", "--json").out)["fit"]

    said = (
        "onger than the window of a model, whose calls would fail (context_too_long), of 2 cases: "
        "1 for a (20,000 tokens: long)"
    )
    assert f"L{said}." in estimate.out
    assert f"l{said}" in summary.out
    assert [["a", "own/m", "20,000", "1", "0", "0", "1"]] == [
        one.split() for one in summary.out.splitlines() if "own/m" in one
    ]
    (seat,) = data["seats"]
    assert ("a", "own/m", 20_000, 1, 1, ["long"]) == tuple(
        seat[name] for name in ("juror_id", "model", "window", "whole", "too_long", "too_long_cases")
    )


def test_a_run_warns_of_cases_that_are_longer_than_a_window(jury):
    cases = jury.write("long.jsonl", {"case_id": "long", "question": "Go.", "response": "x" * 100_000})
    jury.write(
        "p.yaml", "seats: [{model: simulated/m, juror_id: a, window: 20000}]\nfinal: {method: median}\nreading: whole\n"
    )

    ran = jury.run(cases, "--panel", "p.yaml")

    assert (
        "jury: warning: longer than the window of a model, whose calls would fail (context_too_long), of 1 case: "
        "1 for a (20,000 tokens: long)"
    ) in ran.err.splitlines()


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [(), ("--panel", "adk-sequential"), ("--panel", "independent"), ("--language", "ja")],
    ids=["default", "sequential", "independent", "japanese"],
)
def test_a_run_takes_what_a_dry_run_estimated(jury, options):
    records = [{"id": f"r{n}", "verdict": "fail", "text": "leaked " * 20} for n in range(5)]
    rows_of_file = [
        {"id": f"c{n}", "question": "返金は?", "response": f"Refunded {n}. " * 40, "security_gate_records": records}
        for n in range(20)
    ]
    many = jury.write("many.jsonl", *rows_of_file)
    jury("db", "upgrade")
    empty = (jury.folder / "jury.db").stat().st_size
    estimate = jury.run(many, "--dry-run", "--json", *options).json
    jury.run(many, "--run", "r1", *options)
    debates = rows(jury)
    grown = (jury.folder / "jury.db").stat().st_size - empty

    def within(amount: float, estimate: dict[str, float]) -> bool:
        return estimate["least"] <= amount <= estimate["most"]

    def summed(kind: str) -> dict[str, float]:
        return {name: sum(one[kind][name] for one in estimate["models"]) for name in ("least", "most")}

    assert 20 == estimate["debates"] == estimate["sample"] == len(debates)
    assert within(sum(row.calls for row in debates), estimate["calls"])
    assert within(sum(row.input_tokens for row in debates), summed("input_tokens"))
    assert within(sum(row.output_tokens for row in debates), summed("output_tokens"))
    assert within(grown, estimate["disk_bytes"])


def test_a_dry_run_leaves_out_what_is_judged_already(jury, cases):
    jury.run(cases, "--run", "r1", "--limit", "2")
    estimate = jury.run(cases, "--run", "r1", "--dry-run", "--json").json

    assert (3, 2, 1, 1) == (estimate["cases"], estimate["judged_before"], estimate["debates"], estimate["sample"])


def test_a_dry_run_of_a_large_file_looks_at_a_sample_and_reports_it(jury):
    many = jury.write("many.jsonl", *({"id": f"c{n}", "question": "q", "response": "r"} for n in range(500)))
    estimate = jury.run(many, "--dry-run", "--json").json

    assert (500, 167) == (estimate["debates"], estimate["sample"])
    assert 500 * 7 == estimate["calls"]["least"]
    assert "167 cases spread over the files" in jury.run(many, "--dry-run").out


def test_a_dry_run_names_the_keys_and_prices_that_are_missing(jury, cases):
    estimate = jury.run(cases, "--dry-run", "--judge-model", "openai/gpt-unheard-of")

    assert estimate.code == 0
    assert "The provider openai has no key: set OPENAI_API_KEY." in estimate.out
    assert "unknown: no price for openai/gpt-unheard-of" in estimate.out


def test_a_dry_run_as_data_is_one_json_object(jury, cases):
    estimate = jury.run(cases, "--dry-run", "--json", "--run", "r1")

    assert "r1" == json.loads(estimate.out)["run_id"]


def test_a_dry_run_names_what_is_asked_live_instead_of_in_batches(jury, cases):
    estimate = jury.run(cases, "--dry-run", "--batch")
    partly = jury.run(cases, "--dry-run", "--batch", "--judge-model", "openai/gpt-unheard-of")
    judged = jury.run(cases, "--batch")

    assert "  waves     none: every call is made live" in estimate.out
    assert "  live      simulated: simulated models are asked in this process" in estimate.out
    assert re.search(r"  waves     2 - \d of batches, each up to a day", partly.out)
    assert "openai: " not in partly.out.partition("waves")[2].partition("disk")[0]
    assert "jury: calls of simulated are made live: simulated models are asked in this process" in judged.err
