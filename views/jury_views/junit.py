"""A run or a gate as JUnit XML, which CI systems show: one test case a case.

https://github.com/testmoapp/junitxml is the description that the common readers agree on.
"""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from jury_events.text import visible, visible_line
from jury_views.evaluation_models import parts_by_seat
from jury_views.tally import JudgedCase, RunReport

if TYPE_CHECKING:
    from jury_views.gate_view import GateInWords

JUNIT_BEGINS = b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites"
"""The first bytes of every such file: no other file is replaced."""

_END = b"\n  </testsuite>\n</testsuites>"
_LINE = 500


def junit(report: RunReport) -> bytes:
    """The XML, UTF-8.

    Each case counts as it ended (`CaseEnd`). The properties of a case have the names of result lines.
    """
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name=xml_text(report.name))
    _add_properties(suite, _properties_of_run(report))
    kinds = Counter(case.ended(report.failing).kind for case in report.cases)
    numbers = {
        "tests": str(len(report.cases)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": f"{report.seconds:.3f}",
    }
    for element in (root, suite):
        for name, number in numbers.items():
            element.set(name, number)
    indent(root)
    around: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    # Each case becomes text at once: elements of a long run would take many times as much memory.
    return b"".join([around.removesuffix(_END), *(_case(report, case) for case in report.cases), _END, b"\n"])


def _properties_of_run(report: RunReport) -> dict[str, str]:
    return {
        "cases": "unknown" if report.total is None else str(report.total),
        "finished": str(report.tally.finished),
        "simulated": str(report.tally.simulated),
        "no_verdict": str(report.tally.no_verdict.count),
        **{name.replace(" ", "_"): said for name, said in report.facts.items()},
        **{f"condition {judged.condition}": judged.says for judged in report.conditions},
    }


def _properties_of_case(case: JudgedCase) -> dict[str, str]:
    """What is known: a debate without a verdict has neither verdict nor score."""
    found = {
        "debate_id": case.debate_id,
        "status": case.status,
        "verdict": case.verdict,
        "final_label": case.final_label,
        "score": case.score,
        "label": case.label,
        "quorum_met": None if case.quorum_met is None else str(case.quorum_met).lower(),
        "capped_by": case.capped_by,
        "partly_read": parts_by_seat(case.partly_read),
        "simulated": str(case.simulated).lower() if case.is_over else None,
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _add_properties(element: Element, found: Mapping[str, str]) -> None:
    properties = SubElement(element, "properties")
    for name, value in found.items():
        SubElement(properties, "property", name=xml_text(name), value=xml_text(value))


def _case(report: RunReport, case: JudgedCase) -> bytes:
    """The lines of a case."""
    element = Element("testcase", classname=xml_text(report.name), name=xml_text(case.case_id))
    _add_properties(element, _properties_of_case(case))
    kind, how = case.ended(report.failing)
    if kind is not None:
        said = SubElement(element, kind, type=case.verdict or case.status, message=xml_text(_message(case, how)))
        said.text = _characters(visible(_details(case)))
    indent(element, level=2)
    content: bytes = tostring(element, encoding="utf-8")
    return b"\n    " + content


def _message(case: JudgedCase, said: str) -> str:
    score = f", {case.score}/100" if case.has_verdict else ""
    return f"{said}{score}{' (simulated jurors)' if case.simulated else ''}"


def _details(case: JudgedCase) -> str:
    votes = [f"{juror}: {vote or 'no usable answer'}" for juror, vote in case.votes.items()]
    label = [] if case.label is None else [f"label: {case.label}"]
    item = "" if case.item is None else f" (item {case.item})"
    why = [] if case.reason is None else [f"why{item}: {case.reason}"]
    return "\n".join([*why, *votes, *label, f"jury show {case.debate_id}"])


def xml_text(text: str) -> str:
    """A text on one line, with the characters that XML forbids made visible."""
    return _characters(visible_line(text, _LINE))


def _characters(text: str) -> str:
    """The two invisible characters that XML forbids."""
    return text.replace("\ufffe", "<U+FFFE>").replace("\uffff", "<U+FFFF>")


def gate_junit(named: "GateInWords") -> bytes:
    """One test case, UTF-8: `failure` if the gate fails, `error` if it is inconclusive and counts as nothing else."""
    outcome = named.outcome
    counts = {
        "tests": "1",
        "failures": str(int(outcome == "fail")),
        "errors": str(int(outcome == "inconclusive")),
        "skipped": "0",
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": "jury gate", **counts})
    properties = SubElement(suite, "properties")
    # A passed test case has no text that says "inconclusive, counts as pass", or what was left out.
    for name, value in (("decision", named.headline), *named.facts, *(("note", note) for note in named.notes)):
        SubElement(properties, "property", name=xml_text(name), value=xml_text(value))
    case = SubElement(suite, "testcase", classname="jury gate", name=xml_text(named.title))
    if outcome != "pass":
        kind = "failure" if outcome == "fail" else "error"
        said = SubElement(case, kind, type=named.decision, message=xml_text(named.headline))
        said.text = "\n".join(xml_text(line) for line in named.lines)
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
