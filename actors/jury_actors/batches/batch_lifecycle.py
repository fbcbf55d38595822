"""A batch from its preparation to its end: each step is recorded, and nothing is sent that the log does not know."""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from jury_actors.admission.budget_service import BudgetService
from jury_actors.batches.batch_errors import OtherAccount
from jury_actors.batches.batch_log import BatchLog
from jury_actors.batches.batch_results import ResultsReading
from jury_actors.batches.batch_steps import PATIENCE, BatchPatience, BatchStep, may_be_on_its_way, next_step
from jury_actors.batches.wave_spool import BatchProviders, FilledSpool
from jury_actors.clerk import ClerkInterface
from jury_actors.effects import Effects
from jury_actors.errors import Halted
from jury_actors.notices import Say
from jury_events.batch_events import (
    BatchAbandoned,
    BatchCancelRequested,
    BatchChanged,
    BatchClosed,
    BatchItemsUnanswered,
    BatchMistaken,
    BatchPrepared,
    BatchSubmitted,
    BatchUploaded,
    UnansweredItem,
)
from jury_events.batch_facts import BatchFacts
from jury_events.ids import batch_id
from jury_events.outcome import CallOutcome
from jury_events.parts import SALT_BYTES, Part, make_part
from jury_events.text.pluralize import pluralize
from jury_providers.batches.batch import BatchAccount, BatchState, BatchStatus, PreparedBatch, SubmittedBatch
from jury_providers.batches.failures import BatchFailure, BatchNotFound, BatchUnavailable
from jury_providers.batches.provider import BatchProvider
from jury_providers.prices import Prices

_T = TypeVar("_T")

_TRIES = 4
"""Of an upload or a submission, where the provider certainly did not take it."""

_HALTING = frozenset({CallOutcome.AUTHENTICATION, CallOutcome.QUOTA})
"""No further batch would be taken."""

_LONGEST = 120.0
"""Seconds that an attempt waits for the next."""

_PAGE = 1000
_LABEL = 300


class BatchLifecycle:
    """Moves the batches of one run.

    Args:
        run_id: of the run.
        log: of the batches.
        clerk: of the log.
        providers: of batches.
        patience: how long they are waited for.
        prices: of the models.
        effects: clock and entropy.
        say: takes a line for the user.
        same_account: a key with another digest than recorded is of the same account.
        budget: of the run; None: it has none.
        sleep: waits for so many seconds.
    """

    def __init__(
        self,
        run_id: str,
        log: BatchLog,
        clerk: ClerkInterface,
        providers: BatchProviders,
        *,
        patience: BatchPatience = PATIENCE,
        prices: Prices = Prices(),
        effects: Effects = Effects(),
        say: Say,
        same_account: bool = False,
        budget: BudgetService | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sleep = sleep
        self._budget = budget
        self._run_id = run_id
        self._log = log
        self._clerk = clerk
        self._providers = providers
        self._patience = patience
        self._prices = prices
        self._effects = effects
        self._say = say
        self._same_account = same_account
        self._said: set[str] = set()

    async def launch(self, spool: FilledSpool, wave: int) -> BatchFacts:
        """Record a batch, then send it.

        Raises:
            Halted: the provider takes nothing before a person acts.
            StoreError: it cannot be recorded; nothing was sent.
        """
        provider = self._provider(spool.provider)
        address, key = account_digests(provider.account())
        name = batch_id(self._run_id, spool.nonce)
        prepared = BatchPrepared(
            batch_id=name,
            run_id=self._run_id,
            wave=wave,
            provider=spool.provider,
            address=address,
            key=key,
            model=spool.model,
            nonce=spool.nonce,
            items=len(spool.calls),
            size=spool.size,
            most=spool.most,
        )
        if self._budget is not None:
            await self._budget.lease()
        facts = await self._log.open(prepared, name, spool)
        try:
            return await self._sent(facts, provider, as_prepared(facts, spool.path))
        except BatchUnavailable as error:
            # Looked up later: the provider may have it all the same.
            self._say(
                f"{_of(facts)}: {error}; looked for at the provider in a while, and sent again if it is not there"
            )
            return facts
        except BatchFailure as error:
            return await self._refused(facts, provider, error)

    async def _refused(self, facts: BatchFacts, provider: BatchProvider, error: BatchFailure) -> BatchFacts:
        """The provider does not take a batch: lines that it names are failed calls, the others are free again.

        Raises:
            Halted: it takes nothing before a person acts.
        """
        self._say(f"{_of(facts)} was refused, and nothing of it was computed: {error}")
        reading = await self._reading(facts, provider)
        await reading.refuse(error.refused_lines)
        facts = await self._note_unanswered(facts, reading)
        self._settle(facts, reading.answered, reading.billed)
        counts = {"answered": reading.answered, "unanswered": len(facts.unanswered)}
        facts = await self._close(facts, "refused", str(error), **counts)
        if error.outcome in _HALTING:
            raise Halted(f"{_of(facts)} was refused: {error}", about=facts.prepared.provider) from error
        return facts

    async def _reading(self, facts: BatchFacts, provider: BatchProvider) -> ResultsReading:
        calls = await self._log.calls(facts.prepared.batch_id)
        return ResultsReading(facts, calls, provider, self._clerk, prices=self._prices, effects=self._effects)

    async def _sent(self, facts: BatchFacts, provider: BatchProvider, prepared: PreparedBatch) -> BatchFacts:
        file_id = await self._tried(partial(provider.upload, prepared))
        if file_id is not None:
            facts = await self._log.add(facts, BatchUploaded(file_id=file_id))
        submitted = await self._tried(partial(provider.submit, prepared, file_id))
        return await self._submitted(facts, submitted, found=False)

    async def _tried(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What an attempt returns, which is made again where the provider certainly did not take it."""
        for tried in range(_TRIES - 1):
            try:
                return await attempt()
            except BatchUnavailable as error:
                if error.may_have_arrived:
                    raise
                await self._sleep(min(error.retry_after or 2.0**tried, _LONGEST))
        return await attempt()

    async def advance(self, facts: BatchFacts) -> BatchFacts:
        """Do what is due now for a batch.

        Raises:
            OtherAccount: it was sent to another account or server than that of now.
            Halted: a person has to act before its provider answers.
            StoreError: the log cannot be written.
        """
        provider = self._provider(facts.prepared.provider)
        self.check_account(facts, provider)
        while (step := next_step(facts, self._effects.clock(), self._patience)) != BatchStep.NOTHING:
            try:
                moved = await self._stepped(step, facts, provider)
            except BatchUnavailable as error:
                self._say_once(f"{_of(facts)}: {error}; asked again later")
                return facts
            except BatchNotFound as error:
                self._say_once(f"{_of(facts)} is not known to its provider: {error}")
                if step != BatchStep.COLLECT:
                    return facts
                return await self._close(facts, "results_gone", str(error), unanswered=facts.prepared.items)
            except BatchFailure as error:
                raise Halted(f"{_of(facts)}: {error}", about=facts.prepared.provider) from error
            if moved is facts:
                return facts
            facts = moved
        return facts

    async def _stepped(self, step: BatchStep, facts: BatchFacts, provider: BatchProvider) -> BatchFacts:
        """The facts after a step; the same object where nothing is new."""
        match step:
            case BatchStep.LOOK_UP:
                return await self._look_up(facts, provider)
            case BatchStep.CANCEL:
                return await self.cancel(facts, by=None)
            case BatchStep.ABANDON:
                return await self._abandon(facts)
            case BatchStep.COLLECT:
                return await self._collect(facts, provider)
            case _:
                return await self._poll(facts, provider)

    async def _abandon(self, facts: BatchFacts) -> BatchFacts:
        self._say(
            f"{_of(facts)} has not ended {self._patience.abandon:g} hours after its submission: its "
            f"{pluralize(facts.prepared.items, 'call')} may be paid twice, as they are made again now"
        )
        return await self._log.add(facts, BatchAbandoned())

    def check_account(self, facts: BatchFacts, provider: BatchProvider) -> None:
        """Check that the provider is the one that the batch was prepared for.

        Raises:
            OtherAccount: it is not.
        """
        address, key = account_digests(provider.account())
        recorded = facts.prepared
        if address != recorded.address:
            raise OtherAccount(
                f"{_of(facts)} was sent to another server: set the base URL of {recorded.provider} as it was, and run "
                "the same command again"
            )
        if key != recorded.key and not self._same_account:
            raise OtherAccount(
                f"{_of(facts)} was sent with another API key: set the key of {recorded.provider} as it was, or add "
                "--batch-same-account if the new key is of the same account"
            )

    async def cancel(self, facts: BatchFacts, *, by: str | None) -> BatchFacts:
        """Record that the provider is asked to end a batch, before it is: for `by`; None: its deadline passed.

        What it has computed is billed, and is recorded when it has ended.
        """
        if by is None:
            self._say(
                f"{_of(facts)} has not ended {self._patience.deadline:g} hours after its submission: its provider was "
                "asked to cancel it"
            )
        return await self._log.add(facts, BatchCancelRequested(cause="deadline" if by is None else "person", by=by))

    async def _look_up(self, facts: BatchFacts, provider: BatchProvider) -> BatchFacts:
        others = await self._log.provider_ids(facts.prepared.batch_id)
        found = [
            one
            for one in await provider.find(as_prepared(facts))
            if one.batch_id not in others and one.batch_id not in facts.mistaken
        ]
        found.sort(key=lambda one: not one.certain)
        if found:
            self._say(f"{_of(facts)} was found at its provider: it was submitted before this process began")
            return await self._submitted(facts, found[0], found=True)
        if may_be_on_its_way(facts, self._effects.clock(), self._patience):
            return facts
        self._settle(facts, 0, 0.0)
        return await self._close(facts, "not_submitted", None, unanswered=facts.prepared.items)

    async def _submitted(self, facts: BatchFacts, submitted: SubmittedBatch, *, found: bool) -> BatchFacts:
        return await self._log.add(
            facts,
            BatchSubmitted(
                provider_id=submitted.batch_id,
                expires_at=None if submitted.expires_at is None else round(submitted.expires_at.timestamp() * 1e6),
                found=found,
                certain=submitted.certain,
                number=facts.submissions + 1,
            ),
        )

    async def _poll(self, facts: BatchFacts, provider: BatchProvider) -> BatchFacts:
        assert facts.submitted is not None
        if facts.cancel_requested is not None and facts.stage not in {"cancelling", "abandoned"}:
            # Again: the request may have been recorded where no provider could be asked, or before a crash.
            with suppress(BatchNotFound):
                await provider.cancel(facts.submitted.provider_id)
        state = await provider.state(facts.submitted.provider_id)
        known = facts.changed
        if known is not None and (known.stage, known.word) == (state.status.value, state.word):
            return facts
        if state.error is not None:
            self._say(f"{_of(facts)} {state.word}: {state.error}")
        return await self._log.add(facts, _changed(state, facts.changes + 1))

    async def _collect(self, facts: BatchFacts, provider: BatchProvider) -> BatchFacts:
        """Record the results of an ended batch; what did not answer is named, and free again."""
        assert facts.submitted is not None
        state = await provider.state(facts.submitted.provider_id)
        if state.status != BatchStatus.ENDED:
            return facts
        reading = await self._reading(facts, provider)
        await reading.read(state)
        if reading.is_anothers:
            self._say(f"{_of(facts)}: {facts.submitted.provider_id} has other calls; it is another batch")
            mistaken = BatchMistaken(provider_id=facts.submitted.provider_id, number=len(facts.mistaken) + 1)
            return await self._log.add(facts, mistaken)
        for line in reading.remarks(_of(facts)):
            self._say(line)
        facts = await self._note_unanswered(facts, reading)
        self._settle(facts, reading.answered, reading.billed)
        return await self._close(
            facts,
            "ended",
            state.error,
            answered=reading.answered,
            unanswered=len(facts.unanswered),
            unknown=reading.unknown,
            doubled=reading.doubled,
        )

    def _settle(self, facts: BatchFacts, answered: int, billed: float) -> None:
        """Of a budget: until now every call counted with the most that it can cost."""
        if self._budget is not None:
            prepared = facts.prepared
            self._budget.correct(answered - prepared.items, billed - (prepared.most or 0.0))

    async def _note_unanswered(self, facts: BatchFacts, reading: ResultsReading) -> BatchFacts:
        fresh = [one for one in reading.unanswered() if one.item not in facts.unanswered]
        for start in range(0, len(fresh), _PAGE):
            page = fresh[start : start + _PAGE]
            parts: list[Part] = []
            items = []
            for one in page:
                text = None
                if one.text is not None:
                    part = make_part(one.text, self._effects.entropy(SALT_BYTES))
                    parts.append(part)
                    text = part.ref
                items.append(UnansweredItem(item=one.item, end=one.end, usage=one.usage, cost=one.cost, text=text))
            event = BatchItemsUnanswered(unanswered=tuple(items), number=facts.unanswered_pages + 1)
            facts = await self._log.add(facts, event, parts=tuple(parts))
        return facts

    async def _close(self, facts: BatchFacts, cause: str, detail: str | None, **counts: int) -> BatchFacts:
        closed = BatchClosed.model_validate(
            {
                "cause": cause,
                "detail": None if detail is None else " ".join(detail.split())[:_LABEL] or None,
                "answered": 0,
                "unanswered": 0,
                "unknown": 0,
                "doubled": 0,
                **counts,
            }
        )
        return await self._log.add(facts, closed)

    def _provider(self, name: str) -> BatchProvider:
        provider = self._providers(name)
        if provider is None:
            raise OtherAccount(
                f"batches of {name} are open, and it has none in this process: set its key and base URL as they were"
            )
        return provider

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)


def account_digests(account: BatchAccount) -> tuple[str, str]:
    """The SHA-256, in hexadecimal, of the address and of the key's digest."""
    return (
        hashlib.sha256(account.address.encode()).hexdigest(),
        hashlib.sha256(account.key.encode()).hexdigest(),
    )


def as_prepared(facts: BatchFacts, spool: Path = Path(os.devnull)) -> PreparedBatch:
    """The batch as its provider knows it; without a spool it can be looked up alone."""
    prepared = facts.prepared
    at = datetime.fromtimestamp(facts.prepared_at / 1e6, UTC)
    return PreparedBatch(prepared.nonce, prepared.model, prepared.items, prepared.size, spool, at)


def _changed(state: BatchState, number: int) -> BatchChanged:
    return BatchChanged.model_validate(
        {
            "stage": state.status.value,
            "word": state.word,
            "answered": state.counts.answered,
            "failed": state.counts.failed,
            "error": None if state.error is None else " ".join(state.error.split())[:_LABEL] or None,
            "number": number,
        }
    )


def _of(facts: BatchFacts) -> str:
    provider_id = "" if facts.submitted is None else f" ({facts.submitted.provider_id})"
    return f"batch {facts.prepared.nonce} of {facts.prepared.provider}{provider_id}"
