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


def rests(jury: CommandLine, cases: str, *options: str) -> list[str]:
    """What a run and who resumes it say of the same rest."""
    said = [
        jury(*words, "--in-process", "--concurrency", "1", *options).err
        for words in (("run", cases, "--run", "m"), ("resume", "m"))
    ]
    return [one[one.rindex("the budget of") : one.index(" (an estimate)")] for one in said]


def test_what_is_left_is_estimated_alike_by_the_run_and_by_who_resumes_it(jury: CommandLine) -> None:
    records = {"security_gate_records": [{"id": "x", "verdict": "pass", "prompt": "p", "response": "r"}]}
    rows_of = (
        {"id": f"m{n}", "question": "Refund?", "response": "Done.", **(records if n < 2 else {})} for n in range(9)
    )
    run, resumed = rests(jury, jury.write("mixed.jsonl", *rows_of), "--max-calls", "42")

    assert run == resumed
    assert len([row for row in rows(jury) if row.status == "completed"]) > 2, "the first of the rest has no records"


def test_what_a_begun_debate_took_is_no_part_of_the_rest_in_any_session(jury, many, faulty):
    nine = jury.write("nine.jsonl", *(json.loads(line) for line in (jury.folder / many).read_text().splitlines()[:9]))
    run, resumed = rests(jury, nine, "--panel", faulty, *FAULTS, "--max-calls", "2")

    assert run == resumed
    assert run.endswith("9 debates left, about 7 more calls")


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


def test_a_cost_cannot_be_bounded_where_a_price_is_unknown(jury, cases):
    env = {"OPENAI_API_KEY": "sk-none"}
    refused = jury.run(cases, "--max-cost", "1", "--judge-model", "openai/gpt-unheard-of", env=env)

    assert (refused.code, refused.out) == (2, "")
    assert "--max-cost: no price is known for openai/gpt-unheard-of" in refused.err
    assert "--prices FILE" in refused.err
    assert not (jury.folder / "jury.db").exists()


PRICE = '[[price]]\nmodels = ["openai/gpt-unheard-of"]\ninput = 1\noutput = 2\n'


def test_a_price_of_ones_own_makes_it_known(jury, cases):
    (jury.folder / "own.toml").write_text(PRICE)
    env = {"JURY_PRICES": "own.toml"}
    estimate = jury.run(cases, "--dry-run", "--json", "--judge-model", "openai/gpt-unheard-of", env=env)

    assert estimate.code == 0
    assert [] == estimate.json["prices_missing"]
    assert estimate.json["cost"]["likely"] > 0


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


def test_a_dry_run_leaves_out_what_is_judged_already(jury, cases):
    jury.run(cases, "--run", "r1", "--limit", "2")
    estimate = jury.run(cases, "--run", "r1", "--dry-run", "--json").json

    assert (3, 2, 1, 1) == (estimate["cases"], estimate["judged_before"], estimate["debates"], estimate["sample"])


@pytest.mark.full
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
    assert "  cost      $0.00 - $0.00 - $0.00 and that of openai/gpt-unheard-of, of which no price is" in estimate.out


def test_a_dry_run_takes_the_line_that_it_prints_and_says_how_far_a_bound_reaches_and_how_long_it_takes(jury, cases):
    asked = (cases, "--dry-run", "--judge-model", "openai/gpt-unheard-of", "--concurrency", "2")
    (line,) = [line for line in jury.run(*asked).out.splitlines() if "price = " in line]
    jury.write("p.toml", line.strip().replace("…", "1000"))
    priced = (*asked, "--prices", "p.toml", "--max-cost")
    cost = jury.run(*priced, "1", "--json").json["cost"]

    def said(bound: float) -> str:
        (found,) = [line for line in jury.run(*priced, str(bound)).out.splitlines() if line.startswith("  bound")]
        return found.split(maxsplit=3)[3]

    assert "stops the run after about 2 of 3 debates, surely not before 0" == said(cost["likely"] * 0.7)
    assert "is likely enough for all, surely for 1" == said(cost["most"] * 0.4)
    assert "is enough for all" == said(cost["most"])
    # Of parallel rounds: the first evaluation, two rounds and the judgment; three debates, two at once.
    time = "  time      about 1 min 0 s with 2 debates at once, if a call takes 10 s"
    assert time in jury.run(*asked).out.splitlines()


def test_a_dry_run_names_what_is_asked_live_instead_of_in_batches(jury, cases):
    estimate = jury.run(cases, "--dry-run", "--batch")
    partly = jury.run(cases, "--dry-run", "--batch", "--judge-model", "openai/gpt-unheard-of")
    judged = jury.run(cases, "--batch")

    assert "  waves     none: every call is made live" in estimate.out
    assert "  live      simulated: simulated models are asked in this process" in estimate.out
    assert re.search(r"  waves     2 - \d of batches, each up to a day", partly.out)
    assert "openai: " not in partly.out.partition("waves")[2].partition("disk")[0]
    assert "jury: calls of simulated are made live: simulated models are asked in this process" in judged.err
