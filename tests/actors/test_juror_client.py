"""The coordinator's end of a juror: what travels, and what happens when the juror's process dies."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from jury_actors.backoff import Backoff
from jury_actors.juror_client import JurorClient
from jury_actors.mailbox import PROBE, Delivery, IncarnationLost
from jury_actors.messages import ForgetDebate, StepRequest, StepResult
from support.jurors import Asking
from support.waiting import until


class ScriptedJuror:
    """A juror's process as its client sees it: it records requests; a test makes it send results or die."""

    def __init__(self) -> None:
        self.incarnation = 1
        self.asked: list[list[StepRequest]] = []
        self.released: list[str] = []
        self.acks: list[tuple[str, int]] = []
        self.refuses: Exception | None = None
        self.refused = 0
        self.open = asyncio.Event()
        self.open.set()
        self._polls: deque[asyncio.Future[Delivery[StepResult]]] = deque()
        self._results: list[StepResult] = []
        self._poll_asked = asyncio.Event()

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        await self.open.wait()
        if self.refuses is not None:
            self.refused += 1
            raise self.refuses
        self.asked.append([message for message in messages if isinstance(message, StepRequest)])
        self.released += [message.debate_id for message in messages if isinstance(message, ForgetDebate)]

    async def poll(self, incarnation: str, ack: int) -> Delivery[StepResult]:
        self.acks.append((incarnation, ack))
        if incarnation == PROBE:
            if self.refuses is not None:
                self.refused += 1
                raise self.refuses
            return Delivery(str(self.incarnation), 0, [])
        future: asyncio.Future[Delivery[StepResult]] = asyncio.get_running_loop().create_future()
        self._polls.append(future)
        self._poll_asked.set()
        return await future

    async def send(self, *results: StepResult) -> None:
        """Answer the open poll, in the present life."""
        self._results += results
        await self._answer(
            lambda poll: poll.set_result(Delivery(str(self.incarnation), len(self._results), list(results)))
        )

    async def die(self, error: Exception | None = None) -> None:
        """The open poll fails; another process takes over unless `error` says that none does."""
        self.incarnation += 1
        await self._answer(lambda poll: poll.set_exception(error or IncarnationLost()))

    async def be_replaced_unnoticed(self) -> None:
        """A new process answers the next poll, and no call has failed."""
        self.incarnation += 1
        await self._answer(lambda poll: poll.set_result(Delivery(str(self.incarnation), 0, [])))

    async def _answer(self, give: Callable[[asyncio.Future[Delivery[StepResult]]], None]) -> None:
        while True:
            while not self._polls:
                self._poll_asked.clear()
                await self._poll_asked.wait()
            if not (poll := self._polls.popleft()).done():
                give(poll)
                return


class Linked:
    """A client with its juror, and every result that it delivered to the coordinator."""

    def __init__(self) -> None:
        self.juror = ScriptedJuror()
        self.results: list[StepResult] = []
        self.lost: list[list[tuple[str, str]]] = []
        self._something = asyncio.Event()
        self.client = JurorClient(self.juror, self._deliver, self._lost, away=Backoff(base=0.0))

    def _deliver(self, results: StepResult) -> None:
        self.results.append(results)
        self._something.set()

    def _lost(self, steps: list[tuple[str, str]]) -> None:
        self.lost.append(steps)
        self._something.set()


@pytest.fixture
async def linked() -> AsyncIterator[Linked]:
    linked = Linked()
    yield linked
    await linked.client.close()


def an_ask(debate_id: str = "d1", juror_id: str = "gpt", text: bytes = b"x") -> StepRequest:
    ask = Asking().ask(juror_id)
    return ask._replace(assignment=ask.assignment._replace(debate_id=debate_id), texts={"ref": text})


def outcome_of(debate_id: str = "d1", step_id: str = "initial/gpt") -> StepResult:
    return StepResult(debate_id, step_id, None)


def ids(batches: list[list[StepRequest]]) -> list[list[str]]:
    return [[ask.assignment.debate_id for ask in batch] for batch in batches]


async def test_requests_made_together_are_sent_in_one_batch(linked: Linked) -> None:
    for number in range(3):
        linked.client.request(an_ask(f"d{number}"))
    await until(lambda: linked.juror.asked)

    assert [["d0", "d1", "d2"]] == ids(linked.juror.asked)


async def test_a_batch_ends_once_it_has_a_mebibyte_of_text(linked: Linked) -> None:
    for number in range(4):
        linked.client.request(an_ask(f"d{number}", text=bytes(600_000)))
    await until(lambda: len(linked.juror.asked) == 2)

    assert [["d0", "d1"], ["d2", "d3"]] == ids(linked.juror.asked)


async def test_a_batch_has_at_most_500_requests(linked: Linked) -> None:
    ask = an_ask()
    for number in range(501):
        linked.client.request(ask._replace(assignment=ask.assignment._replace(debate_id=f"d{number}")))
    await until(lambda: len(linked.juror.asked) == 2)

    assert [500, 1] == [len(batch) for batch in linked.juror.asked]


async def test_a_request_larger_than_a_batch_is_sent_alone(linked: Linked) -> None:
    linked.client.request(an_ask(text=bytes(3_000_000)))
    await until(lambda: linked.juror.asked)

    assert [["d1"]] == ids(linked.juror.asked)


async def test_the_result_of_a_step_is_delivered(linked: Linked) -> None:
    linked.client.request(an_ask())
    await linked.juror.send(outcome_of())
    await until(lambda: linked.results)

    assert [outcome_of()] == linked.results


async def test_a_result_that_comes_twice_is_delivered_once(linked: Linked) -> None:
    linked.client.request(an_ask())
    await linked.juror.send(outcome_of())
    await linked.juror.send(outcome_of())
    await until(lambda: len(linked.juror.acks) == 3)

    assert [outcome_of()] == linked.results


async def test_a_result_that_was_not_requested_is_ignored(linked: Linked) -> None:
    await linked.juror.send(outcome_of("another"))
    await until(lambda: len(linked.juror.acks) == 2)

    assert not linked.results


async def test_delivered_results_are_acknowledged_with_the_next_poll(linked: Linked) -> None:
    await linked.juror.send(outcome_of(), outcome_of("d2"))
    await until(lambda: len(linked.juror.acks) == 2)

    assert [("", 0), ("1", 2)] == linked.juror.acks


async def test_a_text_counts_as_sent_once_it_was_asked_about(linked: Linked) -> None:
    first = linked.client.unsent("d1", ["a", "b", "a"])
    second = linked.client.unsent("d1", ["b", "c"])
    other = linked.client.unsent("d2", ["a"])

    assert (["a", "b"], ["c"], ["a"]) == (first, second, other)


async def test_a_juror_that_dies_loses_the_steps_that_were_on_their_way(linked: Linked) -> None:
    for juror_id in ("gpt", "claude"):
        linked.client.request(an_ask(juror_id=juror_id))
    await linked.juror.send(outcome_of())
    await until(lambda: linked.results)
    await linked.juror.die()
    await until(lambda: linked.lost)

    assert [[("d1", "initial/claude")]] == linked.lost


async def test_after_a_death_every_text_travels_again(linked: Linked) -> None:
    linked.client.unsent("d1", ["a"])
    linked.client.request(an_ask())
    await linked.juror.die()
    await until(lambda: linked.lost)

    assert linked.client.unsent("d1", ["a"]) == ["a"]


async def test_after_a_death_the_link_goes_on_with_the_process_that_takes_over(linked: Linked) -> None:
    linked.client.request(an_ask())
    await linked.juror.die()
    await until(lambda: linked.lost)
    linked.client.request(an_ask())
    await linked.juror.send(outcome_of())
    await until(lambda: linked.results)

    assert [outcome_of()] == linked.results


async def test_after_a_death_nothing_is_acknowledged_to_the_process_that_takes_over(linked: Linked) -> None:
    await linked.juror.send(outcome_of())
    await until(lambda: len(linked.juror.acks) == 2)
    await linked.juror.die()
    await until(lambda: len(linked.juror.acks) == 4)

    assert linked.juror.acks[2:] == [(PROBE, 0), ("2", 0)]


async def test_a_death_that_only_a_submission_notices_loses_its_steps_too(linked: Linked) -> None:
    linked.juror.refuses = IncarnationLost()
    linked.client.request(an_ask())
    await until(lambda: linked.lost)

    assert [[("d1", "initial/gpt")]] == linked.lost


async def test_a_juror_replaced_between_two_polls_is_noticed_by_its_incarnation(linked: Linked) -> None:
    await linked.juror.send(outcome_of("another"))
    linked.client.request(an_ask())
    await until(lambda: linked.juror.asked)
    await linked.juror.be_replaced_unnoticed()
    await until(lambda: linked.lost)

    assert [[("d1", "initial/gpt")]] == linked.lost


async def test_one_death_loses_a_step_once_however_many_calls_fail(linked: Linked) -> None:
    linked.juror.open.clear()
    linked.client.request(an_ask())
    await asyncio.sleep(0)
    await linked.juror.die()
    await until(lambda: linked.lost)
    linked.juror.refuses = IncarnationLost()
    linked.juror.open.set()
    await until(lambda: linked.juror.refused)
    linked.juror.refuses = None
    await until(lambda: len(linked.juror.acks) == 3)

    assert [[("d1", "initial/gpt")]] == linked.lost


async def test_a_juror_that_stays_away_loses_a_step_once_and_is_sent_it_when_it_is_back(linked: Linked) -> None:
    linked.client.request(an_ask())
    await until(lambda: linked.juror.asked)
    linked.juror.refuses = IncarnationLost()
    await linked.juror.die()
    await until(lambda: linked.lost)
    linked.client.request(an_ask())
    await until(lambda: linked.juror.refused > 20)
    linked.juror.refuses = None
    await until(lambda: len(linked.juror.asked) == 2)

    assert [[("d1", "initial/gpt")]] == linked.lost
    assert [["d1"], ["d1"]] == ids(linked.juror.asked)


async def test_a_juror_that_cannot_come_back_gives_its_problem_to_every_step(linked: Linked) -> None:
    broken = RuntimeError("no such host")
    linked.client.request(an_ask())
    linked.client.request(an_ask("d2"))
    await until(lambda: linked.juror.asked)
    await linked.juror.die(broken)
    await until(lambda: linked.results)

    assert [("d1", broken), ("d2", broken)] == [(results.debate_id, results.problem) for results in linked.results]


async def test_a_broken_juror_gives_its_problem_to_later_steps_at_once(linked: Linked) -> None:
    broken = RuntimeError("no such host")
    await linked.juror.die(broken)
    await until(lambda: linked.client._mailbox.problem)
    linked.client.request(an_ask())

    assert [broken] == [results.problem for results in linked.results]


async def test_a_debate_that_is_over_is_released_at_the_juror(linked: Linked) -> None:
    linked.client.unsent("d1", ["a"])
    linked.client.release("d1")
    await until(lambda: linked.juror.released)

    assert linked.juror.released == ["d1"]


async def test_a_juror_that_was_sent_nothing_of_a_debate_is_not_sent_its_end(linked: Linked) -> None:
    linked.client.release("d1")
    linked.client.request(an_ask("d2"))
    await until(lambda: linked.juror.asked)

    assert not linked.juror.released
