"""Reports of a run for CI: the conditions on which it fails, JUnit XML and Markdown, valid for any text."""

import re
from collections.abc import Mapping
from contextlib import closing
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from jury_analysis.reasons import CLUSTERS_ARE_FEW, FEWER_CLUSTERS, NO_SUCH_LABEL, UNDEFINED_IN_SOME
from jury_events import SettingError, moment
from jury_judge import JuryError, check_report_path, write_report
from jury_views import (
    FigureNotes,
    JudgedCase,
    KeptCases,
    Page,
    RunReport,
    Tally,
    TextSpan,
    judged_case,
    junit,
    markdown,
    parse_fail_condition,
)
from support.each_row import each_row
from support.refusals import RefusalTables


def case(name: str, **more: Any) -> JudgedCase:
    fields = {"status": "completed", "verdict": "safe_pass", "score": 90, "quorum_met": True, **more}
    return JudgedCase(case_id=name, debate_id=f"r~{name}", **fields)


UNHEARD: dict[str, Any] = {"verdict": None, "score": None, "quorum_met": None}
MIXED = (
    case("good", label="safe_pass"),
    case("bad", verdict="unsafe_fail", score=10, label="unsafe_fail", votes={"gpt": "unsafe_fail", "claude": None}),
    case("open", verdict="needs_review", score=60),
    case("missed", label="unsafe_fail", simulated=True),
    case("unheard", verdict="needs_review", score=0, quorum_met=False),
    case("capped", verdict="needs_review", score=69, capped_by="silence"),
    case("failed", status="failed", **UNHEARD),
    case("stuck", status="unfinished", **UNHEARD, problem="the key is refused"),
)


def scaled(name: str, verdict: str, label: str) -> JudgedCase:
    """A case that was judged under a scale of the panel's own, as it is in the lines of a run."""
    votes = {"votes": {"gpt": verdict, "claude": "needs_review"}, "vote_labels": {"gpt": label, "claude": None}}
    facts = {"capped_by": None, "label": None, "decided_by": "majority_vote", "simulated": False, "quorum_met": True}
    line = {"case_id": name, "debate_id": f"r1~{name}", "status": "completed", "final_score": 50, **facts, **votes}
    kinds = {"gpt": "own", "claude": "own"}
    return judged_case({**line, "final_verdict": verdict, "final_label": label, "vote_kinds": kinds})


SCALED = (
    scaled("a", "safe_pass", "right"),
    scaled("b", "unsafe_fail", "wrong"),
    scaled("c", "safe_pass", "right"),
)


def report(*cases: JudgedCase, **more: Any) -> RunReport:
    tally = Tally()
    for one in cases:
        if one.is_over:
            tally.take(one)
    fields = {"name": "run r", "total": len(cases), "seconds": 12.5, "spent": "7 calls, $0.12", **more}
    return RunReport(cases=cases, tally=tally, **fields)


def judged_by(condition: str, *cases: JudgedCase, labels: tuple[str, ...] = ()) -> RunReport:
    found = report(*cases)
    judged = parse_fail_condition(condition, labels).judge(found.tally.counts, found.tally.with_verdict)
    return found._replace(conditions=(judged,))


REPORTS = {
    "every outcome": judged_by("unsafe_fail>2%", *MIXED),
    "a strict run": report(*MIXED, failing=("unsafe_fail", "needs_review")),
    "labels of a scale": judged_by("right>1", *SCALED, labels=("wrong", "right")),
    "labels that fail the run": report(*SCALED)._replace(failing={"right"}),
    "nothing": report(),
}


FORMS = {"reports_junit": junit, "reports_markdown": markdown}


@pytest.mark.parametrize("form", FORMS)
def test_a_report_has_each_case_with_what_it_came_to_and_where_to_look(printed: RefusalTables, form: str) -> None:
    printed.compare(form, {name: FORMS[form](one).decode().strip() for name, one in REPORTS.items()})


def test_cases_that_were_kept_make_the_same_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they are in a file, and where a report was made before the last of them."""
    monkeypatch.setattr("jury_views.tally._IN_MEMORY", 100)
    with closing(KeptCases()) as kept:
        for one in MIXED:
            kept.append(one)
            list(kept)
        of_tuple = report(*MIXED)
        of_kept = of_tuple._replace(cases=kept)

        assert list(MIXED) == list(kept)
        assert junit(of_tuple) == junit(of_kept)
        assert markdown(of_tuple) == markdown(of_kept)


HOSTILE = "<b>]]>&amp;\x00\x1b[31m\ud800\ufffe\uffff\r\n|`*_[x](javascript:y) @team <!-- # ~~~ $x$ \u202e"


def test_hostile_text_stays_text() -> None:
    xml = junit(report(case(HOSTILE, verdict=None, status="unfinished", problem=HOSTILE)))
    page = markdown(report(case(HOSTILE, verdict="unsafe_fail"), case("ok\n| forged | row |"))).decode()

    (found,) = ET.fromstring(xml).iter("testcase")
    assert "<b>]]>&amp;␀␛[31m<U+D800><U+FFFE><U+FFFF>␊|`*_[x](javascript:y)" in str(found.get("name"))
    assert "javascript" in str(found[1].get("message"))
    assert b"<b>" not in xml
    (row,) = [
        line for line in page.splitlines() if line.startswith("| ") and "unsafe\\_fail" in line and "r\\~" in line
    ]
    bare = re.sub(r"\\.", "", row)
    assert not [one for one in "<[]`*@:\x1b\x00\u202e" if one in bare], "what is not behind a backslash has no meaning"
    assert 7 == row.count("|"), "a text must not add cells"


OUTCOMES: dict[str, dict[str, Any]] = {
    "passed": {},
    "passed as labelled": {"label": "safe_pass"},
    "false pass": {"label": "unsafe_fail"},
    "failed": {"verdict": "unsafe_fail", "score": 10},
    "review": {"verdict": "needs_review", "score": 50, "label": "safe_pass"},
    "no quorum": {"verdict": "needs_review", "score": 50, "quorum_met": False},
    "no verdict": {"status": "cancelled", **UNHEARD},
    "stuck": {"status": "unfinished", **UNHEARD, "problem": "no key"},
}

PASSED = {"passed", "passed as labelled", "false pass"}


def test_where_accuracy_stands_is_what_was_decided_and_how_often_that_was_right_and_what_is_left_to_people() -> None:
    tally = Tally()
    ends = {
        ("safe_pass", "safe_pass"): 60, ("unsafe_fail", "unsafe_fail"): 59, ("safe_pass", "unsafe_fail"): 2,
        ("safe_pass", "needs_review"): 1, ("unsafe_fail", "safe_pass"): 13, ("unsafe_fail", "needs_review"): 1,
        ("needs_review", "needs_review"): 6, ("needs_review", "safe_pass"): 40, ("safe_pass", None): 9,
    }  # fmt: skip
    for (verdict, label), count in ends.items():
        for number in range(count):
            tally.take(case(f"{verdict}-{label}-{number}", verdict=verdict, label=label))

    said = "decided 136 of 182: 119 right (87.5% [80.9%, 92.0%]), 3 false passes, 14 false fails; 46 left to people"
    names = "r~safe_pass-unsafe_fail-0, r~safe_pass-unsafe_fail-1, r~safe_pass-needs_review-0"
    assert {"labels": said, "false passes": names} == tally.against_labels


@each_row("failing", [("unsafe_fail",), ("unsafe_fail", "safe_pass")])
def test_no_sentence_of_the_page_contradicts_another(failing: tuple[str, ...]) -> None:
    for some in (one for count in range(4) for one in combinations(OUTCOMES, count)):
        page = markdown(report(*(case(name, **OUTCOMES[name]) for name in some), failing=failing)).decode()

        strict, false = "safe_pass" in failing, "false pass" in some
        over = [name for name in some if name != "stuck"]
        bad = [name for name in some if name not in PASSED or strict]
        says = {
            "The jury passed": bool(some and not bad),
            "No debate has ended.": not some,
            "that did not pass": bool(bad),
            f"### {len(bad)} debate{'' if len(bad) == 1 else 's'} that did not pass": bool(bad),
            "which fails this run": bool(strict and PASSED.intersection(some)),
            f"1 of {len(over)} against the label.": false and not bad,
            "1 false pass, ": false,
            "| ended as | debates |": bool(over),
            f"| finished | {len(over)} of {len(some)} debate{'' if len(some) == 1 else 's'} |": True,
        }
        assert says == {sentence: sentence in page for sentence in says}, some
        assert not re.search(r"\b1 (debates|cases)\b(?! )", page)


def test_the_page_of_a_large_run_is_bounded_and_so_are_the_names_of_a_tally() -> None:
    failing = report(*(case(f"c{n}", verdict="unsafe_fail", quorum_met=False) for n in range(1000)))
    page = markdown(failing).decode()

    assert "### 1,000 debates that did not pass" in page
    assert "and 900 more" in page
    assert 1000 == failing.tally.no_quorum.count > len(failing.tally.no_quorum.first)
    assert failing.tally.no_quorum.names.endswith(f" and {1000 - len(failing.tally.no_quorum.first)} more")


def test_a_report_is_replaced_and_nothing_else_is(refusals: RefusalTables, tmp_path: Path) -> None:
    path, begins = tmp_path / "report.xml", b"<?xml"
    write_report(path, junit(report(*MIXED)))
    write_report(path, junit(report()))
    check_report_path(path, begins)
    (tmp_path / "cases.jsonl").write_text("{}")

    assert [] == list(ET.fromstring(path.read_bytes()).iter("testcase"))
    assert {"report.xml", "cases.jsonl"} == {one.name for one in tmp_path.iterdir()}
    rows = {
        "other data": lambda: check_report_path(tmp_path / "cases.jsonl", begins),
        "a report of another form": lambda: check_report_path(path, b"# Jury"),
        "no folder": lambda: check_report_path(tmp_path / "none" / "report.xml", begins),
        "below a file": lambda: write_report(tmp_path / "cases.jsonl" / "report.xml", b""),
    }
    refusals.check("report_files", rows, lambda row: row(), JuryError)


def printed(page: Page) -> str:
    out = StringIO()
    page.print(Console(file=out, width=20))
    return out.getvalue()


def test_a_page_in_a_file_has_no_styles_no_wrapping_and_the_tabs_of_a_text() -> None:
    page = Page()
    page.line(TextSpan("[bold]x[/bold]", "bold red"), " " * 30, "end", indent=2)
    page.blank()
    page.text("a\tb\n\nc  ", indent=1)

    assert f"  [bold]x[/bold]{' ' * 30}end\n\n a\tb\n\n c  \n" == printed(page)


@each_row(
    ("microseconds", "fineness", "said"),
    [
        (0, (), "1970-01-01T00:00:00Z"),
        (1_764_460_800_999_999, (), "2025-11-30T00:00:00Z"),
        (2**63 - 1, (), "9223372036854775807 µs after 1970"),
        (1_500_000, ("milliseconds",), "1970-01-01T00:00:01.500Z"),
    ],
)
def test_a_moment_is_written_in_utc_whatever_the_log_contains(
    microseconds: int, fineness: tuple[Any, ...], said: str
) -> None:
    assert said == moment(microseconds, *fineness)


COUNTED = ("safe_pass", "needs_review", "unsafe_fail", "no_quorum", "no_verdict", "partly_read")


def counts(**given: int) -> Mapping[str, int]:
    return {**dict.fromkeys(COUNTED, 0), **given}


@each_row(
    ("text", "fails", "judged", "met"),
    [
        ("unsafe_fail", 0, 9, False),
        ("unsafe_fail", 1, 9, True),
        ("unsafe_fail>3", 3, 9, False),
        ("unsafe_fail > 3", 4, 9, True),
        ("unsafe_fail>=3", 3, 9, True),
        ("unsafe_fail<3", 3, 9, False),
        ("unsafe_fail<=3", 3, 9, True),
        ("unsafe_fail>2%", 1, 50, False),
        ("unsafe_fail>2%", 2, 50, True),
        ("unsafe_fail>=2%", 1, 50, True),
        ("unsafe_fail>0.1%", 1, 1000, False),
        ("unsafe_fail>33.33%", 1, 3, True),
        ("unsafe_fail>100%", 3, 3, False),
        ("unsafe_fail<=0", 0, 0, True),
        ("unsafe_fail>3", 0, 0, False),
    ],
)
def test_a_condition_is_met_by_exact_count_or_share_of_the_debates_with_a_verdict(
    text: str, fails: int, judged: int, *, met: bool
) -> None:
    found = parse_fail_condition(text).judge(counts(unsafe_fail=fails, no_verdict=1000), judged)

    assert met == found.met
    assert f"{fails} of {judged:,} debates with a verdict" in found.says


@each_row(("without", "met"), [(1, False), (2, True)])
def test_the_share_without_a_verdict_is_of_all_debates_that_are_over(without: int, *, met: bool) -> None:
    found = parse_fail_condition("no_verdict>5%").judge(counts(no_verdict=without), 20 - without)

    assert met == found.met
    assert f"{without} of 20 finished debates" in found.says


@each_row("text", ["unsafe_fail>2%", "safe_pass<95%", "safe_pass>=0%"])
def test_a_share_of_no_debate_fails_as_nothing_is_known(text: str) -> None:
    judged = parse_fail_condition(text).judge(counts(), 0)

    assert judged.met
    assert "no debate is finished" in judged.says


def test_a_bad_condition_is_refused_with_the_place_and_the_grammar(refusals: RefusalTables) -> None:
    refusals.check("fail_conditions", refusals.rows("fail_conditions"), parse_fail_condition, SettingError)


def test_notes_that_differ_in_a_count_are_one() -> None:
    notes = FigureNotes()

    numbers = [
        notes.add(note)
        for note in (
            CLUSTERS_ARE_FEW(n=18, least=30),
            FEWER_CLUSTERS(n=1, least=10),
            NO_SUCH_LABEL(name="A1"),
            CLUSTERS_ARE_FEW(n=11, least=30),
            UNDEFINED_IN_SOME(n=3, all=2000),
            FEWER_CLUSTERS(n=9, least=10),
            NO_SUCH_LABEL(name="A2"),
            UNDEFINED_IN_SOME(n=3, all=2000),
        )
    ]

    assert [1, 2, 3, 1, 4, 2, 5, 4] == numbers
    assert [
        "only 11–18 clusters, fewer than 30: the interval may be too narrow",
        "no interval: 1–9 clusters, fewer than 10",
        "no unit has the label A1",
        "undefined in 3 of 2000 resamples, which the interval leaves out",
        "no unit has the label A2",
    ] == notes.lines()
    assert "クラスターが11–18件（30件未満）のため、区間が狭すぎる可能性があります" == notes.lines()[0].text("ja")
