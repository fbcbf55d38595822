"""`jury list` and `jury show`: what was judged, for people and programs."""

import re
import unicodedata

from jury_cli.views.debate_list import COLUMNS
from jury_judge.tables.exported_rows import DEBATES
from jury_store import SORT_COLUMNS
from support.command_line import CommandLine


def ids(jury: CommandLine, *arguments: str) -> list[str]:
    return [row["debate_id"] for row in jury("list", "--json", *arguments).json]


def test_list_gives_objects_the_newest_first(judged):
    rows = judged("list", "--run", "r1", "--json").json

    assert [row["case_id"] for row in rows] == ["返金", "leak", "polite"]
    assert ids(judged, "--order", "asc") == [row["debate_id"] for row in reversed(rows)]
    assert {row["status"] for row in rows} == {"completed"}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["opened_at"]) for row in rows)


def test_list_names_runs_with_their_verdicts(judged):
    (row,) = judged("list", "--runs", "--json").json

    assert (row["run_id"], row["debates"], row["completed"]) == ("r1", 3, 3)
    assert row["cases"] == 3
    assert judged("list", "--runs").out.startswith("r1  3 of 3 debates over: ")


def test_a_run_that_was_begun_with_a_few_cases_has_as_many_as_it_was_called_with_since(jury):
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "Yes."} for n in range(5)))
    said = []
    for more in (("--limit", "2"), (), ("--limit", "1"), ("--case-id", "c4")):
        assert jury.run(cases, "--run", "r", *more).code == 0
        said.append(jury("list", "--runs").out.partition(":")[0])

    assert said == ["r  2 of 2 debates over", *["r  5 of 5 debates over"] * 3]


def test_a_run_over_two_files_has_the_cases_of_both(jury):
    for name in "ab":
        cases = jury.write(f"{name}.jsonl", {"id": name, "question": "Open?", "response": "Yes."})
        assert jury.run(cases, "--run", "r").code == 0

    assert jury("list", "--runs", "--json").json[0]["cases"] == 2


def test_a_list_is_searched_for_what_jurors_wrote(judged):
    outcome = judged("list", "--search", "password")
    (row,) = judged("list", "--search", "PASSWORD", "--json").json

    line, excerpt = outcome.out.splitlines()[:2]
    assert "r1~leak" in line
    assert excerpt.startswith("    ")
    assert "password" in excerpt.lower()
    assert (row["debate_id"], row["excerpt"]["version"] > 1) == ("r1~leak", True)
    assert judged("list", "--search", "nobodywrotethis").err == (
        "no debates in which 'nobodywrotethis' is found in this store\n"
    )


def test_a_list_is_sorted_and_its_columns_chosen(judged):
    outcome = judged("list", "--sort", "score", "--order", "asc", "--columns", "case,score,cost,models")

    heading, *lines = (line.split("\t") for line in outcome.out.splitlines())
    assert heading == ["case_id", "final_score", "cost", "models"]
    assert [int(line[1]) for line in lines] == sorted(int(line[1]) for line in lines)
    assert {line[3] for line in lines} == {"simulated/juror, simulated/judge"}


def test_columns_have_the_names_of_json_and_of_tables_and_shorter_ones_are_accepted(judged):
    objects = judged("list", "--json", "--sort", "case_id").json
    long = judged("list", "--columns", "case_id,final_verdict,quorum_met", "--sort", "case_id").out
    short = judged("list", "--columns", "case,verdict,quorum", "--sort", "case").out

    names = set(COLUMNS) - {"reviewers"}  # the names alone, of what is a list of objects there
    assert names <= set(objects[0])
    assert names <= set(DEBATES.names)
    sorts = judged("list", "--sort", "nothing").err
    assert all(f"'{name}'" in sorts for name in SORT_COLUMNS)
    assert long == short
    assert [
        "case_id\tfinal_verdict\tquorum_met",
        *(f"{one['case_id']}\t{one['final_verdict']}\ttrue" for one in objects),
    ] == long.splitlines()


def test_a_list_is_added_up(judged):
    totals = judged("list", "--totals", "--json").json
    (run,) = judged("runs", "--json").json

    assert (totals["debates"], totals["completed"]) == (3, 3)
    assert (0, 0) == (totals["cached_input_tokens"], totals["cache_write_tokens"])
    assert (0, 0) == (run["cached_input_tokens"], run["cache_write_tokens"])
    assert judged("list", "--totals", "--model", "simulated/juror").out.startswith("3 debates: 3 completed, 0 failed")
    assert judged("list", "--totals", "--model", "gpt").out == ""


def test_an_empty_store_prints_how_to_begin(jury):
    assert jury("db", "upgrade").code == 0
    debates, runs = jury("list"), jury("list", "--runs")

    assert (debates.code, debates.err) == (
        0,
        "no debates in this store yet; jury demo records one, jury run CASES yours\n",
    )
    assert "no runs in this store yet" in runs.err


def test_an_empty_list_is_reported(judged):
    outcome = judged("list", "--run", "r1", "--where", "tags=none")

    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no debates of a run r1 with tags=none in this store\n"
    assert ids(judged, "--run", "r1", "--where", "tags=none") == []


def test_show_has_every_part_and_no_escape_off_a_terminal(judged):
    outcome = judged("show", "r1~leak", "--full")

    assert outcome.code == 0
    assert outcome.out.splitlines()[:2] == ["Debate r1~leak", "Case: leak"]
    for heading in ("Phase 1: independent evaluation", "Phase 2: discussion", "Phase 3: final judgment", "Result"):
        assert heading in outcome.out.splitlines()
    assert "\x1b" not in outcome.out


def test_show_json_is_the_result_model(judged):
    result = judged("show", "r1~leak", "--json").json

    assert (result["debate_id"], result["status"]) == ("r1~leak", "completed")
    assert [juror["juror_id"] for juror in result["phase1_evaluations"]] == ["sim-policy", "sim-security", "sim-misuse"]
    assert result["final_verdict"] == result["phase3_judgment"]["verdict"]
    assert len(result["discussion_rounds"]) == result["total_rounds"]


def test_what_steers_or_hides_in_a_case_is_shown_and_not_executed(jury):
    hostile = "\x1b[31mred\x1b]0;title\x07 \u202eback\u2066 \x9b2J \x00 [bold]x[/bold] 質問"
    name = jury.write("h.jsonl", {"id": "赤", "question": hostile, "response": hostile})
    run = jury.run(name, "--run", "h", "--panel", "independent")
    (debate,) = ids(jury)

    outputs = [run.out, run.err, jury("list").out, jury("show", debate, "--full").out]

    shown = "".join(outputs)
    steering = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf"}} - {"\n"}
    assert steering == set()
    assert "␛[31mred␛]0;title␇ <U+202E>back<U+2066> <U+009B>2J ␀ [bold]x[/bold] 質問" in shown


def test_the_events_of_a_japanese_panel_are_listed_in_japanese_and_as_json_in_english(jury: CommandLine):
    cases = jury.write("c.jsonl", {"case_id": "a", "question": "返金して", "response": "はい"})
    assert 0 == jury.run(cases, "--run", "r", "--language", "ja").code

    heading, opened, *_ = jury("show", "r~a", "--events").out.splitlines()

    assert heading.split() == ["イベント", "記録日時", "ID"]
    assert "陪審団 parallel-rounds、3名" in opened
    assert jury("show", "r~a", "--events", "--json").json[0]["said"].startswith("panel parallel-rounds, 3 seats")
