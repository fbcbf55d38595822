"""Scores written to a tool, each once: what was written stands in the stream `local/{id}` of its debate."""

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from typing import Literal, NamedTuple

from jury_events.codec import LocalEvent, encode
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError
from jury_events.ids import local_stream
from jury_events.local_events import ExportedScore, ScoresExportBegun, ScoresExported
from jury_events.local_facts import LocalFacts
from jury_judge.scores.debate_scores import DebateScore, JudgedTrace, judged_trace
from jury_judge.scores.score_target import ScoreTarget
from jury_judge.stores.debates import must_exist
from jury_judge.stores.writers import lend_writer
from jury_replay.selection import DebateSelection
from jury_store.errors import StoreError
from jury_store.event_store import Append, EventStore

WRITER_WAIT = 20.0
"""Seconds to wait for another process that writes to a SQLite store."""

ExportStatus = Literal["written", "corrected", "unchanged", "left_out", "unreadable"]


class ExportedScores(NamedTuple):
    """What was done with one debate; of a dry run, what would be.

    Attributes:
        debate_id: of the debate.
        status: `corrected`: the tool had other scores of it.
        trace_id: where they stand; None: there is no trace.
        scores: those that were written, with their values.
        detail: why it is left out or unreadable.
        repeated: an earlier call ended before it could record what it wrote: these scores may stand there twice.
    """

    debate_id: str
    status: ExportStatus
    trace_id: str | None = None
    scores: tuple[DebateScore, ...] = ()
    detail: str | None = None
    repeated: bool = False


def export_scores(
    store: EventStore, selection: DebateSelection, target: ScoreTarget, url: str, *, dry_run: bool
) -> Generator[ExportedScores, None, None]:
    """Write what a tool does not have of these debates, one after the other.

    Raises:
        DebateNotFound: no debate has that id, is of that run, or meets the conditions.
        ScoresRefused: the tool did not take the scores of a debate; those before it are recorded.
        StoreError: the store cannot be read or written.
    """
    must_exist(store, selection)
    with ExitStack() as stack:
        writer = None
        if not dry_run:
            writer = stack.enter_context(closing(lend_writer(url, run="export", wait=WRITER_WAIT)))
        for chunk in selection.chunks(store):
            for history in (writer or store).histories(chunk):
                yield _exported(history, target, writer)


def _exported(history: DebateHistory, target: ScoreTarget, writer: EventStore | None) -> ExportedScores:
    name = history.debate_id
    try:
        trace, local = judged_trace(history), history.local
    except (DebateNotFound, EventError) as error:
        return ExportedScores(name, "unreadable", detail=str(error))
    why = trace if isinstance(trace, str) else target.refusal(trace)
    if isinstance(trace, str) or why is not None:
        return ExportedScores(name, "left_out", detail=why)
    there = local.scores_at(target.name, target.place)
    new = tuple(one for one in trace.scores if one.name not in there or there[one.name].content != one.content)
    if not new:
        return ExportedScores(name, "unchanged", trace.trace_id)
    lost = any((one.target, one.place) == (target.name, target.place) for one in local.unrecorded)
    if writer is not None:
        _write(_LocalStream(writer, history), target, trace, new, local)
    return ExportedScores(name, "corrected" if there else "written", trace.trace_id, new, repeated=lost)


def _write(
    stream: "_LocalStream", target: ScoreTarget, trace: JudgedTrace, new: Sequence[DebateScore], local: LocalFacts
) -> None:
    number = local.next_export
    if target.repeats:
        begun = next((one for one in local.unrecorded if (one.target, one.place) == (target.name, target.place)), None)
        if begun is None:
            stream.add(ScoresExportBegun(target=target.name, place=target.place, number=number))
        else:
            number = begun.number
    ids = target.write(trace, new, local.scores_at(target.name, target.place))
    written = tuple(ExportedScore(name=one.name, content=one.content, id=ids.get(one.name)) for one in new)
    stream.add(ScoresExported(target=target.name, place=target.place, scores=written, number=number))


class _LocalStream:
    """Appends to the stream of a debate as it was read: refused where another process wrote to it meanwhile."""

    def __init__(self, writer: EventStore, history: DebateHistory) -> None:
        self._writer, self._debate_id = writer, history.debate_id
        self._version = len(history.stored_local)

    def add(self, event: LocalEvent) -> None:
        """Append an event.

        Raises:
            StoreError: it was refused.
        """
        now = time.time_ns() // 1000
        append = Append(local_stream(self._debate_id), (encode(event, recorded_at=now),), self._version)
        (answer,) = self._writer.append([append])
        if isinstance(answer, StoreError):
            raise answer
        self._version += 1
