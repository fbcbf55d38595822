"""The prompts in Japanese and English: versioned data files, loaded once, filled strictly.

A released version never changes, so that recorded prompts can be rendered again. Callers mark judged text before they
pass it (`jury_debate.datamark`).
"""

import json
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from jury_debate.errors import UnknownPrompts
from jury_debate.prompt_texts import RoleText, Texts, ToolText, fill
from jury_events.rubric import Rubric
from jury_events.verdict import Verdict

PROMPTS_VERSION = 1
"""The latest version; new debates use it."""

LANGUAGES = ("ja", "en")


@cache
def load_prompts(version: int, language: str) -> "Prompts":
    """The prompts of one version and language.

    Raises:
        UnknownPrompts: `version` is not 1 to PROMPTS_VERSION, or `language` is none of LANGUAGES.
    """
    if version not in range(1, PROMPTS_VERSION + 1):
        raise UnknownPrompts(
            f"prompts version {version} is not known; this version of jury-judge has 1 to {PROMPTS_VERSION}: upgrade it"
        )
    if language not in LANGUAGES:
        raise UnknownPrompts(f"there are no prompts in {language!r}; the languages: {', '.join(LANGUAGES)}")
    path = files(__package__).joinpath("prompts", f"v{version}", f"{language}.toml")
    return Prompts(version, language, Texts.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))))


@lru_cache(maxsize=256)
def seat_letter(index: int) -> str:
    """The letter of the seat at `index` (from 0): A to Z, then AA, AB, and so on."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


class Prompts(NamedTuple):
    """One prompts file; `texts` contains labels and headings without placeholders too."""

    version: int
    language: str
    texts: Texts

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

    def system_juror(
        self,
        *,
        letter: str,
        seats: int,
        role: str,
        focus: str,
        role_prompt: str,
        rubric: Rubric,
        ballot: str,
        marker: str,
        scenarios: tuple[str, ...] = (),
    ) -> str:
        """A juror's system turn, the same in all its turns; `scenarios` as in `AnswerSpec`."""
        return fill(
            self.texts.system.juror,
            letter=letter,
            seats=seats,
            role=role,
            focus=focus,
            role_prompt=role_prompt,
            marker=marker,
            standards=_standards(self.version, self.language, rubric),
            answer_format=self._answer_format(rubric, ballot, scenarios),
        )

    def system_final_judge(
        self, *, seats: int, role_prompt: str, rubric: Rubric, ballot: str, marker: str, scenarios: tuple[str, ...] = ()
    ) -> str:
        """The final judge's system turn."""
        return fill(
            self.texts.system.final_judge,
            seats=seats,
            role_prompt=role_prompt,
            marker=marker,
            standards=_standards(self.version, self.language, rubric),
            answer_format=self._answer_format(rubric, ballot, scenarios),
        )

    def discussion_instruction(self, round_number: int) -> str:
        """The instructions of a round, which ask for a statement too."""
        return fill(self.texts.turns.discussion_instruction, round=round_number)

    def tools_instruction(self, names: tuple[str, ...]) -> str:
        """The list of the tools, which may be used before answering."""
        lines = (fill(self.texts.turns.tool_line, name=name, description=self.tool(name).description) for name in names)
        return fill(self.texts.turns.tools_instruction, tools="\n".join(lines))

    def peer_block_initial(self, *, letter: str, verdict: Verdict, score: float, confidence: float) -> str:
        """The heading over a peer's phase-1 rationale: a letter, never a model or an id."""
        return fill(
            self.texts.turns.peer_block_initial,
            letter=letter,
            verdict=verdict.value,
            score=f"{score:g}",
            confidence=f"{confidence:g}",
        )

    def peer_block_round(
        self, *, letter: str, round_number: int, verdict: Verdict, score: float, confidence: float, changed: bool
    ) -> str:
        """The heading over a peer's statement in a round."""
        return fill(
            self.texts.turns.peer_block_round,
            letter=letter,
            round=round_number,
            verdict=verdict.value,
            score=f"{score:g}",
            confidence=f"{confidence:g}",
            changed=self._changed(changed=changed),
        )

    def scenario_line(self, *, number: str, verdict: Verdict, score: float) -> str:
        """A peer's verdict on one scenario of several."""
        return fill(self.texts.turns.scenario_line, number=number, verdict=verdict.value, score=f"{score:g}")

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

    def _answer_format(self, rubric: Rubric, ballot: str, scenarios: tuple[str, ...]) -> str:
        rule = fill(self.texts.system.scenario_rule, total=len(scenarios)) if scenarios else ""
        return fill(
            self.texts.system.answer_format,
            ballot=ballot,
            example=_example(self.version, self.language, rubric, several=bool(scenarios)),
            scenario_rule=rule,
        )


@lru_cache(maxsize=256)
def _standards(version: int, language: str, rubric: Rubric) -> str:
    """The verdicts and the rubric, the same in every debate of a run."""
    texts = load_prompts(version, language).texts
    meanings = texts.dimensions
    lines = (
        fill(
            texts.system.dimension,
            name=dimension.name,
            maximum=f"{dimension.maximum:g}",
            meaning=meanings.get(dimension.name, meanings["other"]),
        )
        for dimension in rubric.dimensions
    )
    return fill(texts.system.standards, dimensions="\n".join(lines))


@lru_cache(maxsize=256)
def _example(version: int, language: str, rubric: Rubric, *, several: bool) -> str:
    """An example answer. It is not a valid one, so that an echo of the prompt cannot vote."""
    system = load_prompts(version, language).texts.system
    verdicts = " | ".join(Verdict)
    example: dict[str, Any] = {
        "ballot": system.example_ballot,
        "verdict": verdicts,
        "scores": {dimension.name: f"0-{dimension.maximum:g}" for dimension in rubric.dimensions},
        "confidence": "0.0-1.0",
        "rationale": system.example_rationale,
    }
    if several:
        example["scenarios"] = [
            {"scenario_id": system.example_scenario_id, "verdict": verdicts, "score": "0-100"},
        ]
    return json.dumps(example, ensure_ascii=False, indent=2)
