"""A gate as JUnit XML and as Markdown, for CI systems. `report.write_report` writes them."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from jury_views.gate_view import NamedGate, facts, headline, notes
from jury_views.reports.junit import xml_text
from jury_views.reports.markdown import BEGINS as MARKDOWN_BEGINS
from jury_views.reports.markdown import markdown_text


def gate_junit(named: NamedGate) -> bytes:
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
    for name, value in (("decision", headline(named)), *facts(named), *(("note", note) for note in notes(named))):
        SubElement(properties, "property", name=xml_text(name), value=xml_text(value))
    case = SubElement(suite, "testcase", classname="jury gate", name=xml_text(named.title))
    if outcome != "pass":
        kind = "failure" if outcome == "fail" else "error"
        said = SubElement(case, kind, type=named.report.gate.decision, message=xml_text(headline(named)))
        said.text = "\n".join(xml_text(line) for line in lines(named))
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def gate_markdown(named: NamedGate) -> bytes:
    """A section for the page of a CI job, UTF-8: decision, figures, the table of verdicts."""
    report = named.report.paired
    rows = [f"| {markdown_text(name)} | {markdown_text(value)} |" for name, value in facts(named)]
    said = [f"> {markdown_text(note)}\n" for note in notes(named)]
    names = [markdown_text(name) for name in report.categories]
    table = [
        f"| base ↓ candidate → | {' | '.join(names)} |",
        f"| --- |{' ---: |' * len(names)}",
        *(
            f"| {name} | {' | '.join(f'{count:,}' for count in row)} |"
            for name, row in zip(names, report.table, strict=True)
        ),
    ]
    head = [f"## {markdown_text(named.title)}", "", f"**{markdown_text(headline(named))}**", "", *said]
    return (
        MARKDOWN_BEGINS + "\n".join([*head, "| figure | value |", "| --- | --- |", *rows, "", *table]).encode() + b"\n"
    )


def lines(named: NamedGate) -> list[str]:
    """The gate as lines of text."""
    return [headline(named), *(f"{name}: {value}" for name, value in facts(named)), *notes(named)]
