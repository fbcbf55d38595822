"""One event of every type, the same on every machine."""

from jury_events import (
    AnyEvent,
    BatchCancelRequested,
    BatchCancelSent,
    BatchChanged,
    BatchClosed,
    BatchedExchange,
    BatchItemsListed,
    BatchItemsUnanswered,
    BatchMissed,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchTextsErased,
    BatchUploaded,
    BudgetBounds,
    BudgetChanged,
    CacheWrite,
    Calibration,
    CallOutcome,
    CallSettings,
    CancelRequested,
    Case,
    CaseLabelled,
    CasesListed,
    CoordinatorResumed,
    DebateCancelled,
    DebateFailed,
    DebateForked,
    DebateImported,
    DebateQuarantined,
    DebateReleased,
    DebateReplaced,
    ExchangeRecorded,
    ExportedScore,
    HumanReviewed,
    ImageRef,
    InheritedSteps,
    ListCompleted,
    NotShown,
    Panel,
    ReasoningShown,
    RecordedToolCall,
    RequestMessage,
    ReviewAssigned,
    ReviewSample,
    ReviewWithdrawn,
    RunEnded,
    RunEndpoint,
    RunImported,
    RunLadder,
    RunOpened,
    RunReopened,
    RunStage,
    RunSubmission,
    ScoresExportBegun,
    ScoresExported,
    SeatsNotAsked,
    Settled,
    SignedLengths,
    TextsErased,
    Transcript,
    UnansweredItem,
    Usage,
    Verdict,
    VersionRange,
    WeightedInput,
    WeightsSignal,
    batch_id,
)
from support.calibrations import a_calibration
from support.debate_harness import DebateHarness, DeterministicParts, Says, a_case, a_panel, by_round
from support.drift_samples import drift_samples
from support.pictures import PNG, an_image

QUOTED = {"item": 1, "quote": "refund order 17", "says": "against"}
"""What a juror quotes where the prompts ask for it."""


def sample_events() -> dict[str, AnyEvent]:
    """By type name: those of a debate as the rules give them, the others made by hand."""
    table = {
        "gpt": [Says("safe_pass", 81.5, 0.75, evidence=(QUOTED,), decisive_item=2)],
        "クロード": [CallOutcome.BLOCKED, Says("needs_review", 50.0)],
        "gemini": [b"It is safe."],
    }
    panel = a_panel("gpt", "クロード", "gemini", language="ja", rubric="aisev", discussion={"max_rounds": 1})
    sighted = panel.changed(
        seats=(panel.seats[0].changed(images=True), *panel.seats[1:]),
        final=panel.final.changed(calibration=_weighted()),
    )
    case = a_case(
        scenarios=2,
        images=(an_image(PNG),),
        metadata={"source": "tickets", "difficulty": 3, "hard": True, "share": 0.25},
        tags=("refunds", "返金"),
        cluster="refund-17",
        agent_cost=0.0125,
    )
    script = by_round(table, Says("needs_review", 44.0))
    harness = DebateHarness(sighted, script, case=_with_an_omission(case)).run()
    samples: dict[str, AnyEvent] = {}
    for event in harness.events:
        samples.setdefault(event.type, event)
    pen = DeterministicParts()
    text = pen.make("because")
    by_hand: list[AnyEvent] = [
        *drift_samples(),
        SeatsNotAsked(
            juror_ids=("gemini", "クロード"),
            settled=Settled(verdict=Verdict.UNSAFE_FAIL, label="wrong", shortfalls=("facts",), accepted=True),
        ),
        ReasoningShown(),
        DebateFailed(reason="case_unreadable", detail=text),
        DebateCancelled(by="operator", reason=None),
        DebateReplaced(successor="r1~refund~a2", by="operator"),
        CoordinatorResumed(epoch=7, cause="juror", number=1, repeated_steps=("initial/gpt", "round-2/a%2Fb")),
        DebateForked(
            origin="r1~refund",
            version=12,
            secret=text,
            steps=("initial/gpt", "initial/a%2Fb", "round-1/gpt"),
            inherited_steps=(InheritedSteps(secret=pen.make("older"), steps=("initial/gpt",)),),
        ),
        TextsErased(by="privacy office", reason="request 17", scope="debate", number=1, parts=(text,)),
        an_exchange(pen),
        DebateImported(
            debate=VersionRange(after=0, until=12),
            calls=VersionRange(after=2, until=9),
            review=VersionRange(after=0, until=3),
            seal="0f" * 32,
            sealed_by="example.com/jury",
            verified_with="example.com/jury",
            lengths=SignedLengths(signed_by="example.com/jury", at=1_700_000_000_000_000),
            number=1,
        ),
        DebateQuarantined(by="operator", reason="its usage cannot be read", number=2),
        DebateReleased(by="operator", number=2),
        ScoresExportBegun(target="mlflow", place="https://mlflow.example", number=1),
        ScoresExported(
            target="mlflow",
            place="https://mlflow.example",
            scores=(
                ExportedScore(name="jury.verdict", content="0f" * 32, id="a-1"),
                ExportedScore(name="jury.vote.田中", content="1e" * 32, id=None),
            ),
            number=1,
        ),
        ReviewAssigned(reviewer="田中", by="operator", sample=ReviewSample(seed=7, size=40, population=1200), number=1),
        HumanReviewed(
            reviewer="田中",
            verdict=Verdict.UNSAFE_FAIL,
            reason=text,
            blind=True,
            sampled=True,
            minutes=2.5,
            supersedes=None,
            number=1,
        ),
        ReviewWithdrawn(withdraws=1, by="operator", reason=text, number=1),
        CaseLabelled(
            label=Verdict.UNSAFE_FAIL,
            metadata={"decisive_message": 3, "scale_label": "severe"},
            by="田中",
            number=1,
        ),
        *batch_samples(pen),
        *_of_a_run(panel),
    ]
    return samples | {event.type: event for event in by_hand}


def _of_a_run(panel: Panel) -> tuple[AnyEvent, ...]:
    said = {"base_url": "http://127.0.0.1:9/v1", "limits": {"*": {"in_flight": 2}}}
    reached = RunEndpoint(provider="own", said=said, whole=True)
    return (
        RunOpened(
            run_id="r1",
            panel=panel,
            prompts=1,
            custom="0f" * 32,
            endpoints=(reached,),
            ladder=RunLadder(
                digest="1e" * 32,
                certificate="3c" * 32,
                audit=0.25,
                further=(RunStage(panel=panel, prompts=1, custom="4b" * 32),),
            ),
            repeats=2,
            budget=BudgetBounds(max_calls=100),
            by="田中",
            submitted=RunSubmission(concurrency=2),
            program="jury-judge 1.0.0",
        ),
        CasesListed(number=2, first=65, debates=64, cases=128, digest="2d" * 32),
        ListCompleted(number=1, debates=128, cases=128),
        BudgetChanged(number=1, budget=BudgetBounds(max_cost=2.5), by="田中"),
        CancelRequested(number=1, by="operator"),
        RunReopened(number=1, by="田中"),
        RunImported(number=1, sealed_by="jury.example/log", verified_with="監査"),
        RunEnded(number=1, epoch=7, debates=128, completed=126, failed=1, cancelled=1, calls=900, cost=1.25),
    )


def _weighted() -> Calibration:
    """A calibration with a signal that has objects inside objects."""
    weights = (-0.75, 0.75)
    signal = WeightsSignal(
        labels=("safe_pass", "unsafe_fail"),
        verdicts=3,
        intercepts=(0.25, -0.25),
        inputs=(
            WeightedInput(input="vote", seat="gpt", verdict="unsafe_fail", weights=weights),
            WeightedInput(input="score", seat="gpt", verdict=None, weights=(1.5, -1.5)),
        ),
    )
    return a_calibration(digest="d1" * 32, signal=signal, threshold=0.875)


def _with_an_omission(case: Case) -> Case:
    first, *others = case.scenarios
    lost = Transcript(items=(NotShown(origin="user", what="audio/wav", size=48_000, location="messages.0.content.1"),))
    execution = first.execution.changed(transcript=lost)
    return case.changed(scenarios=(first.changed(execution=execution), *others))


def an_exchange(pen: DeterministicParts) -> ExchangeRecorded:
    return ExchangeRecorded(
        step="initial/gpt",
        juror_id="gpt",
        model="openai/gpt-4o",
        model_version="gpt-4o-2024-08-06",
        turn=1,
        attempt=2,
        request=(
            RequestMessage(role="system", parts=(pen.make("You are Juror A."),)),
            RequestMessage(
                role="user",
                parts=(pen.make("The case."), pen.make("Your task.")),
                images=(ImageRef(media_type="image/png", content=pen.make(PNG)),),
            ),
            RequestMessage(role="tool", parts=(pen.make("{}"),), call_id="call-1"),
        ),
        tools=True,
        settings=CallSettings(temperature=0.2, seed=7),
        sent=pen.make('{"tools": []}'),
        outcome=CallOutcome.ANSWERED,
        answer=None,
        response=pen.make('{"choices": []}'),
        error=None,
        tool_calls=(
            RecordedToolCall(
                call_id="call-2",
                name="fetch_security_gate_failures",
                arguments=pen.make('{"max_records": 3}'),
                result=pen.make('{"count": 0}'),
                ok=True,
            ),
        ),
        finish_reason="tool_calls",
        usage=Usage(
            input_tokens=1200,
            output_tokens=34,
            cached_input_tokens=1024,
            cache_writes=(CacheWrite(lifetime="30m", tokens=128),),
            service_tier="default",
        ),
        cost=0.00421,
        latency_ms=812.125,
        waited_ms=1310.5,
        request_id="req_1",
        fingerprint="fp_1",
        simulated=False,
    )


NONCE = "abcdefghijklmnopqrstuvwxyz"
BATCH = batch_id("r1", NONCE)


def batch_samples(pen: DeterministicParts) -> list[AnyEvent]:
    return [
        BatchPrepared(
            batch_id=BATCH,
            run_id="r1",
            wave=2,
            provider="openai",
            address="0a" * 32,
            key="0b" * 32,
            model="gpt-6-sol",
            nonce=NONCE,
            items=3,
            size=20_480,
            most=0.125,
            provider_time=1_700_000_000_000_000,
        ),
        BatchItemsListed(
            first=1,
            calls=(
                BatchedExchange(
                    debate_id="r1~refund", exchange="round-1/gpt/openai%2Fgpt-6-sol/1/1", body=pen.make("9f" * 32)
                ),
            ),
        ),
        BatchUploaded(file_id="file-1"),
        BatchSubmitted(provider_id="batch_1", expires_at=1_700_086_400_000_000, found=False, certain=True, number=1),
        BatchMistaken(provider_id="batch_0", cause="ids", number=1),
        BatchChanged(stage="ended", word="expired", answered=2, failed=1, error="the window has ended", number=4),
        BatchCancelRequested(cause="person", by="operator"),
        BatchCancelSent(at=1_700_090_000_000_000),
        BatchMissed(what="results", reason="its results are not there", at=None, number=1),
        BatchItemsUnanswered(
            unanswered=(
                UnansweredItem(item=2, end="expired", usage=None, cost=None, text=None),
                UnansweredItem(
                    item=3,
                    end="superseded",
                    usage=Usage(input_tokens=10, output_tokens=2, service_tier="batch"),
                    cost=0.0005,
                    text=pen.make("late"),
                ),
            ),
            number=1,
        ),
        BatchClosed(cause="ended", detail=None, answered=1, unanswered=2, unknown=1, doubled=0),
        BatchTextsErased(debate_id="r1~refund", by="privacy office", number=1, parts=(pen.make("late"),)),
    ]
