"""Prompts 2 in Japanese and English: loaded once, filled strictly.

What is the same in every debate of a panel (`system`) stands first, then the case, then what belongs to a seat and a
turn: the order that providers' prompt caches need. Judged text never stands in a system message.
"""

import json
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from jury_debate.prompt_texts import fill
from jury_debate.prompts_v2.texts import TextsV2
from jury_debate.turn_prompts import TurnPrompts
from jury_events.panel import Marking
from jury_events.rubric import Rubric
from jury_events.verdict import Verdict

VERSION = 2


@cache
def load_prompts(language: str) -> "PromptsV2":
    """The prompts of a language, `ja` or `en`."""
    path = files("jury_debate").joinpath("prompts", f"v{VERSION}", f"{language}.toml")
    return PromptsV2(VERSION, language, TextsV2.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))))


@dataclass(frozen=True, slots=True)
class PromptsV2(TurnPrompts):
    """One file of prompts 2."""

    texts: TextsV2

    def system(self, rubric: Rubric, marking: Marking) -> str:
        """The system message of every seat and of the final judge: the same in all debates of a panel."""
        return _system(self.language, rubric, marking)

    def operator_policy(self, policy: str) -> str:
        """The block before the case with the policy of the whole run, unmarked: the operator speaks, not the record."""
        return f"{self.texts.case.operator_policy}\n{policy}\n\n"

    def seat(
        self, *, letter: str, seats: int, role: str, focus: str, role_prompt: str, ballot: str, scenarios: int
    ) -> str:
        """The block of a juror, after the case: its role, its ballot, and how many scenarios are to be judged.

        Args:
            letter: of the seat.
            seats: of the panel.
            role: as shown.
            focus: of the role.
            role_prompt: its instructions.
            ballot: the seat's id.
            scenarios: of the case; 1: none is judged on its own.
        """
        text = fill(self.texts.seats.juror, letter=letter, seats=seats, role=role, focus=focus, role_prompt=role_prompt)
        return self._with_ballot(text, ballot, scenarios)

    def final_judge(self, *, seats: int, role_prompt: str, ballot: str, scenarios: int) -> str:
        """The block of the final judge, after the case."""
        return self._with_ballot(
            fill(self.texts.seats.final_judge, seats=seats, role_prompt=role_prompt), ballot, scenarios
        )

    def _with_ballot(self, text: str, ballot: str, scenarios: int) -> str:
        seats = self.texts.seats
        blocks = [text, fill(seats.ballot, ballot=ballot)]
        if scenarios > 1:
            blocks.append(fill(seats.scenarios, total=scenarios))
        return "\n\n".join(blocks)


@lru_cache(maxsize=256)
def _system(language: str, rubric: Rubric, marking: Marking) -> str:
    texts = load_prompts(language).texts
    system, meanings = texts.system, texts.dimensions
    dimensions = (
        fill(
            system.dimension,
            name=dimension.name,
            maximum=f"{dimension.maximum:g}",
            meaning=meanings.get(dimension.name, meanings["other"]),
        )
        for dimension in rubric.dimensions
    )
    return fill(
        system.jury,
        reading=system.reading_lines if marking == "lines" else system.reading_words,
        standards=fill(system.standards, dimensions="\n".join(dimensions)),
        answer_format=fill(system.answer_format, example=_example(language, rubric)),
    )


def _example(language: str, rubric: Rubric) -> str:
    """An example answer. It is not a valid one, so that an echo of the prompt cannot vote."""
    system = load_prompts(language).texts.system
    verdicts = " | ".join(Verdict)
    example: dict[str, Any] = {
        "ballot": system.example_ballot,
        "verdict": verdicts,
        "scores": {dimension.name: f"0-{dimension.maximum:g}" for dimension in rubric.dimensions},
        "confidence": "0.0-1.0",
        "rationale": system.example_rationale,
        "statement": system.example_statement,
        "scenarios": [{"scenario_id": system.example_scenario_id, "verdict": verdicts, "score": "0-100"}],
    }
    return json.dumps(example, ensure_ascii=False, indent=2)
