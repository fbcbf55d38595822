"""What the modules of all tools are made of: one jury for everything that a tool judges in one process, and its rows.

A jury lives in one event loop, in a thread of this process: tools call from threads, from loops that come and go, and
from processes that they fork.
"""

import asyncio
import json
import logging
import os
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from jury_events.case import Case
from jury_events.errors import JuryError, SettingError
from jury_events.named_files import read_named_text
from jury_events.regular_files import read_failure
from jury_events.text import visible_line
from jury_integrations.errors import JuryUnusable
from jury_integrations.jury_outcome import JuryOutcome
from jury_judge import DebateResult, Jury, StoreLocked, Writing
from jury_judge.runs.shared_context import SharedContext

_LONGEST_ID = 480

LOCK_WAIT = 3600.0
"""Seconds for which a process waits while another one judges into the same SQLite store."""

_POLL_SECONDS = 0.2
_log = logging.getLogger(__name__)

_LONGEST_POLICY = 4 << 20


T = TypeVar("T")

_STARTING = threading.Lock()

_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}
"""By process id: a fork inherits the loop of its parent, and not the thread that runs it."""


def _submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Begin work in the loop of this process; cancelling what it returns cancels the work."""
    with _STARTING:
        loop = _LOOPS.get(os.getpid())
        if loop is None:
            loop = _LOOPS[os.getpid()] = asyncio.new_event_loop()
            # A daemon: what is recorded stays when the process ends in the middle, and the same call goes on with it.
            threading.Thread(target=loop.run_forever, name="jury", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, loop)


class HostedJury:
    """Judges rows of a tool; the same row again, in any process, costs nothing.

    A case's id is the tool's id of it and a digest of its content, so that a changed answer is a new case. While
    nothing is judged the store is free for other processes; while another one writes to it, this one waits, and logs
    a line that says so.

    Args:
        host: names the tool in the default run.
        panel: as of `Jury`; None: simulated jurors.
        store: as of `Jury`.
        policy: a file with the instructions that the judged agents had, where a case has none.
        run: the run that the debates belong to; None: `{host}-{digest of the panel}`, so that another panel
            begins another run.
    """

    def __init__(
        self,
        host: str,
        *,
        panel: str | None = None,
        store: str | None = None,
        policy: str | None = None,
        run: str | None = None,
    ) -> None:
        self._panel, self._store, self._host = panel, store, host
        first = self._jury()
        self._policy = None if policy is None else _text_of(policy)
        self.run = run or f"{host}-{first.panel_digest[:12]}"
        self.store = first.store_url
        self._reader = first
        self._shared = SharedContext(self._jury)
        self._waits = False

    def _jury(self) -> Jury:
        return Jury(self._panel, store=self._store, writing=Writing(name=f"{self._host}-{os.getpid()}"))

    def case(self, row: Mapping[str, Any], form: str | None = None, *, expected: str | None = None) -> Case:
        """The case of a row, with its digest in its id.

        Args:
            row: as in a file of cases.
            form: the name of its format; None: it is recognised.
            expected: the expected behaviour, where the row has none.
        """
        case = self._reader.read_case(row, form=form, policy=self._policy)
        if expected:
            case = _expecting(case, expected)
        return named_by_content(case)

    async def _judged(self, case: Case) -> JuryOutcome:
        async with self._shared.use() as jury:
            result = await self._result(jury, case)
            return JuryOutcome.of(case, result, await jury.item_messages(result.debate_id))

    async def _result(self, jury: Jury, case: Case) -> DebateResult:
        """Judge once no other process writes: waiting in the loop ends with the process, as a thread would not."""
        until = time.monotonic() + LOCK_WAIT
        while True:
            try:
                result = await jury.evaluate(case, run_id=self.run)
            except StoreLocked as error:
                if time.monotonic() >= until:
                    raise
                if not self._waits:
                    _log.warning("waiting up to %g s: %s", LOCK_WAIT, error)
                self._waits = True
                await asyncio.sleep(_POLL_SECONDS)
            else:
                self._waits = False
                return result

    async def judged(self, case: Case) -> JuryOutcome:
        """Judge a case, or read its verdict where it was judged, in any asyncio loop. Cancelling stops the debate."""
        return await asyncio.wrap_future(_submit(self._judged(case)))

    def judge(self, case: Case) -> JuryOutcome:
        """`judged`, for callers without an event loop."""
        judging = _submit(self._judged(case))
        try:
            return judging.result()
        finally:
            judging.cancel()


@cache
def hosted_jury(
    host: str, panel: str | None = None, store: str | None = None, policy: str | None = None, run: str | None = None
) -> HostedJury:
    """The jury of this process with these settings: made once."""
    try:
        return HostedJury(host, panel=panel, store=store, policy=policy, run=run)
    except JuryError as error:
        raise JuryUnusable(str(error)) from None


def _expecting(case: Case, expected: str) -> Case:
    first, *others = case.scenarios
    if first.question.expected_behavior is not None:
        return case
    question = first.question.model_copy(update={"expected_behavior": expected})
    return case.model_copy(update={"scenarios": (first.model_copy(update={"question": question}), *others)})


def _text_of(policy: str) -> str:
    name = visible_line(policy, 1000)
    try:
        text = read_named_text(Path(policy), _LONGEST_POLICY)
    except UnicodeDecodeError as error:
        raise SettingError(f"policy: {name}: not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise SettingError(f"policy: {name}: cannot be read: {read_failure(error)}; name a text file") from error
    if not text.strip():
        raise SettingError(f"policy: {name}: the file is empty; leave policy out")
    return text


def named_by_content(case: Case) -> Case:
    """The case with a digest of its content in its id: a changed answer is a new case."""
    digest = sha256(case.to_part()).hexdigest()[:12]
    return case.model_copy(update={"case_id": f"{case.case_id[:_LONGEST_ID]}.{digest}"})


def asked_row(given: Any, output: Any) -> dict[str, Any]:
    """The row of a case: its messages where input or output has a list of them, else its question and response.

    A table with one text is that text; any other value is shown as JSON.
    """
    before, after = _messages(given), _messages(output)
    if after:
        whole = after if before and list(after[: len(before)]) == list(before) else [*before, *after]
        return {"messages": list(whole)} if before else {"question": _text(given), "messages": list(whole)}
    if before:
        return {"messages": [*before, {"role": "assistant", "content": _text(output)}]}
    return {"question": _text(given), "response": _text(output)}


def expected_text(expected: Any) -> str | None:
    """What was expected, as one text; None where nothing was."""
    return _text(expected) if expected not in (None, "", {}, []) else None


def _messages(value: Any) -> Sequence[Any]:
    listed = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(listed, list | tuple):
        return ()
    return listed if all(isinstance(one, Mapping) and "role" in one for one in listed) else ()


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        texts = [one for one in value.values() if isinstance(one, str)]
        if len(value) == len(texts) == 1:
            return texts[0]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
