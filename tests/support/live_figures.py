"""A run whose live figures are worked out by hand, and a process that seems to execute it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from jury_actors import RuntimeLoad
from jury_events import CallOutcome, Usage
from jury_judge import LiveRun, LiveRunReader, ProcessFigures, StatusFile
from jury_store import EventStore
from support.debate_builder import DebateBuilder
from support.pages import START, keep
from support.run_lists import complete_list

SECOND = 1_000_000
NO_ANSWER = Usage()


def a_run(store: EventStore) -> None:
    """Three of four cases: one is judged, with an abstention; one was just opened; one is in round 1, with another.

    Calls, numbered as attempts 1, 2 and 3: openai answers in 1 ms, then gives no answer in 3 s; google answers in 2 s.
    """
    judged = DebateBuilder().phase_1().round_1().judged()
    judged.called("openai/m", CallOutcome.ANSWERED, Usage(input_tokens=10, output_tokens=1), 0.25)
    judged.called("openai/m", CallOutcome.TIMEOUT, NO_ANSWER, None)
    judged.called("google/m", CallOutcome.ANSWERED, Usage(input_tokens=20, output_tokens=2), 0.5)
    for number, milliseconds in ((1, 3000.0), (2, 2000.0)):
        judged.exchanges[number] = judged.exchanges[number].model_copy(update={"latency_ms": milliseconds})
    keep(store, judged.opened_as(debate_id="r~one", run_id="r", case_id="one"))
    keep(store, DebateBuilder().opened_as(debate_id="r~two", run_id="r", case_id="two"))
    keep(store, DebateBuilder().phase_1().round_1().opened_as(debate_id="r~three", run_id="r", case_id="three"))
    keep(store, DebateBuilder().phase_1().opened_as(debate_id="other~one", run_id="other", case_id="one"))
    complete_list(store, "r", 4)


def figures(store: EventStore, seconds: float, url: str | None = None) -> LiveRun:
    """The figures so many seconds after the first event."""
    with closing(LiveRunReader(store, url, "r", clock=lambda: START + int(seconds * SECOND))) as reader:
        return reader.read()


@contextmanager
def executed(url: str, load: RuntimeLoad | None) -> Iterator[None]:
    """This process says that it executes the run, since its beginning."""
    file = StatusFile.take(url, "r", began=START, detached=False)
    assert file is not None
    try:
        if load is not None:
            file.write(ProcessFigures.of(load, START))
        yield
    finally:
        file.release()
