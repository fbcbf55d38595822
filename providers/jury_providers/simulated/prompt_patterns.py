"""Regular expressions made of the versioned prompt templates, to parse rendered prompts.

So simulated models understand every version and language of the prompts without code of their own.
"""

import re
from functools import cache
from string import Template
from typing import Any, NamedTuple, get_args

from jury_debate import prompts_v1
from jury_debate.prompt_texts import CaseTexts, Texts
from jury_debate.prompts import LANGUAGES
from jury_debate.prompts_v2 import prompts as prompts_v2
from jury_debate.prompts_v2.line_marks import SIGN_PATTERN
from jury_debate.prompts_v2.texts import TextsV2
from jury_events.evidence import EvidenceResult

_NUMBER = r"\d{1,12}"
_DECIMAL = r"[0-9.e+-]{1,24}"
_ANYTHING = r"[^\n]{0,4000}?"
_GROUPS = {
    "letter": "[A-Z]{1,6}",
    "ballot": r"\S{1,200}",
    "marker": "⟦[A-Za-z0-9]{1,64}⟧",
    "sign": f"⟦[A-Za-z0-9]{{1,64}}⟧|{SIGN_PATTERN}",
    "verdict": r"[\w-]{1,40}",
    "score": _DECIMAL,
    "confidence": _DECIMAL,
    "maximum": _DECIMAL,
    "percent": _DECIMAL,
    "part": r"[0-9a-z.]{1,100}",
    "criterion": r"[^\n]{1,300}?",
    **dict.fromkeys(
        ("seats", "parts", "items", "number", "total", "round", "max_rounds", "passed", "shown", "item"), _NUMBER
    ),
    **dict.fromkeys(("place", "says", "result"), r"[^\n]{1,80}?"),
    "id": r"[a-z0-9_-]{1,40}",
}


class LinePattern(NamedTuple):
    """The pattern of one line of a prompt; its literal prefix makes the search fast."""

    prefix: str
    pattern: re.Pattern[str]

    def find(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first matching line of `text` after a line break at or after `start`."""
        at = text.find("\n" + self.prefix, start)
        while at >= 0:
            found = self.pattern.match(text, at + 1)
            if found:
                return found
            at = text.find("\n" + self.prefix, at + 1)
        return None

    def find_last(self, text: str) -> re.Match[str] | None:
        """The last matching line of `text` that follows a line break."""
        at = text.rfind("\n" + self.prefix)
        while at >= 0:
            found = self.pattern.match(text, at + 1)
            if found:
                return found
            at = text.rfind("\n" + self.prefix, 0, at)
        return None

    def match(self, line: str) -> re.Match[str] | None:
        """Match a single line."""
        return self.pattern.match(line) if line.startswith(self.prefix) else None


def line_of(text: str, placeholder: str | None = None) -> LinePattern:
    """The pattern of the template's line with `$placeholder`; of its first line if none is named."""
    lines = text.strip("\n").split("\n")
    chosen = lines[0] if placeholder is None else next(line for line in lines if f"${placeholder}" in line)
    pattern, prefix, last, seen = "", None, 0, set[str]()
    for hole in Template.pattern.finditer(chosen):
        name = hole["named"] or hole["braced"]
        literal = chosen[last : hole.start()]
        prefix = literal if prefix is None else prefix
        pattern += re.escape(literal)
        pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{_GROUPS.get(name, _ANYTHING)})"
        seen.add(name)
        last = hole.end()
    pattern += re.escape(chosen[last:])
    return LinePattern(chosen if prefix is None else prefix, re.compile(pattern + r"(?=\n|\Z)"))


class EvidencePatterns(NamedTuple):
    """How quotations are asked for, and how those of jurors are shown.

    `rule`: the line of the system message that asks for them. `heading` stands over a juror's entries; `place` of an
    entry is an item, or a seat's words on one. `says` maps the words to the answer's; `results` are by their names.
    """

    rule: LinePattern
    heading: str
    entry: LinePattern
    item: LinePattern
    seat: LinePattern
    says: dict[str, str]
    results: tuple[tuple[str, LinePattern], ...]
    decisive: LinePattern


class ReadingPatterns(NamedTuple):
    """How records are shown that are read in parts.

    `outline` stands over lines that repeat items; `part` begins a part. `finding` begins what was found in one.
    """

    outline: LinePattern
    part: LinePattern
    findings: str
    finding: LinePattern


class PromptPatterns(NamedTuple):
    """One prompts file as patterns. `roles` maps a role's shown name to its key, `heads` a case heading to its kind.

    `labels` stands above the verdict words, each of which is a line `label`; None where they are the three verdicts.
    `system` begins the system message of all seats, and `seats_block` the seat's own block after the case; None where
    the system message is the seat's own (prompts 1). `markers` name the debate's marker. `operator_policy` is the
    heading of a policy that stands before the case, which begins with the line `case`; None under prompts 1, as are
    `evidence` and `reading`.
    """

    language: str
    system: LinePattern | None
    seats_block: LinePattern | None
    seat: LinePattern
    role: LinePattern
    judge: LinePattern
    ballot: LinePattern
    markers: tuple[LinePattern, ...]
    tasks: tuple[tuple[str, LinePattern], ...]
    peer_initial: LinePattern
    peer_round: LinePattern
    roles: dict[str, str]
    heads: dict[str, str]
    speakers: dict[str, str]
    authors: dict[str, str]
    scenario: LinePattern
    item: LinePattern
    unseen: LinePattern
    gate_total: tuple[LinePattern, LinePattern]
    card_total: tuple[LinePattern, LinePattern]
    pass_rate: LinePattern
    scores: LinePattern
    dimension: LinePattern
    labels: LinePattern | None
    label: LinePattern | None
    scenario_rule: LinePattern
    operator_policy: str | None = None
    case: str = ""
    evidence: EvidencePatterns | None = None
    reading: ReadingPatterns | None = None


@cache
def all_prompt_patterns() -> tuple[PromptPatterns, ...]:
    """The patterns of every prompts file, latest version first."""
    return (
        *(_patterns_v2(language, prompts_v2.load_prompts(language).texts) for language in LANGUAGES),
        *(_patterns_v1(language, prompts_v1.load_prompts(language).texts) for language in LANGUAGES),
    )


def _patterns_v1(language: str, texts: Texts) -> PromptPatterns:
    return _patterns(
        language,
        texts,
        system=None,
        seats_block=None,
        seat=line_of(texts.system.juror, "letter"),
        role=line_of(texts.system.juror, "role"),
        judge=line_of(texts.system.final_judge),
        ballot=line_of(texts.system.answer_format, "ballot"),
        markers=(line_of(texts.system.juror, "marker"),),
        scores=_line_before(texts.system.standards, "$dimensions"),
        labels=None,
        label=None,
        scenario_rule=line_of(texts.system.scenario_rule, "total"),
    )


def _patterns_v2(language: str, texts: TextsV2) -> PromptPatterns:
    case, seats = texts.case, texts.seats
    items = {
        case.policy: "policy",
        case.question: "user",
        case.expected_behavior: "expected",
        case.response: "agent",
        case.error: "error",
        case.artifact_summary: "artifacts",
    }
    patterns = _patterns(
        language,
        texts,
        system=line_of(texts.system.jury),
        seats_block=line_of(seats.juror),
        seat=line_of(seats.juror, "letter"),
        role=line_of(seats.juror, "role"),
        judge=line_of(seats.final_judge, "seats"),
        ballot=line_of(seats.ballot, "ballot"),
        markers=(line_of(case.sign, "sign"), line_of(case.marked_words, "sign")),
        scores=_line_before(texts.system.scores, "$dimensions"),
        labels=_line_before(texts.system.verdicts, "$labels"),
        label=line_of(texts.system.label),
        scenario_rule=line_of(seats.scenarios, "total"),
    )
    return patterns._replace(
        speakers=items | patterns.speakers,
        operator_policy=case.operator_policy,
        case=case.heading,
        evidence=_evidence(texts),
        tasks=(
            ("window", line_of(texts.reading.window_instruction)),
            ("gather", line_of(texts.reading.gather_instruction)),
            ("closing", line_of(texts.reading.closing_instruction)),
            *patterns.tasks,
        ),
        reading=ReadingPatterns(
            outline=line_of(texts.reading.outline),
            part=line_of(texts.reading.part),
            findings=texts.reading.findings,
            finding=line_of(texts.reading.finding),
        ),
    )


def _line_before(text: str, placeholder: str) -> LinePattern:
    """The line of a template above the one that a placeholder fills."""
    return line_of(text.partition(f"\n{placeholder}")[0].rpartition("\n")[2])


def _evidence(texts: TextsV2) -> EvidencePatterns:
    shown = texts.evidence
    return EvidencePatterns(
        rule=line_of(texts.system.evidence_format),
        heading=shown.heading,
        entry=line_of(shown.entry),
        item=line_of(shown.item),
        seat=line_of(shown.seat),
        says={shown.says_for: "for", shown.says_against: "against", shown.says_context: "context"},
        results=tuple((name, line_of(getattr(shown, name))) for name in get_args(EvidenceResult)),
        decisive=line_of(shown.decisive_item),
    )


def _patterns(language: str, texts: Texts | TextsV2, **own: Any) -> PromptPatterns:
    """The patterns of a file, of which `own` are those whose place depends on the version."""
    case, turns, artifacts = texts.case, texts.turns, texts.artifacts
    return PromptPatterns(
        language=language,
        tasks=(
            ("initial", line_of(turns.initial_instruction)),
            ("discussion", line_of(turns.discussion_instruction)),
            ("final", line_of(turns.final_instruction)),
        ),
        peer_initial=line_of(turns.peer_block_initial),
        peer_round=line_of(turns.peer_block_round),
        roles={role.role: key for key, role in texts.roles.items()},
        heads=_heads(case) | {artifacts.heading: "artifacts"},
        speakers={
            case.user: "user",
            case.assistant: "agent",
            case.speaker: "tool",
            case.refusal: "refusal",
            case.system: "policy",
            case.reasoning: "thought",
            case.tool_call: "action",
            case.tool_result: "tool",
            case.tool_error: "tool",
            case.environment_result: "tool",
            case.attachment: "file",
            case.not_shown: "file",
        },
        authors={
            case.from_user: "user",
            case.from_model: "agent",
            case.from_developer: "policy",
            case.from_tool: "tool",
            case.from_environment: "tool",
            case.from_unknown: "tool",
        },
        scenario=line_of(case.scenario_heading),
        item=line_of(case.item),
        unseen=line_of(case.unseen),
        gate_total=(line_of(artifacts.gate_summary), line_of(artifacts.gate_records)),
        card_total=(line_of(artifacts.card_summary), line_of(artifacts.card_records)),
        pass_rate=line_of(artifacts.pass_rate),
        dimension=line_of(texts.system.dimension),
        **own,
    )


def _heads(case: CaseTexts) -> dict[str, str]:
    return {
        case.policy: "policy",
        case.question: "user",
        case.expected_behavior: "expected",
        case.response: "agent",
        case.error: "error",
        case.name_label: "name",
        case.tool_label: "tool_name",
        case.call_id_label: "name",
        case.arguments_label: "content",
        case.content_label: "content",
    }
