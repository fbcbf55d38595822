"""The schema of a file of prompts 2: every text of the prompts, and its placeholders.

Texts are `string.Template`s, as in prompts 1. PLACEHOLDERS lists the placeholders of each; texts that it does not name
have none.
"""

from jury_debate.prompt_texts import PLACEHOLDERS as PLACEHOLDERS_V1
from jury_debate.prompt_texts import ArtifactTexts, CaseTexts, RoleText, SeatTexts, ToolText, TurnTexts
from jury_events.value import Value


class SystemTextsV2(Value):
    """The system message, the same in every step of every debate of a panel, and what it is made of."""

    jury: str
    reading_lines: str
    reading_words: str
    verdicts: str
    label: str
    in_doubt: str
    no_doubt: str
    scores: str
    dimension: str
    answer_format: str
    scores_format: str
    scenario_score_format: str
    evidence_format: str
    example_ballot: str
    example_rationale: str
    example_statement: str
    example_scenario_id: str
    example_quote: str


class SeatTextsV2(SeatTexts):
    """Seats in general, and the block of a seat or of the final judge after the case: its role and its ballot.

    `own_role_prompt`: of a role of the panel's own under a scale of its own. `judge_grave`: what the final judge is
    said of grave dangers, under the three verdicts.
    """

    judge_grave: str
    judge_in_doubt: str
    own_role_prompt: str

    juror: str
    final_judge: str
    ballot: str
    scenarios: str


class CaseTextsV2(CaseTexts):
    """Headings of the judged texts. `policy`, `question`, `response` and the like are headings of numbered items."""

    operator_policy: str
    sign: str
    marked_words: str
    same_as: str
    artifact_summary: str


class EvidenceTexts(Value):
    """How peers and the final judge are shown a juror's quotations, and what their check found."""

    heading: str
    entry: str
    item: str
    seat: str
    says_for: str
    says_against: str
    says_context: str
    verified: str
    normalised: str
    elsewhere: str
    not_found: str
    decisive_item: str


class ReadingTexts(Value):
    """How records are shown that are longer than a model's window, and how they are read."""

    notice: str
    outline: str
    outline_item: str
    outline_span: str
    outline_kind: str
    shown_cut: str
    part: str
    continued: str
    in_a_line: str
    goes_on: str
    part_pictures: str
    part_end: str
    window_instruction: str
    gather_instruction: str
    partly_read: str
    partly_read_rationale: str
    closing_instruction: str
    findings: str
    finding: str
    no_criterion: str
    no_findings: str
    left_out: str
    unread: str
    decisive: str
    wanted: str
    cited: str
    no_cited: str
    not_all: str
    tools_instruction: str
    tools_read_over: str
    to_read: str
    found: str
    found_in: str


class TextsV2(Value):
    """One prompts file. `dimensions` explains each known rubric dimension; `other` is for unknown ones."""

    roles: dict[str, RoleText]
    seats: SeatTextsV2
    system: SystemTextsV2
    dimensions: dict[str, str]
    case: CaseTextsV2
    artifacts: ArtifactTexts
    turns: TurnTexts
    evidence: EvidenceTexts
    reading: ReadingTexts
    tools: dict[str, ToolText]


PLACEHOLDERS: dict[str, frozenset[str]] = {
    **{
        name: names
        for name, names in PLACEHOLDERS_V1.items()
        if name.partition(".")[0] in {"case", "artifacts", "turns"}
    },
    "seats.role_name": frozenset({"letter", "role", "model"}),
    "seats.default_role_prompt": frozenset({"focus"}),
    "seats.juror": frozenset({"letter", "seats", "role", "focus", "role_prompt"}),
    "seats.final_judge": frozenset({"seats", "role_prompt"}),
    "seats.ballot": frozenset({"ballot"}),
    "seats.scenarios": frozenset({"total"}),
    "seats.judge_in_doubt": frozenset({"label"}),
    "seats.own_role_prompt": frozenset({"focus"}),
    "system.jury": frozenset({"task", "reading", "verdicts", "scores", "answer_format"}),
    "system.verdicts": frozenset({"labels", "choice"}),
    "system.label": frozenset({"id", "meaning"}),
    "system.in_doubt": frozenset({"label"}),
    "system.scores": frozenset({"dimensions"}),
    "system.dimension": frozenset({"name", "maximum", "meaning"}),
    "system.answer_format": frozenset({"example", "words", "scores", "scenario_score", "evidence"}),
    "evidence.entry": frozenset({"place", "says", "result"}),
    "evidence.item": frozenset({"item"}),
    "evidence.seat": frozenset({"letter", "item"}),
    "evidence.elsewhere": frozenset({"item"}),
    "evidence.decisive_item": frozenset({"item"}),
    "case.sign": frozenset({"sign"}),
    "case.marked_words": frozenset({"sign"}),
    "case.same_as": frozenset({"what", "number"}),
    "reading.outline": frozenset({"items"}),
    "reading.outline_item": frozenset({"number", "what", "characters", "words"}),
    "reading.outline_span": frozenset({"first", "last", "kinds", "characters", "words"}),
    "reading.outline_kind": frozenset({"count", "what"}),
    "reading.part": frozenset({"part", "parts"}),
    "reading.part_pictures": frozenset({"numbers"}),
    "reading.part_end": frozenset({"part", "parts"}),
    "reading.window_instruction": frozenset({"example", "findings", "characters", "entries", "decisive", "wanted"}),
    "reading.partly_read": frozenset({"percent"}),
    "reading.partly_read_rationale": frozenset({"parts"}),
    "reading.gather_instruction": frozenset({"example", "findings", "characters", "entries", "decisive", "wanted"}),
    "reading.finding": frozenset({"part", "criterion"}),
    "reading.left_out": frozenset({"count"}),
    "reading.unread": frozenset({"items"}),
    "reading.decisive": frozenset({"items"}),
    "reading.tools_instruction": frozenset({"tools"}),
    "reading.to_read": frozenset({"items"}),
    "reading.found": frozenset({"shown", "total"}),
    "reading.found_in": frozenset({"number"}),
}
