"""Debates as they are recorded: histories, results, live events. What is not always needed is imported when used."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_events.errors import DebateNotFound
from jury_events.ids import is_debate_id, is_run_id
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_judge.records.open_store import OpenStore, Where, check_debate_id, conditions_of
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_views.live_events import LiveEvent
    from jury_views.result_models import DebateResult

_PAGE = 1000
_IS_A_RUN = (
    "'{name}' is a run, not a debate: `jury list --run {name}` lists its debates, `jury watch {name}` shows its figures"
)


class NamedDebate(NamedTuple):
    """The id of a debate, and how many other debates its case has where it was named by the case."""

    debate_id: str
    others: int = 0


class ReadRecords(OpenStore):
    """Reading of debates."""

    async def events(
        self, debate_id: str, after: str | None = None, *, follow: bool = True
    ) -> "AsyncGenerator[LiveEvent, None]":
        """The live events of a debate: those so far, then each as it happens, to its end. Any process may run it.

        Args:
            debate_id: of the debate; waits for one that is not opened yet.
            after: the id of the last event that was received.
            follow: wait for more; else yield those so far.

        Raises:
            BadPoint: `after` is not the id of a live event.
            TooManyReaders: too many follow debates already.
        """
        from jury_views.live_events import LIVE_EVENTS, START, parse_point

        check_debate_id(debate_id)
        point = START if after is None else parse_point(after)
        async with self.feed.follow(debate_id, LIVE_EVENTS, point) as reader:
            if not follow:
                for one in await reader.so_far():
                    yield one
                return
            async for one in reader:
                yield one

    async def named(self, name: str) -> "NamedDebate":
        """The debate that a person means: by its id, else the newest one of the case of that id."""
        return await self._read(_named, name)

    async def read(self, debate_id: str) -> "DebateHistory":
        """The recorded history of a debate: its events, model calls and texts, checked against their hashes."""
        check_debate_id(debate_id)
        return await self._read(_checked_history, debate_id)

    async def history(self, debate_id: str) -> "DebateHistory":
        """The same as it is stored, altered or not: `integrity_states` says whether it was.

        What does not decode raises an error when it is used, and the rest can be read.
        """
        check_debate_id(debate_id)
        return await self._read(_history, debate_id)

    async def result(self, debate_id: str) -> "DebateResult":
        """The result of a debate, so far if it is not over."""
        check_debate_id(debate_id)
        return await self._read(_result, debate_id)

    async def item_messages(self, debate_id: str) -> dict[int, int]:
        """The number of the message in the source, from 0, by the number of each item that comes from one.

        Of several scenarios, messages are numbered through all of them. Empty where the case was erased or has no
        messages, or there is no such debate.
        """
        check_debate_id(debate_id)
        return await self._read(_item_messages, debate_id)

    async def debates(
        self, *, run_id: str | None = None, where: Where = (), unfinished: bool = False
    ) -> AsyncGenerator[DebateRow, None]:
        """One row a debate, in the order in which they opened; read page by page.

        Args:
            where: conditions on the cases and the evidence (docs/filtering.md), as `"tags~refund"` or
                `"evidence=not_found"`; all must be met.
            unfinished: only those that are not completed, failed or cancelled.
        """
        conditions = conditions_of(where, recorded=True)
        after = 0
        while rows := await self._read(
            _page, run_id=run_id, unfinished=unfinished, where=conditions, limit=_PAGE, after=after
        ):
            for row in rows:
                yield row
            after = rows[-1].position


def _named(store: EventStore, name: str) -> NamedDebate:
    if is_debate_id(name) and store.debate(name) is not None:
        return NamedDebate(name)
    like = [] if not name.strip() else store.list_debates(DebateFilter(search=name, counted=None), NEWEST, limit=_PAGE)
    of_case = [row for row in like if row.case_id == name]
    if of_case:
        chosen = next((row for row in of_case if row.aside is None), of_case[0])
        return NamedDebate(chosen.debate_id, len(of_case) - 1)
    if is_run_id(name) and store.run(name) is not None:
        raise DebateNotFound(_IS_A_RUN.format(name=name))
    newest = like or store.list_debates(DebateFilter(counted=None), NEWEST, limit=_PAGE)
    ids = [word for row in newest for word in (row.debate_id, row.case_id)]
    hint = did_you_mean(name, ids)
    if not hint and like:
        hint = f" (did you mean {like[0].debate_id}?)"
    shown = visible_line(repr(name), 200)
    raise DebateNotFound(f"there is no debate or case {shown} in this store{hint}; `jury list` lists the debates")


def _item_messages(store: EventStore, debate_id: str) -> dict[int, int]:
    from jury_judge.stores.case_messages import CaseMessages
    from jury_replay.intact import intact_histories

    intact_histories(store, [debate_id])
    cases = CaseMessages(store)
    found = cases.of(cases.opened([debate_id])).get(debate_id)
    if found is None:
        return {}
    named = ((number, found.named(number)) for number in range(1, found.items + 1))
    return {number: message for number, message in named if message is not None}


def _page(store: EventStore, /, **asked: Any) -> list[DebateRow]:
    return store.debates(**asked)


def _checked_history(store: EventStore, debate_id: str) -> "DebateHistory":
    from jury_replay.intact import intact_history

    with _or_a_run(store, debate_id):
        return intact_history(store, debate_id)


def _history(store: EventStore, debate_id: str) -> "DebateHistory":
    with _or_a_run(store, debate_id):
        return store.history(debate_id)


@contextmanager
def _or_a_run(store: EventStore, name: str) -> Iterator[None]:
    """Say of a missing debate that a run has this name, where one has."""
    try:
        yield
    except DebateNotFound as error:
        if not is_run_id(name) or store.run(name) is None:
            raise
        raise DebateNotFound(_IS_A_RUN.format(name=name)) from error


def _result(store: EventStore, debate_id: str) -> "DebateResult":
    from jury_replay.intact import intact_history
    from jury_views.debate_results import result_of

    return result_of(intact_history(store, debate_id))
