"""Prompts 1: role, ballot and form of the answer in a system message of each seat; gaps between words are marked.

It never changes: recorded prompts are rendered again with it. Callers mark judged text before they pass it
(`jury_debate.datamark`).
"""

import json
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from jury_debate.prompt_texts import Texts, fill
from jury_debate.turn_prompts import TurnPrompts
from jury_events.rubric import Rubric
from jury_events.verdict import Verdict

VERSION = 1


@cache
def load_prompts(language: str) -> "PromptsV1":
    """The prompts of a language, `ja` or `en`."""
    path = files(__package__).joinpath("prompts", f"v{VERSION}", f"{language}.toml")
    return PromptsV1(VERSION, language, Texts.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))))


@dataclass(frozen=True, slots=True)
class PromptsV1(TurnPrompts):
    """One file of prompts 1."""

    texts: Texts

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
            standards=_standards(self.language, rubric),
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
            standards=_standards(self.language, rubric),
            answer_format=self._answer_format(rubric, ballot, scenarios),
        )

    def _answer_format(self, rubric: Rubric, ballot: str, scenarios: tuple[str, ...]) -> str:
        rule = fill(self.texts.system.scenario_rule, total=len(scenarios)) if scenarios else ""
        return fill(
            self.texts.system.answer_format,
            ballot=ballot,
            example=_example(self.language, rubric, several=bool(scenarios)),
            scenario_rule=rule,
        )


@lru_cache(maxsize=256)
def _standards(language: str, rubric: Rubric) -> str:
    """The verdicts and the rubric, the same in every debate of a run."""
    texts = load_prompts(language).texts
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
def _example(language: str, rubric: Rubric, *, several: bool) -> str:
    """An example answer. It is not a valid one, so that an echo of the prompt cannot vote."""
    system = load_prompts(language).texts.system
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
