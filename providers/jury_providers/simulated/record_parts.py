"""A record read in parts: what a simulated juror writes of each part, and reads again when it closes.

A finding's text begins with the name of what was found, so that the closing call counts it as a whole case would.
"""

from itertools import takewhile
from typing import Any

from jury_debate.marking import unmark
from jury_debate.prompts_1.finding_limits import LONGEST_FINDING, MOST_DECISIVE, MOST_FINDING_ENTRIES, MOST_FINDINGS
from jury_providers.simulated.citations import cited_entries
from jury_providers.simulated.evaluation import weight
from jury_providers.simulated.findings import Citation, Finding
from jury_providers.simulated.peer_evidence import split_evidence
from jury_providers.simulated.phrases import load_phrases
from jury_providers.simulated.prompt import Prompt
from jury_providers.simulated.prompt_patterns import PromptPatterns
from jury_providers.simulated.read_case import ReadCase
from jury_providers.simulated.signals import vocabulary


def window_answer(prompt: Prompt, case: ReadCase) -> dict[str, Any]:
    """The answer to a call that shows a part of the record: the findings that a quotation shows, the gravest first."""
    phrases, role = load_phrases(prompt.language), prompt.role
    found = dict.fromkeys(one for findings in case.findings for one in findings if one.cited)
    graver = sorted(found, key=lambda one: -abs(weight(one, role)))[:MOST_FINDINGS]
    dimensions = [name for name, _ in prompt.form.dimensions]
    written: list[dict[str, Any]] = []
    for one in graver:
        favourable = weight(one, role) < 0
        entries = cited_entries([(one, "")], favourable=favourable, dimensions=dimensions)[:MOST_FINDING_ENTRIES]
        text = f"{one.name}: {phrases.finding(one, favourable=favourable)}"
        finding: dict[str, Any] = {"criterion": entries[0].criterion, "text": text[:LONGEST_FINDING]}
        if prompt.form.evidence:
            finding["evidence"] = [entry.fields for entry in entries]
        written.append(finding)
    places = [one.place for one in graver if weight(one, role) > 0 and one.place is not None]
    decisive = sorted(set(places))[:MOST_DECISIVE]
    return {"ballot": prompt.ballot, "findings": written, "decisive": decisive, "wanted": []}


def own_findings(prompt: Prompt) -> tuple[Finding, ...]:
    """The findings that a closing call shows, each once."""
    patterns = prompt.patterns
    reading = None if patterns is None else patterns.reading
    if patterns is None or reading is None:
        return ()
    heads = []
    found = reading.finding.find(prompt.turn)
    while found:
        heads.append(found)
        found = reading.finding.find(prompt.turn, found.end())
    ends = [head.start() for head in heads[1:]] + [len(prompt.turn)] * bool(heads)
    blocks = (prompt.turn[head.end() : end] for head, end in zip(heads, ends, strict=True))
    findings = (_finding(block, prompt, patterns) for block in blocks)
    return tuple(dict.fromkeys(one for one in findings if one is not None))


def _finding(block: str, prompt: Prompt, patterns: PromptPatterns) -> Finding | None:
    """A finding in the juror's own words, with the quotations that stand where it said."""
    evidence, prefix = patterns.evidence, f"{prompt.mark} "
    assert evidence is not None
    lines = block.strip("\n").split("\n")
    said = list(takewhile(lambda line: line.startswith(prefix), lines))
    _, quoted = split_evidence("\n".join([evidence.heading, *lines[len(said) :]]), evidence, prompt.mark)
    text = unmark("\n".join(said), prompt.mark)
    name = text.partition(":")[0]
    if name not in vocabulary().criteria:
        return None
    cited = tuple(
        Citation(one.found, one.quote, context=one.says == "context")
        for one in quoted.quotations
        if one.found is not None
    )
    return Finding(name, cited[0].quote if cited else "", cited=cited)
