"""Sends the trace of each debate once it is over, read from the log: nothing of it is in the way of debates."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from jury_actors.messages import Finished
from jury_actors.notices import Notice
from jury_actors.runtime import Runtime
from jury_events.errors import JuryError
from jury_events.ids import calls_stream, debate_stream
from jury_events.text import pluralize
from jury_judge.extras import check_traces
from jury_judge.store_access.stores import Say
from jury_store.event_store import EventStore
from jury_store.opening import open_store

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from jury_judge.telemetry.otlp_spans import SpanTree

_AT_ONCE = 32
"""Debates in one request."""

AT_END_SECONDS = 10.0
"""How long the end of a runtime waits for what is still to be sent."""


class TraceExport:
    """Traces of the debates that end in a runtime.

    Args:
        say: takes a line when traces cannot be sent, once, and how many were not at the end.
        exporter: makes what takes the spans; None: as the standard variables of OpenTelemetry say.
    """

    def __init__(self, store_url: str, say: Say, exporter: "Callable[[], SpanExporter] | None" = None) -> None:
        check_traces("--otel")
        from jury_judge.telemetry.otlp_spans import exporter_of  # noqa: PLC0415  (of an extra, and slow to load)

        self._store_url = store_url
        self._say = say
        self._make_exporter = exporter or exporter_of(os.environ)

    def around(
        self, open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]]
    ) -> Callable[[], AbstractAsyncContextManager[Runtime]]:
        """The same runtime; traces are sent while it is open, and for a bounded time before it closes."""
        if self._make_exporter is None:
            return open_runtime
        make = self._make_exporter

        @asynccontextmanager
        async def traced() -> AsyncIterator[Runtime]:
            async with open_runtime() as runtime:
                sending = _Sending(self._store_url, make, self._say)
                runtime.on_finished = sending.take
                try:
                    yield runtime
                finally:
                    await asyncio.to_thread(sending.close)

        return traced


class _Sending:
    """A thread that sends; the debates that wait are ids only, so there is no bound."""

    def __init__(self, store_url: str, make_exporter: "Callable[[], SpanExporter]", say: Say) -> None:
        self._store_url = store_url
        self._make_exporter = make_exporter
        self._say = say
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._taken = self._sent = 0
        self._failed = self._ending = False
        self._thread = Thread(target=self._work, name="jury-traces", daemon=True)
        self._thread.start()

    def take(self, finished: Finished) -> None:
        """A debate is over, or stopped unfinished: such a one is sent when it is over."""
        if finished.problem is None:
            self._taken += 1
            self._waiting.put(finished.debate_id)

    def close(self) -> None:
        """Send what waits, for a bounded time."""
        self._waiting.put(None)
        self._thread.join(AT_END_SECONDS)
        self._ending = True
        if (left := self._taken - self._sent) > 0:
            self._say(Notice(f"the traces of {pluralize(left, 'debate')} were not sent", "traces_lost", debates=left))

    def _work(self) -> None:
        from jury_judge.telemetry.otlp_spans import SpanSender  # noqa: PLC0415  (of an extra, and slow to load)

        sender = SpanSender(self._make_exporter())
        store: EventStore | None = None
        try:
            while (debates := self._next()) and not self._ending:
                try:
                    store = store or open_store(self._store_url, write=False)
                    trees = [tree for debate in debates if (tree := _tree(store, debate)) is not None]
                    if sender.send(trees):
                        self._sent += len(debates)
                    else:
                        self._fail("the collector did not take them")
                except JuryError as error:
                    self._fail(str(error))
                except Exception as error:  # noqa: BLE001  (a trace that cannot be made must not stop the debates)
                    self._fail(type(error).__name__)
        finally:
            sender.close()
            if store is not None:
                store.close()

    def _next(self) -> list[str]:
        """The debates that wait; empty at the end."""
        first = self._waiting.get()
        if first is None:
            return []
        found = [first]
        while len(found) < _AT_ONCE:
            try:
                one = self._waiting.get_nowait()
            except Empty:
                break
            if one is None:
                self._waiting.put(None)
                break
            found.append(one)
        return found

    def _fail(self, reason: str) -> None:
        if not self._failed:
            self._failed = True
            self._say(Notice(f"traces are not sent ({reason}); the debates go on", "traces_failed", reason=reason))


def _tree(store: EventStore, debate_id: str) -> "SpanTree | None":
    from jury_judge.telemetry.otlp_spans import span_tree  # noqa: PLC0415  (of an extra, and slow to load)

    debate, calls = debate_stream(debate_id), calls_stream(debate_id)
    found = store.read_streams([debate, calls])
    return span_tree(found.get(debate, ()), found.get(calls, ()))
