"""Debates as the log sees them: events with bodies that decode, made small."""

from itertools import count
from typing import Any

from jury_events import (
    STANDARD_RUBRIC,
    AnswerRules,
    ArtifactRules,
    Bands,
    CallOutcome,
    CallSettings,
    ConsensusCheck,
    ConsensusChecked,
    ConsensusStatus,
    CoordinatorResumed,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateEvent,
    DebateFailed,
    DebateOpened,
    Decider,
    DimensionScore,
    DiscussionRules,
    Evaluation,
    ExchangeRecorded,
    FailureReason,
    FinalRules,
    Judgment,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    NamedPart,
    NewEvent,
    Panel,
    PartBuffer,
    RequestMessage,
    RoundStarted,
    Scores,
    Seat,
    SpeakerOrder,
    Step,
    TextsErased,
    Usage,
    Verdict,
    Vote,
    encode,
)

JUROR = "juror-gpt"
MODEL = "simulated/reader"
_START = 1_700_000_000_000_000

PANEL = Panel(
    name="small",
    language="en",
    seats=(Seat(juror_id=JUROR, role="auditor", role_name="Auditor", role_focus="safety", model=MODEL),),
    rubric=STANDARD_RUBRIC,
    discussion=DiscussionRules(
        order="parallel",
        threshold=2.0,
        always_discuss=False,
        max_rounds=2,
        history="all",
        unanimity_ends=True,
        end_early=True,
        stagnation_rounds=None,
        speakers=SpeakerOrder(kind="fixed", base=(JUROR,)),
    ),
    final=FinalRules(method="majority_vote", bands=Bands(), quorum=1, judge=None),
    answers=AnswerRules(),
    artifacts=ArtifactRules(),
)


class DebateScript:
    """Writes the events of one debate, one call an event; time and salts count up from `seed`."""

    def __init__(self, debate_id: str, *, run_id: str | None = "run", seed: int = 1) -> None:
        self.debate_id = debate_id
        self.run_id = run_id
        self._clock = count(_START + seed * 1_000_000)
        salts = count(seed << 64)
        self.pen = PartBuffer(lambda: next(salts).to_bytes(16, "big"))

    @property
    def stream(self) -> str:
        return f"debate/{self.debate_id}"

    @property
    def calls(self) -> str:
        return f"calls/{self.debate_id}"

    def opened(self, case: str | bytes = "the case", **changes: Any) -> NewEvent:
        fields: dict[str, Any] = {
            "debate_id": self.debate_id,
            "run_id": self.run_id,
            "case_id": f"case-{self.debate_id}",
            "label": Verdict.SAFE_PASS,
            "metadata": {},
            "tags": (),
            "cluster": None,
            "agent_cost": None,
            "scenarios": ("s1",),
            "panel": PANEL,
            "rules": 1,
            "prompts": 1,
            "simulated": True,
            "security_gate_records": 0,
            "agent_card_records": 0,
            "omissions": (),
            "case": self.pen.make(case),
            "images": (),
            "secret": self.pen.make(b"\x00secret\xff"),
            "pieces": (NamedPart(name="role_prompt", text=self.pen.make("judge!")),),
        }
        return self._new(DebateOpened(**{**fields, **changes}))

    def begun(self) -> NewEvent:
        return self._new(DebateBegun())

    def begins(self, case: str | bytes = "the case", **changes: Any) -> tuple[NewEvent, NewEvent]:
        """The events of a debate that one process opens and begins."""
        return self.opened(case, **changes), self.begun()

    def exchange(
        self,
        attempt: int = 1,
        *,
        cost: float | None = 0.25,
        answer: str | bytes = "{}",
        model: str = MODEL,
        usage: Usage | None = None,
    ) -> NewEvent:
        return self._new(
            ExchangeRecorded(
                step=Step(0, JUROR).id,
                juror_id=JUROR,
                model=model,
                model_version=None,
                turn=1,
                attempt=attempt,
                request=(RequestMessage(role="user", parts=(self.pen.make("judge!"),)),),
                tools=False,
                settings=CallSettings(),
                sent=None,
                outcome=CallOutcome.ANSWERED,
                answer=self.pen.make(answer),
                response=None,
                error=None,
                finish_reason="stop",
                usage=usage or Usage(input_tokens=10, output_tokens=3),
                cost=cost,
                latency_ms=1.5,
                request_id=None,
                simulated=True,
            )
        )

    def evaluation(self, rationale: str = "because") -> Evaluation:
        scores = Scores(dimensions=tuple(DimensionScore(dimension=name, points=5.0) for name in STANDARD_RUBRIC.names))
        return Evaluation(
            verdict=Verdict.SAFE_PASS,
            scores=scores,
            overall=scores.overall,
            confidence=0.5,
            rationale=self.pen.make(rationale),
            model=MODEL,
        )

    def evaluated(self, rationale: str = "because", exchanges: tuple[str, ...] = ()) -> NewEvent:
        evaluation, peer_text = self.evaluation(rationale), self.pen.make(f"shown: {rationale}")
        return self._new(
            JurorEvaluated(juror_id=JUROR, evaluation=evaluation, peer_text=peer_text, exchanges=exchanges)
        )

    def checked(self, round_: int = 0, *, over: bool = True) -> NewEvent:
        check = ConsensusCheck(
            status=ConsensusStatus.UNANIMOUS,
            largest=1,
            seats=1,
            majority_position=Verdict.SAFE_PASS,
            reached=over,
        )
        return self._new(ConsensusChecked(round=round_, check=check, end_reason="consensus" if over else None))

    def round_started(self, round_: int, *speakers: str) -> NewEvent:
        order = speakers or (JUROR,)
        return self._new(RoundStarted(round=round_, speaker_order=order, instruction=self.pen.make(f"round {round_}")))

    def unevaluated(self) -> tuple[NewEvent, ...]:
        """The stream `debate/` of a debate whose seat gives no evaluation."""
        judgment = Judgment(
            method="majority_vote",
            decided_by=Decider.NO_EVALUATION,
            verdict=Verdict.NEEDS_REVIEW,
            score=None,
            mean=None,
            votes=(
                Vote(
                    juror_id=JUROR, kind="abstained", position=None, score=None, confidence=None,
                    weight=1.0, round=None, stale=False,
                ),
            ),
            quorum=1,
            quorum_votes=0,
            capped=False,
        )  # fmt: skip
        completed = DebateCompleted(
            final_verdict=Verdict.NEEDS_REVIEW,
            final_score=None,
            total_rounds=0,
            end_reason="no_discussion",
            early_termination=False,
        )
        abstained = JurorAbstained(
            step=Step(0, JUROR).id,
            juror_id=JUROR,
            reason=FailureReason.BLOCKED,
            refusal=None,
            stale=False,
            exchanges=(),
        )
        rendered = JudgmentRendered(judgment=judgment, exchanges=())
        return (*self.begins(), *map(self._new, (abstained, rendered, completed)))

    def judged(self, verdict: Verdict = Verdict.SAFE_PASS) -> NewEvent:
        vote = Vote(
            juror_id=JUROR,
            kind="own",
            position=Verdict.SAFE_PASS,
            score=20.0,
            confidence=0.5,
            weight=1.0,
            round=0,
            stale=False,
        )
        judgment = Judgment(
            method="majority_vote",
            decided_by=Decider.MAJORITY_VOTE,
            verdict=verdict,
            score=20,
            mean=20.0,
            votes=(vote,),
            quorum=1,
            quorum_votes=1,
            capped=False,
        )
        return self._new(JudgmentRendered(judgment=judgment, exchanges=()))

    def completed(self, verdict: Verdict = Verdict.SAFE_PASS) -> NewEvent:
        return self._new(
            DebateCompleted(
                final_verdict=verdict,
                final_score=20,
                total_rounds=0,
                end_reason="consensus",
                early_termination=True,
            )
        )

    def failed(self) -> NewEvent:
        return self._new(DebateFailed(reason="quota", detail=self.pen.make("no money")))

    def cancelled(self) -> NewEvent:
        return self._new(DebateCancelled(by="somebody", reason=None))

    def resumed(self, number: int = 1) -> NewEvent:
        repeated_steps = (Step(0, JUROR).id, "final")
        return self._new(CoordinatorResumed(epoch=2, cause="coordinator", number=number, repeated_steps=repeated_steps))

    def erased(self, *texts: str | bytes, number: int = 1) -> NewEvent:
        parts = tuple(self.pen.make(text) for text in texts)
        return self._new(TextsErased(by="dpo", reason="asked", scope="debate", number=number, parts=parts))

    def whole(self) -> tuple[NewEvent, ...]:
        """The stream `debate/` of a debate that ends well."""
        return (*self.begins(), self.evaluated(), self.checked(), self.judged(), self.completed())

    def _new(self, event: DebateEvent | ExchangeRecorded) -> NewEvent:
        return encode(event, recorded_at=next(self._clock), parts=self.pen.take())
