"""Reports for CI: JUnit XML and Markdown, valid for any text of cases and providers."""

import re
from collections import Counter
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from jury_judge.errors import ReportFailed, ReportRefused
from jury_judge.report_files import check_report_path, write_report
from jury_views.reports import junit, markdown
from jury_views.reports.fail_conditions import parse_fail_condition
from jury_views.reports.judged_case import JudgedCase
from jury_views.reports.junit import junit as to_junit
from jury_views.reports.kept_cases import KeptCases
from jury_views.reports.markdown import markdown as to_markdown
from jury_views.reports.report import RunReport
from jury_views.reports.tally import NAMED, Tally


def case(name: str, **more: Any) -> JudgedCase:
    fields = {"status": "completed", "verdict": "safe_pass", "score": 90, "quorum_met": True, **more}
    return JudgedCase(case_id=name, debate_id=f"r~{name}", **fields)


MIXED = (
    case("good", label="safe_pass"),
    case("bad", verdict="unsafe_fail", score=10, label="unsafe_fail", votes={"gpt": "unsafe_fail", "claude": None}),
    case("open", verdict="needs_review", score=60),
    case("missed", label="unsafe_fail", simulated=True),
    case("unheard", verdict="needs_review", score=0, quorum_met=False),
    case("failed", status="failed", verdict=None, score=None, quorum_met=None),
    case("stuck", status="unfinished", verdict=None, score=None, quorum_met=None, problem="the key is refused"),
)


def report(*cases: JudgedCase, **more: Any) -> RunReport:
    tally = Tally()
    for one in cases:
        if one.is_over:
            tally.take(one)
    fields = {"name": "run r", "total": len(cases), "seconds": 12.5, "spent": "7 calls, $0.12", **more}
    return RunReport(cases=cases, tally=tally, **fields)


def kinds(content: bytes) -> dict[str | None, list[str]]:
    return {
        one.get("name"): [child.tag for child in one if child.tag != "properties"]
        for one in ET.fromstring(content).iter("testcase")
    }


def test_junit_has_a_test_case_for_each_case_and_counts_them() -> None:
    content = to_junit(report(*MIXED))

    suite = ET.fromstring(content).find("testsuite")
    assert suite is not None
    assert {
        "good": [],
        "bad": ["failure"],
        "open": ["skipped"],
        "missed": [],
        "unheard": ["error"],
        "failed": ["error"],
        "stuck": ["error"],
    } == kinds(content)
    found = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time")}
    assert {
        "name": "run r", "tests": "7", "failures": "1", "errors": "3", "skipped": "1", "time": "12.500",
    } == found  # fmt: skip
    assert content.startswith(junit.BEGINS)


def test_junit_contains_why_a_case_failed_and_where_to_look() -> None:
    failure = ET.fromstring(to_junit(report(*MIXED))).find(".//failure")

    assert failure is not None
    assert ("unsafe_fail", "unsafe_fail 10/100") == (failure.get("type"), failure.get("message"))
    assert "gpt: unsafe_fail\nclaude: no usable answer\nlabel: unsafe_fail\njury show r~bad" == failure.text


def test_both_reports_say_that_silent_seats_capped_a_pass() -> None:
    capped = report(case("capped", verdict="needs_review", score=69, capped_by="silence"))

    (xml,) = ET.fromstring(to_junit(capped)).iter("testcase")
    said = "needs_review 69/100, capped: the votes do not pass with the silent seats counted"
    assert [said] == [one.get("message") for one in xml.iter("skipped")]
    assert ["silence"] == [one.get("value") for one in xml.iter("property") if one.get("name") == "capped_by"]
    assert "| capped | needs_review, capped for silent seats | 69 |" in to_markdown(capped).decode()


def test_a_verdict_that_fails_the_run_fails_its_cases_too() -> None:
    strict = report(*MIXED, failing=("unsafe_fail", "needs_review"))

    assert {"failure": 2, "error": 3} == Counter(kind for found in kinds(to_junit(strict)).values() for kind in found)
    assert "simulated jurors" not in to_junit(strict).decode()


def test_a_case_has_its_verdict_and_score_as_properties_before_what_failed() -> None:
    found = {}
    for one in ET.fromstring(to_junit(report(*MIXED))).iter("testcase"):
        assert "properties" == one[0].tag
        found[one.get("name")] = {each.get("name"): each.get("value") for each in one.iter("property")}

    assert {
        "debate_id": "r~bad", "status": "completed", "verdict": "unsafe_fail", "score": "10",
        "label": "unsafe_fail", "quorum_met": "true", "simulated": "false",
    } == found["bad"]  # fmt: skip
    assert {"debate_id": "r~failed", "status": "failed", "simulated": "false"} == found["failed"]
    assert {"debate_id": "r~stuck", "status": "unfinished"} == found["stuck"]


HOSTILE = "<b>]]>&amp;\x00\x1b[31m\ud800\ufffe\uffff\r\n|`*_[x](javascript:y) @team <!-- # ~~~ $x$ \u202e"


def test_cases_that_were_kept_make_the_same_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they are in a file, and where a report was made before the last of them."""
    monkeypatch.setattr("jury_views.reports.kept_cases._IN_MEMORY", 100)
    with closing(KeptCases()) as kept:
        for one in MIXED:
            kept.append(one)
            list(kept)
        of_tuple = report(*MIXED)
        of_kept = of_tuple._replace(cases=kept)

        assert list(MIXED) == list(kept)
        assert to_junit(of_tuple) == to_junit(of_kept)
        assert to_markdown(of_tuple) == to_markdown(of_kept)


def test_junit_is_indented_and_has_a_line_for_a_case_that_passed() -> None:
    lines = to_junit(report(case("good"), case("open", verdict="needs_review", score=60))).decode().splitlines()

    at = lines.index('    <testcase classname="run r" name="good">')
    end = lines.index("    </testcase>")
    assert "    </properties>" == lines[at - 1]
    assert ["      <properties>", '        <property name="debate_id" value="r~good" />'] == lines[at + 1 : at + 3]
    assert "      </properties>" == lines[end - 1]
    assert '    <testcase classname="run r" name="open">' == lines[end + 1]
    assert any(line.startswith('      <skipped type="needs_review" message="needs_review 60/100">') for line in lines)
    assert ["    </testcase>", "  </testsuite>", "</testsuites>"] == lines[-3:]


def test_hostile_text_stays_text_in_junit() -> None:
    content = to_junit(report(case(HOSTILE, verdict=None, status="unfinished", problem=HOSTILE)))

    (found,) = ET.fromstring(content).iter("testcase")
    assert "<b>]]>&amp;␀␛[31m<U+D800><U+FFFE><U+FFFF>␊|`*_[x](javascript:y)" in str(found.get("name"))
    assert "javascript" in str(found[1].get("message"))
    assert b"<b>" not in content


def test_hostile_text_stays_text_in_markdown() -> None:
    content = to_markdown(report(case(HOSTILE, verdict="unsafe_fail"), case("ok\n| forged | row |"))).decode()

    rows = [line for line in content.splitlines() if line.startswith("| ") and "unsafe_fail" in line and "r\\~" in line]
    assert 1 == len(rows)
    for bare in ("<", "[", "]", "`", "*", "@", ":", "\x1b", "\x00", "\u202e"):
        assert bare not in re.sub(r"\\.", "", rows[0]), "what is not behind a backslash has no meaning"
    assert 6 == rows[0].count("|"), "a text must not add cells"


def test_markdown_has_shares_conditions_failing_cases_and_totals() -> None:
    cases = report(*MIXED)
    judged = parse_fail_condition("unsafe_fail>2%").judge(cases.tally.counts, cases.tally.with_verdict)

    lines = to_markdown(cases._replace(conditions=(judged,))).decode().splitlines()

    assert lines[0].encode() + b"\n" == markdown.BEGINS
    assert "> **Simulated jurors in 1 debate**: no verdict of models." in lines
    assert "| unsafe\\_fail | 1 | 16.7% |" in lines
    assert any("**met: fails**" in line and "1 of 5 debates with a verdict" in line for line in lines)
    assert "### 5 debates that did not pass" in lines
    assert "| unheard | needs_review, no quorum | 0 | – | r\\~unheard |" in lines
    assert "| stuck | could not go on: the key is refused | – | – | r\\~stuck |" in lines
    assert "- 6 of 7 debates finished" in lines
    assert "- 7 calls, \\$0.12" in lines
    assert any("2 of 3 as labelled (accuracy 66.7%), 1 false pass" in line and "missed" in line for line in lines)


OUTCOMES = {
    "passed": {},
    "passed as labelled": {"label": "safe_pass"},
    "false pass": {"label": "unsafe_fail"},
    "failed": {"verdict": "unsafe_fail", "score": 10},
    "review": {"verdict": "needs_review", "score": 50, "label": "safe_pass"},
    "no quorum": {"verdict": "needs_review", "score": 50, "quorum_met": False},
    "no verdict": {"status": "cancelled", "verdict": None, "score": None, "quorum_met": None},
    "stuck": {"status": "unfinished", "verdict": None, "score": None, "quorum_met": None, "problem": "no key"},
}
PASSED = {"passed", "passed as labelled", "false pass"}
SETS = [some for count in range(4) for some in combinations(OUTCOMES, count)]


@pytest.mark.parametrize("failing", [("unsafe_fail",), ("unsafe_fail", "safe_pass")])
@pytest.mark.parametrize("some", SETS, ids=", ".join)
def test_no_sentence_of_the_page_contradicts_another(some: tuple[str, ...], failing: tuple[str, ...]) -> None:
    page = to_markdown(report(*(case(name, **OUTCOMES[name]) for name in some), failing=failing)).decode()

    strict = "safe_pass" in failing
    over = [name for name in some if name != "stuck"]
    bad = [name for name in some if name not in PASSED or strict]
    false = "false pass" in some
    assert bool(some and not bad) == ("The jury passed" in page)
    assert (not some) == ("No debate has ended." in page)
    assert bool(bad) == ("that did not pass" in page)
    if bad:
        assert f"### {len(bad)} debate{'' if len(bad) == 1 else 's'} that did not pass" in page
    assert bool(strict and PASSED.intersection(some)) == ("which fails this run" in page)
    assert (false and not bad) == (f"1 of {len(over)} against the label." in page)
    assert false == ("1 false pass " in page)
    assert bool(over) == ("| ended as | debates |" in page)
    assert f"- {len(over)} of {len(some)} debate{'' if len(some) == 1 else 's'} finished" in page
    assert not re.search(r"\b1 (debates|cases)\b(?! )", page)


def test_the_page_of_a_large_run_is_bounded() -> None:
    content = to_markdown(report(*(case(f"c{n}", verdict="unsafe_fail") for n in range(1000)))).decode()

    assert "### 1,000 debates that did not pass" in content
    assert "… and 900 more" in content


def test_debates_are_named_up_to_a_bound() -> None:
    tally = Tally()
    for number in range(NAMED + 2):
        tally.take(case(f"c{number}", verdict="needs_review", quorum_met=False))

    assert (NAMED + 2, NAMED) == (tally.no_quorum.count, len(tally.no_quorum.first))
    assert tally.no_quorum.names.endswith("r~c9 and 2 more")


def test_a_report_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    write_report(path, to_junit(report(*MIXED)))
    write_report(path, to_junit(report()))
    check_report_path(path, junit.BEGINS)
    (tmp_path / "cases.jsonl").write_text("{}")

    assert {} == kinds(path.read_bytes())
    assert {"report.xml", "cases.jsonl"} == {one.name for one in tmp_path.iterdir()}
    with pytest.raises(ReportRefused, match="contains other data"):
        check_report_path(tmp_path / "cases.jsonl", junit.BEGINS)
    with pytest.raises(ReportRefused, match="contains other data"):
        check_report_path(path, markdown.BEGINS)
    with pytest.raises(ReportRefused, match="no folder"):
        check_report_path(tmp_path / "none" / "report.xml", junit.BEGINS)
    with pytest.raises(ReportFailed, match="cannot be written"):
        write_report(tmp_path / "cases.jsonl" / "report.xml", b"")
