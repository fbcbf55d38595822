"""Scores of debates written onto the traces that they judged, and the tools that take them.

Sources: Langfuse, `POST /api/public/scores` with a list of scores as SDK 5 sends it, answered with 202, or 207 if some
were refused ("To update an existing score, send it again with the same id and timestamp"); MLflow's own package, which
is no dependency of this one.
"""

import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from jury_cases.containers.langfuse_traces import LangfuseApi, LangfuseRefused
from jury_events.codec import encode
from jury_events.errors import DebateNotFound, EventError
from jury_events.ids import local_stream
from jury_events.local_events import ExportedScore, ScoresExportBegun, ScoresExported, ScoreTargetName
from jury_events.local_facts import LocalFacts
from jury_events.scrubbing import known_scrubber
from jury_events.text import moment, visible_line
from jury_judge.extras import check_package, check_traces
from jury_judge.scores.debate_scores import DebateScore, JudgedTrace, ScoresRefused, ScoreTarget, judged_trace, place_of
from jury_judge.store_access.debates import must_exist
from jury_judge.store_access.stores import WRITER_WAIT, Say, open_writer, shown_url
from jury_replay.intact import intact_history
from jury_replay.selection import DebateSelection
from jury_store.errors import StoreError, StoreLocked
from jury_store.event_store import Append, EventStore
from jury_store.opening import database_path, parse_store_url
from jury_store.run_registry import RunLock
from jury_store.sqlite import SqliteLock

_ACCEPTED, _IN_PART = 202, 207
_SHOWN = 300
"""Characters of a refusal."""


class LangfuseScores:
    """Writes scores onto the observation that a case names, else onto its trace."""

    name: ScoreTargetName = "langfuse"
    repeats = False

    def __init__(self, api: LangfuseApi) -> None:
        self._api = api
        self.place = place_of(api.base_url)

    def refusal(self, trace: JudgedTrace) -> None:
        """Its traces have ids of any form."""

    def write(
        self,
        trace: JudgedTrace,
        scores: Sequence[DebateScore],
        before: Mapping[str, ExportedScore],  # noqa: ARG002  (the ids follow from the debate)
    ) -> Mapping[str, str | None]:
        """See `ScoreTarget`; a correction has the same ids and times, by which Langfuse knows that it is one."""
        bodies = [_body(trace, one) for one in scores]
        try:
            status, answer = self._api.post("/api/public/scores", bodies)
        except LangfuseRefused as error:
            raise ScoresRefused(f"debate {trace.debate_id}: {error}") from error
        if status != _ACCEPTED and (status != _IN_PART or answer.get("rejected") != 0):
            said = visible_line(self._api.quoted(json.dumps(answer.get("errors") or answer)), _SHOWN)
            raise ScoresRefused(
                f"debate {trace.debate_id}: Langfuse at {self.place} refused scores: status {status}, {said}"
            )
        return {body["name"]: body["id"] for body in bodies}

    def close(self) -> None:
        """Each request has a connection of its own."""


def _body(trace: JudgedTrace, score: DebateScore) -> dict[str, Any]:
    """A score as SDK 5 sends it."""
    named = f"{trace.debate_id}\n{trace.trace_id}\n{score.name}"
    body = {
        "id": f"jury-{sha256(named.encode()).hexdigest()[:32]}",
        "timestamp": moment(trace.opened_at, "milliseconds"),
        "traceId": trace.trace_id,
        "observationId": trace.observation_id,
        "name": score.name,
        "value": score.value,
        "dataType": "CATEGORICAL" if isinstance(score.value, str) else "NUMERIC",
        "comment": score.explanation or None,
        "metadata": trace.facts,
    }
    return {name: value for name, value in body.items() if value is not None}


class MlflowScores:
    """Writes feedback onto traces of the tracking server; a correction overrides the feedback that it corrects."""

    name: ScoreTargetName = "mlflow"
    repeats = True

    def __init__(self) -> None:
        import mlflow  # noqa: PLC0415  (of who has it)

        self.place = place_of(mlflow.get_tracking_uri())

    def refusal(self, trace: JudgedTrace) -> None:
        """Its traces have ids of any form."""

    def write(
        self, trace: JudgedTrace, scores: Sequence[DebateScore], before: Mapping[str, ExportedScore]
    ) -> Mapping[str, str | None]:
        """See `ScoreTarget`."""
        import mlflow  # noqa: PLC0415  (of who has it)
        from mlflow.entities import AssessmentSource, AssessmentSourceType  # noqa: PLC0415

        ids: dict[str, str | None] = {}
        for one in scores:
            source = AssessmentSource(AssessmentSourceType.LLM_JUDGE, one.seat or trace.debate_id)
            if trace.reviewed and one.seat is None:
                source = AssessmentSource(AssessmentSourceType.HUMAN, trace.debate_id)
            rationale, facts = one.explanation or None, {name: str(value) for name, value in trace.facts.items()}
            old = before.get(one.name)
            try:
                if old is not None and old.id is not None:
                    written = mlflow.override_feedback(
                        trace_id=trace.trace_id,
                        assessment_id=old.id,
                        value=one.value,
                        rationale=rationale,
                        source=source,
                        metadata=facts,
                    )
                else:
                    written = mlflow.log_feedback(
                        trace_id=trace.trace_id,
                        name=one.name,
                        value=one.value,
                        source=source,
                        rationale=rationale,
                        metadata=facts,
                    )
            except Exception as error:  # an answer that is none of MLflow's has the errors of its parser
                said = visible_line(known_scrubber().text(f"{type(error).__name__}: {error}"), _SHOWN)
                raise ScoresRefused(f"debate {trace.debate_id}: MLflow at {self.place} refused it: {said}") from error
            if not written.assessment_id:
                raise ScoresRefused(f"debate {trace.debate_id}: MLflow at {self.place} named no id of its feedback")
            ids[one.name] = written.assessment_id
        return ids

    def close(self) -> None:
        """MLflow keeps its connections itself, for the whole process."""


def score_target(name: ScoreTargetName, environ: Mapping[str, str]) -> ScoreTarget:
    """The tool of that name.

    Args:
        environ: the environment's variables: `LANGFUSE_…`, `MLFLOW_TRACKING_URI`, `OTEL_EXPORTER_OTLP_…`.
    """
    if name == "langfuse":
        return LangfuseScores(LangfuseApi.of(environ))
    if name == "mlflow":
        check_package("export --to mlflow", "mlflow")  # no extra: it would bind the versions of much else
        return MlflowScores()
    check_traces("export --to otel")
    from jury_judge.scores.otel_scores import OtelScores  # noqa: PLC0415  (of an extra)

    return OtelScores(environ)


_LOCK_NAME = "jury export --to"
"""No run has such an id."""


# It is another lock than that of the store's writer, which others may have meanwhile: without it a second export would
# take a debate that is being written for one whose process has died, and write it again.
def export_lock(url: str, *, wait: float) -> RunLock | SqliteLock:
    """The lock of the exports of a store, until it is released.

    Args:
        wait: seconds to wait for another process.
    """
    try:
        return _taken(url, wait)
    except StoreLocked:
        raise StoreLocked(
            f"another process exports scores of {shown_url(url)}; repeat the command when it has ended"
        ) from None


def _taken(url: str, wait: float) -> RunLock | SqliteLock:
    parsed = parse_store_url(url)
    if parsed.get_backend_name() == "sqlite":
        database = database_path(parsed)
        return SqliteLock.acquire(database.with_name(f"{database.name}.export"), run=_LOCK_NAME, wait=wait)
    lock = RunLock.acquire(url, _LOCK_NAME, wait=wait)
    assert lock is not None, "it is the store of a server"
    return lock


RECORD_WAIT = 3600.0
"""Seconds to wait for another process that writes to a SQLite store once a tool has taken scores."""

_NAME = "export"
"""In the lock of the store."""

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
    store: EventStore, selection: DebateSelection, target: ScoreTarget, url: str, *, dry_run: bool, say: Say
) -> Generator[ExportedScores, None, None]:
    """Write what a tool does not have of these debates, one after the other, and close the tool's connections.

    Other processes may write to the store meanwhile: a writer is open only while an event is appended.
    """
    with ExitStack() as stack:
        stack.callback(target.close)
        must_exist(store, selection)
        if not dry_run:
            stack.callback(export_lock(url, wait=WRITER_WAIT).release)
            # A store that cannot be written is refused before a tool gets anything.
            open_writer(url, run=_NAME, wait=WRITER_WAIT, say=say).close()
        for chunk in selection.chunks(store):
            for name in chunk:
                yield _exported(store, name, target, None if dry_run else _LocalStream(url, name, say))


def _exported(store: EventStore, name: str, target: ScoreTarget, stream: "_LocalStream | None") -> ExportedScores:
    try:
        history = intact_history(store, name)
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
    lost = local.unrecorded_at(target.name, target.place) is not None
    if stream is not None:
        _write(stream, target, trace, new, local)
    return ExportedScores(name, "corrected" if there else "written", trace.trace_id, new, repeated=lost)


def _write(
    stream: "_LocalStream", target: ScoreTarget, trace: JudgedTrace, new: Sequence[DebateScore], local: LocalFacts
) -> None:
    at: dict[str, Any] = {"target": target.name, "place": target.place}
    number = local.unrecorded_at(**at)
    if target.repeats and number is None:
        number = stream.add(ScoresExportBegun, wait=WRITER_WAIT, **at)
    ids = target.write(trace, new, local.scores_at(**at))
    written = tuple(ExportedScore(name=one.name, content=one.content, id=ids.get(one.name)) for one in new)
    stream.add(ScoresExported, number, wait=RECORD_WAIT, **at, scores=written)


class _LocalStream:
    """The stream of a debate, which is written while an event is appended, and free for other processes between."""

    def __init__(self, url: str, debate_id: str, say: Say) -> None:
        self._url, self._debate_id, self._say = url, debate_id, say

    def add(
        self, kind: type[ScoresExportBegun | ScoresExported], number: int | None = None, *, wait: float, **fields: Any
    ) -> int:
        """Append an event of the export with that number, None: of the next one; returns the number."""
        with closing(open_writer(self._url, run=_NAME, wait=wait, say=self._say)) as writer:
            history = writer.history(self._debate_id)
            number = history.local.next_export if number is None else number
            event = encode(kind(number=number, **fields), recorded_at=time.time_ns() // 1000)
            stream = local_stream(self._debate_id)
            (answer,) = writer.append([Append(stream, (event,), len(history.stored_local))])
            if isinstance(answer, StoreError):
                raise answer
            return number
