"""The texts of prompts 1, what they say of the operator's policy, and the limits of findings.

Texts are `string.Template`s. PLACEHOLDERS lists the placeholders of each; texts that it does not name have none.
"""

from functools import lru_cache
from string import Template

from jury_events.case import Case
from jury_events.value import Value


class RoleText(Value):
    """A role: its name, its field and its instructions."""

    role: str
    focus: str
    role_prompt: str


class SeatTexts(Value):
    """Seats in general, and the block of a seat or of the final judge after the case: its role and its ballot.

    `own_role_prompt`: of a role of the panel's own under a scale of its own. `judge_grave`: what the final judge is
    said of grave dangers, under the three verdicts.
    """

    role_name: str
    default_role_prompt: str
    judge_role_prompt: str
    judge_grave: str
    judge_in_doubt: str
    own_role_prompt: str
    juror: str
    final_judge: str
    ballot: str
    scenarios: str


class SystemTexts(Value):
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


class CaseTexts(Value):
    """Headings of the judged texts; each kind of transcript item has one, and each author a sentence.

    `policy`, `question`, `response` and the like are headings of numbered items.
    """

    heading: str
    scenario_heading: str
    policy: str
    question: str
    expected_behavior: str
    transcript: str
    all_reasoning: str
    response: str
    error: str
    item: str
    system: str
    user: str
    assistant: str
    speaker: str
    reasoning: str
    refusal: str
    tool_call: str
    other_reasoning: str
    other_refusal: str
    other_tool_call: str
    tool_result: str
    tool_error: str
    environment_result: str
    attachment: str
    event: str
    not_shown: str
    of_call: str
    of_unknown_call: str
    of_unclear_call: str
    from_user: str
    from_model: str
    from_tool: str
    from_environment: str
    from_developer: str
    from_unknown: str
    name_label: str
    tool_label: str
    call_id_label: str
    arguments_label: str
    content_label: str
    picture: str
    file: str
    unseen: str
    unseen_size: str
    nothing: str
    operator_policy: str
    sign: str
    marked_words: str
    same_as: str
    artifact_summary: str


class ArtifactTexts(Value):
    """Headings of artifact records, and the sentences of their summary."""

    heading: str
    gate_records: str
    card_records: str
    gate_summary: str
    card_summary: str
    counts: str
    count: str
    count_separator: str
    no_verdict: str
    pass_rate: str
    first_failures: str
    failure: str
    no_gist: str


class TurnTexts(Value):
    """The instructions of each turn."""

    initial_instruction: str
    reasoning_instruction: str
    own_heading: str
    peers_heading: str
    no_peers: str
    alone: str
    peer_block_initial: str
    peer_block_reasoning: str
    peer_block_round: str
    scenario_line: str
    position_changed: str
    position_kept: str
    statement_label: str
    rationale_label: str
    discussion_instruction: str
    reflection_instruction: str
    final_instruction: str
    tools_instruction: str
    tool_line: str
    tools_over: str
    repair: str
    neutral_rationale: str


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


class ToolText(Value):
    """The description of a tool and of its parameters."""

    description: str
    parameters: dict[str, str]


class Texts(Value):
    """One prompts file. `dimensions` explains each known rubric dimension; `other` is for unknown ones."""

    roles: dict[str, RoleText]
    seats: SeatTexts
    system: SystemTexts
    dimensions: dict[str, str]
    case: CaseTexts
    artifacts: ArtifactTexts
    turns: TurnTexts
    evidence: EvidenceTexts
    reading: ReadingTexts
    tools: dict[str, ToolText]


_BLOCK = frozenset({"letter", "verdict", "score", "confidence"})

PLACEHOLDERS: dict[str, frozenset[str]] = {
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
    "case.scenario_heading": frozenset({"number", "total"}),
    "case.transcript": frozenset({"total"}),
    "case.all_reasoning": frozenset({"total"}),
    "case.item": frozenset({"number", "what"}),
    "case.of_call": frozenset({"number"}),
    "case.picture": frozenset({"number", "total", "media_type", "size"}),
    "case.file": frozenset({"media_type", "size"}),
    "case.unseen": frozenset({"what"}),
    "case.unseen_size": frozenset({"what", "size"}),
    "artifacts.gate_records": frozenset({"total"}),
    "artifacts.card_records": frozenset({"total"}),
    "artifacts.gate_summary": frozenset({"total"}),
    "artifacts.card_summary": frozenset({"total"}),
    "artifacts.counts": frozenset({"counts"}),
    "artifacts.count": frozenset({"verdict", "number"}),
    "artifacts.pass_rate": frozenset({"percent", "passed", "total"}),
    "artifacts.first_failures": frozenset({"total", "shown"}),
    "artifacts.failure": frozenset({"verdict", "gist"}),
    "turns.peer_block_initial": _BLOCK,
    "turns.peer_block_reasoning": _BLOCK | {"changed"},
    "turns.peer_block_round": _BLOCK | {"round", "changed"},
    "turns.discussion_instruction": frozenset({"round"}),
    "turns.reflection_instruction": frozenset({"round"}),
    "turns.scenario_line": frozenset({"number", "verdict", "score"}),
    "turns.tools_instruction": frozenset({"tools"}),
    "turns.tool_line": frozenset({"name", "description"}),
    "turns.repair": frozenset({"reason", "detail"}),
    "turns.neutral_rationale": frozenset({"provider"}),
}


def fill(text: str, **values: str | int) -> str:
    """`text` with its placeholders replaced; KeyError when one has no value. Values are inserted as they are."""
    return _format(text) % values


@lru_cache(maxsize=1024)
def _format(text: str) -> str:
    """A template as a format string: the texts of a prompts file are filled in again for every debate."""
    return Template(text.replace("%", "%%")).substitute(_Fields())


class _Fields(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"%({name})s"


MOST_FINDINGS = 12
LONGEST_FINDING = 600
"""Characters of a finding's text."""

MOST_FINDING_ENTRIES = 3
"""Quotations of one finding."""

MOST_DECISIVE = 5
MOST_WANTED = 8
"""Numbers of items."""


NUMBER = 1
"""Of its item."""


def policy_piece(policy: str, texts: CaseTexts) -> str:
    """Its piece of the prompt. Unmarked: the operator speaks, not the record."""
    return f"{_heading(texts)}{policy}\n\n"


def policy_in(piece: str, texts: CaseTexts) -> str:
    """The policy of a piece that `policy_piece` wrote."""
    return piece.removeprefix(_heading(texts)).removesuffix("\n\n")


def _heading(texts: CaseTexts) -> str:
    return f"{texts.operator_policy}\n\n{fill(texts.item, number=NUMBER, what=texts.policy)}\n"


def without_policy(case: Case, policy: str) -> Case:
    """The case without this policy of its questions."""
    scenarios = (
        scenario.model_copy(update={"question": scenario.question.model_copy(update={"policy": None})})
        if scenario.question.policy == policy
        else scenario
        for scenario in case.scenarios
    )
    return case.model_copy(update={"scenarios": tuple(scenarios)})


def has_policy(case: Case, policy: str) -> bool:
    """Whether a question of the case has this policy."""
    return any(scenario.question.policy == policy for scenario in case.scenarios)
