"""One event of each type of a stream `drift/{id}`."""

from jury_events import (
    Anchor,
    AnyEvent,
    ChangedAnchor,
    ChangedFact,
    CheckAbandoned,
    CheckEnded,
    CheckOpened,
    CoinFigures,
    DrawsJudged,
    DrawsPlanned,
    DriftDecision,
    DriftImported,
    DriftOpened,
    DriftPair,
    DriftSeat,
    SeatAnswers,
    StreamPair,
    Verdict,
    WatchedFigures,
)


def drift_samples() -> list[AnyEvent]:
    answered = (
        SeatAnswers(juror_id="gpt", versions=("gpt-6-sol-2026-08-01",), fingerprints=("fp_1",)),
        SeatAnswers(versions=("judge-1",)),
    )
    decision = DriftDecision(
        verdict="judge",
        facts=(
            ChangedFact(juror_id="gpt", what="model", before=("gpt-6-sol-2026-08-01",), now=("gpt-6-sol-2026-11-01",)),
            ChangedFact(what="fingerprint", before=("fp_2",), now=("fp_3",)),
        ),
        watched=(
            WatchedFigures(
                name="jury",
                e=22.5,
                bound=20.0,
                alarm=1,
                since=1,
                kinds=("stricter",),
                coins=(CoinFigures(coin="direction", e=40.25, n=9, k=9), CoinFigures(coin="silence", e=1.0, n=0, k=0)),
            ),
            WatchedFigures(name="stream", e=1.0, bound=20.0, coins=()),
        ),
        anchors=(ChangedAnchor(case_id="refund-17", before="p", now="f"),),
    )
    return [
        DriftOpened(
            drift_id="weekly",
            run_id="weekly.draws",
            panel="0a" * 32,
            panel_name="current",
            seats=(DriftSeat(juror_id="gpt", model="openai/gpt-6-sol"),),
            judge="openai/gpt-6-sol",
            anchors=(
                Anchor(case_id="refund-17", label=Verdict.SAFE_PASS),
                Anchor(case_id="返金", label=Verdict.UNSAFE_FAIL),
            ),
            draws=10,
            used=2,
            tossed="pair",
            alpha=0.05,
            daily=True,
            stream="nightly",
            stratum="metadata.intent",
            by="operator",
            program="1.0.0",
        ),
        DrawsPlanned(number=1, draws=20, by="operator"),
        DrawsJudged(number=1, votes=("pp", "f-"), answered=answered),
        CheckOpened(
            number=1,
            run_id="weekly.check-1",
            pairs=(DriftPair(anchor=0, first=0, used=2), DriftPair(anchor=1, first=0, used=1)),
            repeats=2,
            stream="nightly-2",
            stream_pairs=(StreamPair(debate="nightly-2~a", base="nightly~a"),),
        ),
        CheckEnded(
            number=1,
            votes=("ff", "fp"),
            further=("fp", "ff"),
            stream_votes=("pf",),
            answered=answered,
            decision=decision,
        ),
        CheckAbandoned(number=2, cancelled=3),
        DriftImported(number=1, sealed_by="example.com/jury", verified_with="example.com/jury"),
    ]
