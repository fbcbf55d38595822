"""A report as JUnit XML, which CI systems show: one test case a case.

https://github.com/testmoapp/junitxml is the description that the common readers agree on.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from jury_events.verdict import Verdict
from jury_judge.present.reports.judged_case import JudgedCase
from jury_judge.present.reports.report import RunReport
from jury_judge.text.visible_text import visible, visible_line

BEGINS = b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites"
"""The first bytes of every such file: no other file is replaced."""

_LINE = 500


def junit(report: RunReport) -> bytes:
    """The XML, UTF-8.

    `failure`: a verdict of `report.failing`. `error`: no verdict, no quorum of jurors, or a debate that could not go
    on. `skipped`: needs_review, which a person has to decide. Everything else has passed.
    """
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name=_text(report.name))
    _properties(suite, report)
    kinds = [_case(suite, report, case) for case in report.cases]
    numbers = {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{report.seconds:.3f}",
    }
    for element in (root, suite):
        for name, number in numbers.items():
            element.set(name, number)
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _properties(suite: Element, report: RunReport) -> None:
    found = {
        "cases": "unknown" if report.total is None else str(report.total),
        "finished": str(report.tally.finished),
        "simulated": str(report.tally.simulated),
        "spent": report.spent,
        **{f"condition {judged.condition}": judged.says for judged in report.conditions},
    }
    properties = SubElement(suite, "properties")
    for name, value in found.items():
        SubElement(properties, "property", name=_text(name), value=_text(value))


def _case(suite: Element, report: RunReport, case: JudgedCase) -> str | None:
    """Add a case; gives its kind."""
    element = SubElement(suite, "testcase", classname=_text(report.name), name=_text(case.case_id))
    kind, message = _kind(report, case)
    if kind is not None:
        said = SubElement(element, kind, type=case.verdict or case.status, message=_text(message))
        said.text = _characters(visible(_details(case)))
    return kind


def _kind(report: RunReport, case: JudgedCase) -> tuple[str | None, str]:
    simulated = " (simulated jurors)" if case.simulated else ""
    if case.problem is not None:
        return "error", f"the debate could not go on: {case.problem}"
    if case.verdict is None:
        return "error", f"the debate ended without a verdict: {case.status}"
    judged = f"{case.verdict} {case.score}/100{simulated}"
    if case.quorum_met is False:
        return "error", f"too few jurors gave a usable answer (no quorum): {judged}"
    if case.verdict in report.failing:
        return "failure", judged
    return ("skipped", judged) if case.verdict == Verdict.NEEDS_REVIEW else (None, judged)


def _details(case: JudgedCase) -> str:
    votes = [f"{juror}: {vote or 'no usable answer'}" for juror, vote in case.votes.items()]
    label = [] if case.label is None else [f"label: {case.label}"]
    return "\n".join([*votes, *label, f"jury show {case.debate_id}"])


def _text(text: str) -> str:
    """A text on one line, with the characters that XML forbids made visible."""
    return _characters(visible_line(text, _LINE))


def _characters(text: str) -> str:
    """The two invisible characters that XML forbids."""
    return text.replace("\ufffe", "<U+FFFE>").replace("\uffff", "<U+FFFF>")
