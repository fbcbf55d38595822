"""A gate as JUnit XML and as Markdown, for CI systems. `jury_judge.report_files` writes them."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from jury_views.gate_view import GateInWords
from jury_views.paired_sections import gate_sections
from jury_views.report_sections import Block, Section, Sentence, named_facts
from jury_views.reports.junit import xml_text
from jury_views.reports.markdown import markdown_page


def gate_junit(named: GateInWords) -> bytes:
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
        said.text = "\n".join(xml_text(line) for line in lines(named))
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def gate_markdown(named: GateInWords) -> bytes:
    """A page of a CI job, UTF-8: decision, notes, figures, tables."""
    blocks: list[Block] = [Sentence(named.headline, notice=True), *map(Sentence, named.notes), named_facts(named.facts)]
    if named.table is not None:
        blocks.append(named.table)
    return markdown_page(Section("gate", "gate", named.title, tuple(blocks)), *gate_sections(named))


def lines(named: GateInWords) -> list[str]:
    """The gate as lines of text."""
    return [named.headline, *(f"{name}: {value}" for name, value in named.facts), *named.notes]
