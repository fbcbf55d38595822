"""The schema of a prompts file: every text of the prompts, and its placeholders.

Texts are `string.Template`s. PLACEHOLDERS lists the placeholders of each; texts that it does not name have none.
"""

from functools import lru_cache
from string import Template

from jury_events.value import Value


class RoleText(Value):
    """A role: its name, its field and its instructions."""

    role: str
    focus: str
    role_prompt: str


class SeatTexts(Value):
    """Seats in general."""

    role_name: str
    default_role_prompt: str
    judge_role_prompt: str


class SystemTexts(Value):
    """The system turns and what they are made of."""

    juror: str
    final_judge: str
    standards: str
    dimension: str
    answer_format: str
    scenario_rule: str
    example_ballot: str
    example_rationale: str
    example_scenario_id: str


class CaseTexts(Value):
    """Headings of the judged texts; each kind of transcript item has one, and each author a sentence."""

    heading: str
    scenario_heading: str
    policy: str
    question: str
    expected_behavior: str
    transcript: str
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
    own_heading: str
    peers_heading: str
    no_peers: str
    peer_block_initial: str
    peer_block_round: str
    scenario_line: str
    position_changed: str
    position_kept: str
    statement_label: str
    rationale_label: str
    discussion_instruction: str
    final_instruction: str
    tools_instruction: str
    tool_line: str
    tools_over: str
    repair: str
    neutral_rationale: str


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
    tools: dict[str, ToolText]


_BLOCK = frozenset({"letter", "verdict", "score", "confidence"})

PLACEHOLDERS: dict[str, frozenset[str]] = {
    "seats.role_name": frozenset({"letter", "role", "model"}),
    "seats.default_role_prompt": frozenset({"focus"}),
    "system.juror": frozenset(
        {"letter", "seats", "role", "focus", "role_prompt", "marker", "standards", "answer_format"}
    ),
    "system.final_judge": frozenset({"seats", "role_prompt", "marker", "standards", "answer_format"}),
    "system.standards": frozenset({"dimensions"}),
    "system.dimension": frozenset({"name", "maximum", "meaning"}),
    "system.answer_format": frozenset({"ballot", "example", "scenario_rule"}),
    "system.scenario_rule": frozenset({"total"}),
    "case.scenario_heading": frozenset({"number", "total"}),
    "case.transcript": frozenset({"total"}),
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
    "turns.peer_block_round": _BLOCK | {"round", "changed"},
    "turns.discussion_instruction": frozenset({"round"}),
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
