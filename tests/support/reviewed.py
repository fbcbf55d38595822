"""Finished debates for reviews, in any store."""

from jury_events import DebateCompleted, Decider, Judgment, JudgmentRendered, NewEvent, Verdict, Vote, encode
from jury_store import Append, Appended, EventStore
from support.debates import JUROR, DebateScript


def judged_debate(
    store: EventStore,
    debate_id: str = "d",
    verdict: Verdict = Verdict.NEEDS_REVIEW,
    *,
    seed: int = 1,
    evaluated: bool = True,
    text: str | None = None,
    **opening: object,
) -> DebateScript:
    """A debate that ended with a verdict, stored; one whose seat evaluated nothing has all disagreement.

    `text`: of the case; None: one that names the debate.
    """
    script = DebateScript(debate_id, seed=seed)
    opened = script.opened(f"the case of {debate_id}" if text is None else text, **opening)
    events = (opened, script.evaluated(), script.checked()) if evaluated else (opened,)
    ends = tuple(encode(one, recorded_at=1_700_000_000_000_000 + seed) for one in _ending(verdict))
    _append(store, script, *events, *ends)
    return script


def _ending(verdict: Verdict) -> tuple[JudgmentRendered, DebateCompleted]:
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
    completed = DebateCompleted(
        final_verdict=verdict, final_score=20, total_rounds=0, end_reason="consensus", early_termination=True
    )
    return JudgmentRendered(judgment=judgment, exchanges=()), completed


def _append(store: EventStore, script: DebateScript, *events: NewEvent) -> None:
    (answer,) = store.append([Append(script.stream, events, 0, store.next_epoch())])
    assert isinstance(answer, Appended)
