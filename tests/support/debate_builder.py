"""A debate built by hand, event by event: three seats, two rounds, an abstention, a blocked answer, a judge."""

import hashlib
from functools import cache
from typing import Any

from jury_debate import read_spec, resolve
from jury_events import (
    STANDARD_RUBRIC,
    CallOutcome,
    CallSettings,
    Case,
    ConsensusCheck,
    ConsensusChecked,
    ConsensusStatus,
    DebateBegun,
    DebateCompleted,
    DebateEvent,
    DebateHistory,
    DebateOpened,
    Decider,
    DimensionScore,
    Evaluation,
    ExchangeRecorded,
    FailureReason,
    Judgment,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    Language,
    Panel,
    PartRef,
    RefusalReason,
    RoundStarted,
    Scores,
    Statement,
    StatementMade,
    StoredEvent,
    TextsErased,
    Usage,
    Verdict,
    Vote,
    calls_stream,
    debate_stream,
    encode,
    make_part,
)

SEATS = ("juror-gpt", "juror-claude", "juror-gemini")
PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL


def salt_of(content: bytes) -> bytes:
    """The salt of a text, the same each time."""
    return hashlib.sha256(content).digest()[:16]


class DebateBuilder:
    """`events` and `exchanges` in order, `texts` by reference; `text(...)` makes the reference of a text."""

    def __init__(self, *, language: Language = "en", case: str | None = None, prompt: str = "May I?") -> None:
        self.texts: dict[str, bytes] = {}
        self.panel = _panel(language)
        self.opened = DebateOpened(
            debate_id="run-1~c1",
            run_id="run-1",
            case_id="c1",
            label=FAIL,
            metadata={},
            tags=(),
            cluster=None,
            agent_cost=None,
            scenarios=("scenario-1",),
            panel=self.panel,
            rules=1,
            prompts=1,
            simulated=True,
            security_gate_records=10,
            agent_card_records=6,
            omissions=(),
            case=self.text(case or _case(prompt).to_part().decode()),
            images=(),
            secret=self.text("secret"),
            pieces=(),
        )
        self.events: list[DebateEvent] = [self.opened, DebateBegun()]
        self.exchanges: list[ExchangeRecorded] = []

    def opened_as(self, **fields: Any) -> "DebateBuilder":
        """With these fields of the opening changed; a name of a role, by juror id, where `roles` gives one."""
        roles = fields.pop("roles", {})
        if roles:
            seats = tuple(seat.changed(role_name=roles.get(seat.juror_id, seat.role_name)) for seat in self.panel.seats)
            self.panel = fields["panel"] = self.panel.changed(seats=seats)
        self.opened = self.events[0] = self.opened.changed(**fields)
        return self

    @property
    def history(self) -> DebateHistory:
        """The same as a store returns it, without hashes."""
        encoded = {
            debate_stream(self.opened.debate_id): [encode(event, recorded_at=0) for event in self.events],
            calls_stream(self.opened.debate_id): [encode(event, recorded_at=0) for event in self.exchanges],
        }
        stored = (
            StoredEvent(version, stream, version, one.event_id, one.type, one.schema, 0, one.body, b"")
            for stream, events in encoded.items()
            for version, one in enumerate(events, 1)
        )
        parts = (make_part(content, salt_of(content)) for content in self.texts.values())
        return DebateHistory.of_events(self.opened.debate_id, stored, {part.digest: part for part in parts})

    def text(self, content: str) -> PartRef:
        part = make_part(content.encode(), salt_of(content.encode()))
        self.texts[part.ref.part] = content.encode()
        return part.ref

    def evaluation(self, verdict: Verdict, points: tuple[float, ...], rationale: str, **more: Any) -> Evaluation:
        scores = Scores(
            dimensions=tuple(
                DimensionScore(dimension=name, points=given)
                for name, given in zip(STANDARD_RUBRIC.names, points, strict=True)
            )
        )
        fields = {"confidence": 0.8, "model": "simulated/juror", **more}
        return Evaluation(
            verdict=verdict, scores=scores, overall=scores.overall, rationale=self.text(rationale), **fields
        )

    def phase_1(self) -> "DebateBuilder":
        blocked = {"synthetic": True, "confidence": 0.0}
        self._evaluated(SEATS[0], self.evaluation(PASS, (38.0, 27.0, 18.0, 9.0), "All steps were taken."))
        self._evaluated(SEATS[1], self.evaluation(FAIL, (20.0, 10.5, 10.0, 0.0), "No verification was made."))
        self._evaluated(SEATS[2], self.evaluation(REVIEW, (20.0, 15.0, 10.0, 5.0), "Blocked by google.", **blocked))
        self._checked(0, ConsensusStatus.SPLIT, 1, None, reached=False)
        return self

    def round_1(self) -> "DebateBuilder":
        self.events.append(RoundStarted(round=1, speaker_order=SEATS, instruction=self.text("Discuss.")))
        moved = self.evaluation(FAIL, (30.0, 20.0, 10.0, 1.0), "The code was never sent.")
        self.add_statement(1, 0, "I overlooked the code; I now fail it.", moved, changed=True)
        self.add_statement(
            1, 1, "I stay with my verdict.", self.evaluation(FAIL, (20.0, 10.0, 10.0, 0.0), "As before.")
        )
        self.events.append(
            JurorAbstained(
                step=f"round-1/{SEATS[2]}",
                juror_id=SEATS[2],
                reason=FailureReason.UNPARSEABLE,
                refusal=RefusalReason.WRONG_BALLOT,
                stale=True,
                exchanges=(),
            )
        )
        self._checked(1, ConsensusStatus.MAJORITY, 2, FAIL, reached=True)
        return self

    def judged(self) -> "DebateBuilder":
        judge = self.evaluation(FAIL, (25.0, 15.0, 10.0, 0.0), "The number was changed unverified.")
        self.events += [
            JudgmentRendered(
                judgment=Judgment(
                    method="final_judge",
                    decided_by=Decider.FINAL_JUDGE,
                    verdict=FAIL,
                    score=50,
                    mean=50.0,
                    votes=(
                        _vote(0, "own", FAIL, 61.0, 1),
                        _vote(1, "own", FAIL, 40.0, 1),
                        _vote(2, "synthetic", REVIEW, 50.0, 0, stale=True),
                    ),
                    quorum=2,
                    quorum_votes=2,
                    capped=False,
                    judge=judge,
                ),
                exchanges=(),
            ),
            DebateCompleted(
                final_verdict=FAIL, final_score=50, total_rounds=1, end_reason="consensus", early_termination=True
            ),
        ]
        return self

    def called(self, model: str, outcome: CallOutcome, usage: Usage, cost: float | None) -> "DebateBuilder":
        self.exchanges.append(
            ExchangeRecorded(
                step=f"initial/{SEATS[0]}",
                juror_id=SEATS[0],
                model=model,
                model_version=None,
                turn=1,
                attempt=len(self.exchanges) + 1,
                request=(),
                tools=False,
                settings=CallSettings(),
                sent=None,
                outcome=outcome,
                answer=None,
                response=None,
                error=None,
                finish_reason=None,
                usage=usage,
                cost=cost,
                latency_ms=1.0,
                request_id=None,
                simulated=True,
            )
        )
        return self

    def erased(self, content: str, *, recorded: bool = True) -> "DebateBuilder":
        ref = self.text(content)
        del self.texts[ref.part]
        if recorded:
            self.events.append(TextsErased(by="ops", reason="asked to", scope="debate", number=1, parts=(ref,)))
        return self

    def _evaluated(self, juror_id: str, evaluation: Evaluation) -> None:
        self.events.append(
            JurorEvaluated(juror_id=juror_id, evaluation=evaluation, peer_text=self.text("shown"), exchanges=())
        )

    def add_statement(
        self, number: int, order: int, text: str, evaluation: Evaluation, *, changed: bool = False
    ) -> None:
        statement = Statement(order=order, statement=self.text(text), evaluation=evaluation, position_changed=changed)
        self.events.append(
            StatementMade(
                round=number, juror_id=SEATS[order], statement=statement, peer_text=self.text("shown"), exchanges=()
            )
        )

    def _checked(
        self, number: int, status: ConsensusStatus, largest: int, position: Verdict | None, *, reached: bool
    ) -> None:
        check = ConsensusCheck(status=status, largest=largest, seats=3, majority_position=position, reached=reached)
        self.events.append(ConsensusChecked(round=number, check=check, end_reason=None))


@cache
def _panel(language: Language) -> Panel:
    names = {"en": "Juror {} ({})", "ja": "陪審員{}（{}）"}
    seats = [
        {"model": "simulated/juror", "juror_id": juror_id, "role_name": names[language].format(letter, juror_id)}
        for letter, juror_id in zip("ABC", SEATS, strict=True)
    ]
    return resolve(read_spec({"name": "three", "language": language, "seats": seats})).panel


def _case(prompt: str) -> Case:
    return Case.model_validate(
        {
            "case_id": "c1",
            "scenarios": (
                {
                    "scenario_id": "scenario-1",
                    "question": {"prompt": prompt, "policy": "Verify first."},
                    "execution": {"response": "Done."},
                },
            ),
        }
    )


def _vote(seat: int, kind: Any, position: Verdict, score: float, number: int, *, stale: bool = False) -> Vote:
    return Vote(
        juror_id=SEATS[seat],
        kind=kind,
        position=position,
        score=score,
        confidence=0.0 if kind == "synthetic" else 0.8,
        weight=1.0,
        round=number,
        stale=stale,
    )
