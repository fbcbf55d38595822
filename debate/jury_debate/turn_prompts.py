"""What the prompts of all versions say of seats and turns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from jury_debate.prompt_texts import ArtifactTexts, CaseTexts, RoleText, SeatTexts, ToolText, TurnTexts, fill
from jury_debate.step_outcome import ParsedAnswer


class SharedTexts(Protocol):
    """The texts that every version has."""

    @property
    def roles(self) -> Mapping[str, RoleText]:
        """The roles of the documents."""

    @property
    def seats(self) -> SeatTexts:
        """Seats in general."""

    @property
    def case(self) -> CaseTexts:
        """Headings of the judged texts."""

    @property
    def artifacts(self) -> ArtifactTexts:
        """Headings of artifact records."""

    @property
    def turns(self) -> TurnTexts:
        """The instructions of each turn."""

    @property
    def tools(self) -> Mapping[str, ToolText]:
        """Descriptions of tools."""


@dataclass(frozen=True, slots=True)
class TurnPrompts:
    """One prompts file of any version; `texts` contains labels and headings without placeholders too."""

    version: int
    language: str
    texts: SharedTexts

    def role(self, name: str) -> RoleText | None:
        """The texts of `policy_compliance`, `security_leak_risk` or `misuse_detection`; None for any other role."""
        return self.texts.roles.get(name)

    def tool(self, name: str) -> ToolText:
        """The description of the tool `name`; KeyError when there is none."""
        return self.texts.tools[name]

    def role_name(self, *, letter: str, role: str, model: str) -> str:
        """The name of a seat for people: "陪審員A（ポリシー遵守性：gpt-4o）"."""
        return fill(self.texts.seats.role_name, letter=letter, role=role, model=model)

    def role_prompt(self, role: str, focus: str) -> str:
        """The instructions of a role; a custom role gets a general text about `focus`."""
        known = self.role(role)
        return known.role_prompt if known else fill(self.texts.seats.default_role_prompt, focus=focus)

    @property
    def judge_role_prompt(self) -> str:
        """The instructions of the final judge, unless the panel has custom ones."""
        return self.texts.seats.judge_role_prompt

    def discussion_instruction(self, round_number: int) -> str:
        """The instructions of a round, which ask for a statement too."""
        return fill(self.texts.turns.discussion_instruction, round=round_number)

    def tools_instruction(self, names: tuple[str, ...]) -> str:
        """The list of the tools, which may be used before answering."""
        lines = (fill(self.texts.turns.tool_line, name=name, description=self.tool(name).description) for name in names)
        return fill(self.texts.turns.tools_instruction, tools="\n".join(lines))

    def peer_block_initial(self, *, letter: str, verdict: str, score: float, confidence: float) -> str:
        """The heading over a peer's phase-1 rationale: a letter, never a model or an id; `verdict` is its word."""
        return fill(
            self.texts.turns.peer_block_initial,
            letter=letter,
            verdict=verdict,
            score=f"{score:g}",
            confidence=f"{confidence:g}",
        )

    def peer_block_round(
        self, *, letter: str, round_number: int, verdict: str, score: float, confidence: float, changed: bool
    ) -> str:
        """The heading over a peer's statement in a round."""
        return fill(
            self.texts.turns.peer_block_round,
            letter=letter,
            round=round_number,
            verdict=verdict,
            score=f"{score:g}",
            confidence=f"{confidence:g}",
            changed=self._changed(changed=changed),
        )

    def evidence_lines(
        self, answer: ParsedAnswer, juror_ids: tuple[str, ...], mark: Callable[[str], str]
    ) -> tuple[str, ...]:
        """A peer's quotations with the results of their check; none before prompts 2.

        Args:
            answer: of the peer.
            juror_ids: of the panel's seats, in their order.
            mark: marks judged text.
        """
        _ = answer, juror_ids, mark
        return ()

    def scenario_line(self, *, number: str, verdict: str, score: float) -> str:
        """A peer's verdict on one scenario of several."""
        return fill(self.texts.turns.scenario_line, number=number, verdict=verdict, score=f"{score:g}")

    def repair(self, *, reason: str, detail: str) -> str:
        """The turn after a refused answer; `reason` and `detail` as in `AnswerRefusal`."""
        return fill(self.texts.turns.repair, reason=reason, detail=detail)

    def neutral_rationale(self, provider: str) -> str:
        """The rationale of document 004's neutral evaluation; `provider` as people write it ("Gemini")."""
        return fill(self.texts.turns.neutral_rationale, provider=provider)

    def gate_records(self, total: int) -> str:
        """The heading over all Security Gate records (inline mode)."""
        return fill(self.texts.artifacts.gate_records, total=total)

    def card_records(self, total: int) -> str:
        """The heading over all Agent Card Accuracy records (inline mode)."""
        return fill(self.texts.artifacts.card_records, total=total)

    def _changed(self, *, changed: bool) -> str:
        return self.texts.turns.position_changed if changed else self.texts.turns.position_kept
