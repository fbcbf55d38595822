"""Finished debates for reviews, in any store."""

from jury_events import NewEvent, Verdict
from jury_store import Append, Appended, EventStore
from support.debates import DebateScript


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
    ended = (script.judged(verdict), script.completed(verdict))
    ends = tuple(one._replace(recorded_at=1_700_000_000_000_000 + seed) for one in ended)
    _append(store, script, *events, *ends)
    return script


def _append(store: EventStore, script: DebateScript, *events: NewEvent) -> None:
    (answer,) = store.append([Append(script.stream, events, 0, store.next_epoch())])
    assert isinstance(answer, Appended)
