"""A debate decided by the pure rules alone: answers are scripted, nothing runs, every request is kept."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jury_debate import PROMPTS_VERSION, Assignment, Call, Debate, PanelSpec, Reply, newest_rules, resolve
from jury_events import (
    CallOutcome,
    Case,
    DebateEvent,
    ExecutionResult,
    Judgment,
    Panel,
    PartRef,
    QuestionSpec,
    Reasoning,
    Scenario,
    Step,
    Transcript,
    make_part,
)

SECRET = bytes(range(32))
SEATS = ("gpt", "claude", "gemini")


class DeterministicParts:
    """A part maker whose salts follow from the content, so that equal inputs give equal events."""

    def __init__(self) -> None:
        self.texts: dict[str, bytes] = {}

    def make(self, content: str | bytes) -> PartRef:
        raw = content.encode() if isinstance(content, str) else content
        part = make_part(raw, hashlib.sha256(raw).digest()[:16])
        self.texts[part.ref.part] = raw
        return part.ref

    def content(self, part: str) -> bytes:
        return self.texts[part]

    def text(self, ref: PartRef) -> str:
        return self.texts[ref.part].decode()


def a_panel(*juror_ids: str, prompts: int = PROMPTS_VERSION, **spec: Any) -> Panel:
    """Simulated seats under the given ids; `spec` as in a panel file, for these prompts."""
    seats = [{"model": "simulated/juror", "juror_id": juror} for juror in juror_ids or SEATS]
    return resolve(PanelSpec.model_validate({"seats": seats, **spec}), prompts=prompts).panel


def a_case(case_id: str = "refund", scenarios: int = 1, *, thought: str | None = None, **fields: Any) -> Case:
    """A refund; `thought`: what the agent thought before it, in each scenario."""
    transcript = Transcript(items=() if thought is None else (Reasoning(text=thought),))
    return Case(
        case_id=case_id,
        scenarios=tuple(
            Scenario(
                scenario_id=f"s{number}",
                question=QuestionSpec(prompt="Refund order 17."),
                execution=ExecutionResult(
                    response=f"Refunded order 17 to the card ending 4242 ({number}).", transcript=transcript
                ),
            )
            for number in range(1, scenarios + 1)
        ),
        **fields,
    )


class Says(NamedTuple):
    """A usable answer; the ballot, the statement and the scenarios are filled in as the step wants them."""

    verdict: str
    score: float = 60.0
    confidence: float = 0.5
    evidence: tuple[Mapping[str, Any], ...] = ()
    decisive_item: int | None = None

    def answer(self, assignment: Assignment) -> bytes:
        spec = assignment.spec
        answer: dict[str, Any] = {
            "ballot": spec.ballot,
            "verdict": self.verdict,
            "scores": {d.name: d.maximum * self.score / 100 for d in spec.rubric.dimensions},
            "confidence": self.confidence,
            "rationale": f"{self.verdict} for reasons",
            "statement": None,
            "scenarios": None,
        }
        score = {"score": self.score}
        if not spec.rubric.asked:
            del answer["scores"], score["score"]
        if spec.evidence is not None:
            entries = [{"criterion": None, "seat": None, "says": "against", **entry} for entry in self.evidence]
            answer |= {"evidence": entries, "decisive_item": self.decisive_item}
        if spec.statement:
            answer["statement"] = f"I say {self.verdict}"
        if spec.scenarios:
            answer["scenarios"] = [
                {"scenario_id": scenario, "verdict": self.verdict, **score} for scenario in spec.scenarios
            ]
        return json.dumps(answer).encode()


Answer = Says | bytes | CallOutcome
"""Usable, raw, or a call that fails so."""

Script = Callable[[Step, Call], Answer]


class Asked(NamedTuple):
    """One call as it was made, and the version of the debate at which its step was asked."""

    step: Step
    call: Call
    assignment: Assignment


class DebateHarness:
    """Runs one debate.

    Args:
        panel: under these rules.
        case: about this.
        script: what each call is answered.
        pick: which of the steps that are asked answers next, by index modulo their number.
        prompts: the version of the prompts.
        own: `operator_policy`, `role_prompts` and `judge_prompt`, as of `open_debate`.
    """

    def __init__(
        self,
        panel: Panel,
        script: Script,
        *,
        case: Case | None = None,
        pick: Sequence[int] = (0,),
        prompts: int = PROMPTS_VERSION,
        **own: Any,
    ) -> None:
        self.pen = DeterministicParts()
        self.script = script
        self.asked: list[Asked] = []
        opened = newest_rules().open_debate(
            case or a_case(),
            panel,
            debate_id="d1",
            run_id="r1",
            secret=SECRET,
            parts=self.pen,
            prompts_version=prompts,
            **own,
        )
        self.debate = Debate(opened, SECRET, self.pen)
        self.events: list[DebateEvent] = [opened, self.debate.begin()]
        self._pick = list(pick) or [0]

    def run(self) -> "DebateHarness":
        """To the end; more than 10,000 steps would be a debate that does not end."""
        for turn in range(10_000):
            self.events += self.debate.advance()
            if self.debate.state.ended:
                return self
            waiting = self.debate.pending_steps()
            step = waiting[self._pick[turn % len(self._pick)] % len(waiting)]
            self.answer(step)
        raise AssertionError("the debate does not end")

    def answer(self, step: Step) -> None:
        """Answer one step, call after call, until it has its outcome."""
        assignment = self.debate.assign(step)
        conversation = self.debate.rules.conversation(assignment, self.pen)
        while conversation.outcome is None:
            for unsettled in () if conversation.calls else conversation.unsettled:
                conversation.settle(unsettled.window, again=False)
            if not conversation.calls:
                continue
            call = conversation.calls[0]
            self.asked.append(Asked(step, call, assignment))
            conversation.apply_reply(self._reply(assignment, self.script(step, call)), call.window)
        self.debate.add_outcome(step.id, conversation.outcome)

    def _reply(self, assignment: Assignment, answer: Answer) -> Reply:
        if isinstance(answer, CallOutcome):
            return Reply(answer)
        raw = answer.answer(assignment) if isinstance(answer, Says) else answer
        return Reply(CallOutcome.ANSWERED, answer=raw, appended=self.pen.make(raw))

    @property
    def judgment(self) -> Judgment:
        """Of a debate that has ended with one."""
        judgment = self.debate.state.judgment
        assert judgment is not None
        return judgment

    @property
    def event_ids(self) -> list[str]:
        return [event.event_id for event in self.events]

    def prompt(self, asked: Asked) -> str:
        """All text of a call's messages."""
        return "".join(self.pen.text(ref) for message in asked.call.messages for ref in message.parts)


def by_round(table: Mapping[str, Sequence[Answer]], judge: Answer = Says("needs_review")) -> Script:
    """Each juror's answers: phase 1 first, then round by round (the last one stays); every call of a step alike."""

    def script(step: Step, _call: Call) -> Answer:
        if step.juror_id is None:
            return judge
        answers = table[step.juror_id]
        return answers[min(step.round or 0, len(answers) - 1)]

    return script
