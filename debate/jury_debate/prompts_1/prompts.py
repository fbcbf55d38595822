"""Prompts 1 in Japanese and English: loaded once, filled strictly.

What is the same in every debate of a panel (`system`) stands first, then the case, then what belongs to a seat and a
turn: the order that providers' prompt caches need. Judged text never stands in a system message.
"""

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from jury_debate.assignment import seat_letter
from jury_debate.prompts_1.texts import (
    LONGEST_FINDING,
    MOST_DECISIVE,
    MOST_FINDING_ENTRIES,
    MOST_FINDINGS,
    MOST_WANTED,
    Texts,
    ToolText,
    fill,
)
from jury_debate.step_outcome import CheckedQuotations, ParsedAnswer
from jury_events.bundled_scales import AGENT_SAFETY, bundled_scale
from jury_events.evidence import Evidence
from jury_events.ids import Step
from jury_events.panel import Language, Marking, Panel
from jury_events.reading import RecordRead
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale

VERSION = 1


@cache
def load_prompts(language: Language) -> "Prompts":
    """The prompts of a language, `ja` or `en`."""
    path = files(__package__).joinpath(f"{language}.toml")
    return Prompts(VERSION, language, Texts.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))))


@dataclass(frozen=True, slots=True)
class Prompts:
    """One file of prompts; `texts` contains labels and headings without placeholders too."""

    version: int
    language: Language
    texts: Texts

    def system(self, panel: Panel) -> str:
        """The system message of every seat and of the final judge: the same in all debates of a panel."""
        return _system(
            self.language,
            panel.rubric,
            panel.scale,
            panel.task,
            panel.marking,
            evidence=panel.answers.evidence != "off",
        )

    def role_prompt(self, role: str, focus: str, *, own_scale: bool = False) -> str:
        """The instructions of a role; a role of the panel's own gets a general text about its focus.

        Args:
            own_scale: whether the panel has a scale of its own.
        """
        if (known := self.texts.roles.get(role)) is not None:
            return known.role_prompt
        seats = self.texts.seats
        return fill(seats.own_role_prompt if own_scale else seats.default_role_prompt, focus=focus)

    def judge_role_prompt_under(self, scale: VerdictScale | None) -> str:
        """The instructions of the final judge, unless the panel has custom ones."""
        seats = self.texts.seats
        sentences = [seats.judge_role_prompt]
        if scale is None:
            sentences.append(seats.judge_grave)
        if (label := (scale or bundled_scale(AGENT_SAFETY, self.language).scale).in_doubt) is not None:
            sentences.append(fill(seats.judge_in_doubt, label=label))
        return (" " if self.language == "en" else "").join(sentences)

    def evidence_lines(
        self, answer: ParsedAnswer, juror_ids: tuple[str, ...], mark: Callable[[str], str]
    ) -> tuple[str, ...]:
        """A peer's quotations with the results of their check, and its notes.

        Args:
            juror_ids: of the panel's seats, in their order.
        """
        quotations = () if answer.checked is None else self.quotation_lines(answer.checked, juror_ids, mark)
        return (*quotations, *self.notes_on(answer.decisive_item, answer.reading))

    def quotation_lines(
        self, checked: CheckedQuotations, juror_ids: tuple[str, ...], mark: Callable[[str], str]
    ) -> tuple[str, ...]:
        """Quotations with the results of their check; see `evidence_lines`."""
        lines = [self.texts.evidence.heading] if checked.quotes else []
        for quote, entry in zip(checked.quotes, checked.entries, strict=True):
            lines += [self._entry(entry, juror_ids), mark(quote)]
        return tuple(lines)

    def notes_on(self, decisive_item: int | None, reading: RecordRead | None) -> tuple[str, ...]:
        """The item where it went wrong, and the share that was read where that is not all."""
        lines = []
        if decisive_item is not None:
            lines.append(fill(self.texts.evidence.decisive_item, item=decisive_item))
        if reading is not None and reading.partly:
            lines.append(fill(self.texts.reading.partly_read, percent=int(100 * reading.share)))
        return tuple(lines)

    def _entry(self, entry: Evidence, juror_ids: tuple[str, ...]) -> str:
        texts = self.texts.evidence
        if entry.seat is None:
            place = fill(texts.item, item=entry.item)
        else:
            place = fill(texts.seat, item=entry.item, letter=seat_letter(juror_ids.index(entry.seat)))
        result: str = getattr(texts, entry.result)
        if entry.result == "elsewhere":
            assert entry.span is not None
            assert entry.span.item is not None
            result = fill(result, item=entry.span.item)
        says: str = getattr(texts, f"says_{entry.says}")
        return fill(texts.entry, place=place, says=says, result=result)

    def entry_line(self, entry: Evidence, juror_ids: tuple[str, ...]) -> str:
        """The line over a quotation: where it stands, what it speaks for, and what its check found."""
        return self._entry(entry, juror_ids)

    def record_tools_instruction(self, names: tuple[str, ...]) -> str:
        """The list of the tools with which a record is read that is shown as an outline."""
        lines = (fill(self.texts.turns.tool_line, name=name, description=self.tool(name).description) for name in names)
        return fill(self.texts.reading.tools_instruction, tools="\n".join(lines))

    def window_instruction(self, rubric: Rubric, *, evidence: bool) -> str:
        """The instructions of a call that shows a part of the record, and asks what it shows."""
        return self._findings_instruction(self.texts.reading.window_instruction, MOST_FINDINGS, rubric, evidence)

    def gather_instruction(self, rubric: Rubric, most: int, *, evidence: bool) -> str:
        """The instructions of a call that shows findings, and asks for the most important ones, at most `most`."""
        return self._findings_instruction(self.texts.reading.gather_instruction, most, rubric, evidence)

    def _findings_instruction(self, text: str, most: int, rubric: Rubric, evidence: bool) -> str:
        return fill(
            text,
            example=_findings_example(self.language, rubric, evidence=evidence),
            findings=most,
            characters=LONGEST_FINDING,
            entries=MOST_FINDING_ENTRIES,
            decisive=MOST_DECISIVE,
            wanted=MOST_WANTED,
        )

    def seat(
        self, *, letter: str, seats: int, role: str, focus: str, role_prompt: str, ballot: str, scenarios: int
    ) -> str:
        """The block of a juror, after the case: its role, its ballot, and how many scenarios are to be judged.

        Args:
            role: as shown.
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

    def tool(self, name: str) -> ToolText:
        """The description of the tool `name`; KeyError when there is none."""
        return self.texts.tools[name]

    def role_name(self, *, letter: str, role: str, model: str) -> str:
        """The name of a seat for people: "陪審員A（ポリシー遵守性：gpt-4o）"."""
        return fill(self.texts.seats.role_name, letter=letter, role=role, model=model)

    @property
    def judge_role_prompt(self) -> str:
        """The instructions of the final judge, unless the panel has custom ones."""
        return self.texts.seats.judge_role_prompt

    def discussion_instruction(self, round_number: int, *, alone: bool = False) -> str:
        """The instructions of a round, which ask for a statement too; `alone`: no seat is shown its peers."""
        turns = self.texts.turns
        return fill(turns.reflection_instruction if alone else turns.discussion_instruction, round=round_number)

    def tools_instruction(self, names: tuple[str, ...]) -> str:
        """The list of the tools, which may be used before answering."""
        lines = (fill(self.texts.turns.tool_line, name=name, description=self.tool(name).description) for name in names)
        return fill(self.texts.turns.tools_instruction, tools="\n".join(lines))

    def peer_block(
        self, step: Step, *, letter: str, verdict: str, score: float, confidence: float, changed: bool
    ) -> str:
        """The heading over what a peer said in a step: a letter, never a model or an id; `verdict` is its word."""
        turns = self.texts.turns
        block = turns.peer_block_reasoning if step.reasoning else turns.peer_block_initial
        return fill(
            turns.peer_block_round if step.round else block,
            letter=letter,
            round=step.round or 0,
            verdict=verdict,
            score=f"{score:g}",
            confidence=f"{confidence:g}",
            changed=turns.position_changed if changed else turns.position_kept,
        )

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


@lru_cache(maxsize=256)
def _system(
    language: Language,
    rubric: Rubric,
    scale: VerdictScale | None,
    task: str | None,
    marking: Marking,
    *,
    evidence: bool,
) -> str:
    system = load_prompts(language).texts.system
    known = bundled_scale(AGENT_SAFETY, language)
    shown = scale or known.scale
    return fill(
        system.jury,
        task=task or known.task,
        reading=system.reading_lines if marking == "lines" else system.reading_words,
        # Outcomes are not shown: what follows from a verdict is no reason for one.
        verdicts=fill(
            system.verdicts,
            labels="\n".join([fill(system.label, id=label.id, meaning=label.meaning) for label in shown.labels]),
            choice=system.no_doubt if shown.in_doubt is None else fill(system.in_doubt, label=shown.in_doubt),
        ),
        scores=_scores(language, rubric),
        answer_format=fill(
            system.answer_format,
            example=_example(language, rubric, shown, evidence=evidence),
            words=("、" if language == "ja" else ", ").join(shown.ids),
            scores=f"{system.scores_format}\n" if rubric.asked else "",
            scenario_score=system.scenario_score_format if rubric.asked else "",
            evidence=f"{system.evidence_format}\n" if evidence else "",
        ),
    )


def _scores(language: Language, rubric: Rubric) -> str:
    """The criteria with their meanings; "" where no points are asked for. Which are critical is not shown."""
    texts = load_prompts(language).texts
    system, meanings = texts.system, texts.dimensions
    if not rubric.asked:
        return ""
    dimensions = (
        fill(
            system.dimension,
            name=dimension.name,
            maximum=f"{dimension.maximum:g}",
            meaning=dimension.meaning or meanings.get(dimension.name, meanings["other"]),
        )
        for dimension in rubric.asked
    )
    return fill(system.scores, dimensions="\n".join(dimensions))


def _example(language: Language, rubric: Rubric, scale: VerdictScale, *, evidence: bool) -> str:
    """An example answer. It is not a valid one, so that an echo of the prompt cannot vote."""
    system = load_prompts(language).texts.system
    verdicts = " | ".join(scale.ids)
    points = {one.name: f"0-{one.maximum:g}" for one in rubric.asked}
    criteria, score = list(points), {"score": "0-100"} if points else {}
    example: dict[str, Any] = {
        "ballot": system.example_ballot,
        "verdict": verdicts,
        **({"scores": points} if points else {}),
        "confidence": "0.0-1.0",
        "rationale": system.example_rationale,
        "statement": system.example_statement,
        "scenarios": [{"scenario_id": system.example_scenario_id, "verdict": verdicts, **score}],
    }
    if evidence:
        example |= {"evidence": [_example_entry(language, criteria)], "decisive_item": None}
    return json.dumps(example, ensure_ascii=False, indent=2)


def _example_entry(language: Language, criteria: Sequence[str]) -> dict[str, Any]:
    return {
        "item": "number of the item",
        "quote": load_prompts(language).texts.system.example_quote,
        "says": "for | against | context",
        "criterion": " | ".join([*criteria, "null"]) if criteria else None,
        "seat": None,
    }


@lru_cache(maxsize=256)
def _findings_example(language: Language, rubric: Rubric, *, evidence: bool) -> str:
    """An example of what is found in a part; no valid one either."""
    system = load_prompts(language).texts.system
    criteria = [dimension.name for dimension in rubric.asked]
    entry = _example_entry(language, criteria)
    finding: dict[str, Any] = {"criterion": entry["criterion"], "text": system.example_rationale}
    if evidence:
        finding["evidence"] = [entry]
    example = {"ballot": system.example_ballot, "findings": [finding], "decisive": [], "wanted": []}
    return json.dumps(example, ensure_ascii=False, indent=2)
