"""The record of a webhook's deliveries: a file of JSON lines, appended and flushed to disk, never rewritten.

`{"read": N}`: the log was read up to position N. `{"queued": …}`: a message. `{"attempt": …}`: how an attempt ended,
`next` being the time of the next one in microseconds since 1970-01-01 UTC; null: there is none.
"""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from jury_events.errors import SettingError
from jury_events.regular_files import open_regular, read_failure
from jury_judge.errors import JournalFailed
from jury_judge.webhooks.review_needs import ReviewNeed
from jury_judge.webhooks.sender import SendOutcome


class PendingMessage(NamedTuple):
    """A message that was not accepted yet. `due`: when it is tried next, in microseconds."""

    need: ReviewNeed
    attempts: int = 0
    due: int = 0


class DeliveryJournal:
    """The journal of one webhook, open for appending; one process has it at a time.

    Args:
        path: of the file, which is created where it is missing.
        start: position after which the log is read where the file is new.

    Raises:
        SettingError: it cannot be opened or read, another process has it, or it is no such journal.
        JournalFailed: a new file cannot be written.
    """

    def __init__(self, path: Path, start: int) -> None:
        self._path = path
        self.pending: dict[str, PendingMessage] = {}
        self.read_until = start
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise SettingError(f"{path}: {read_failure(error)}; name another file with --deliveries") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise SettingError(
                f"{path}: another server writes its deliveries there; give this one --deliveries FILE"
            ) from None
        try:
            self._replay()
        except BaseException:
            self.close()
            raise

    def queue(self, needs: list[ReviewNeed], read_until: int) -> None:
        """Record messages, and how far the log was read; after `JournalFailed` nothing has changed."""
        fresh = [one for one in needs if one.message_id not in self.pending]
        self._append(*({"queued": one._asdict()} for one in fresh), {"read": read_until})
        for one in fresh:
            self.pending[one.message_id] = PendingMessage(one)
        self.read_until = read_until

    def attempted(self, message_id: str, outcome: SendOutcome, at: int, following: int | None) -> None:
        """Record how an attempt ended. `following`: when the next one is; None: there is none.

        It counts in this process also after `JournalFailed`: the receiver gets nothing anew at every later step.
        """
        line = {"attempt": {"id": message_id, "at": at, **outcome._asdict(), "next": following}}
        self._apply(line)
        self._append(line)

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._file)

    def _append(self, *lines: dict[str, Any]) -> None:
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        before = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(content):
                written += os.write(self._file, content[written:])
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):  # A part of a line would make the next line unreadable.
                os.ftruncate(self._file, before)
            raise JournalFailed(
                f"{self._path}: deliveries cannot be recorded there: {error.strerror}; mend that, no message is lost"
            ) from error

    def _replay(self) -> None:
        whole = 0
        with open_regular(self._path, follow=False) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    # The process ended while it wrote: the line is as if it had never been begun.
                    os.ftruncate(self._file, whole)
                    break
                whole += len(line)
                try:
                    self._apply(json.loads(line))
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                    raise SettingError(
                        f"{self._path}:{number}: not a line of a journal of deliveries; name another file with "
                        "--deliveries"
                    ) from None
        for message_id, one in self.pending.items():
            # A restart is a reason to try again at once: what was wrong may have been put right.
            self.pending[message_id] = one._replace(due=0)
        if not whole:
            self._append({"read": self.read_until})

    def _apply(self, line: dict[str, Any]) -> None:
        if "read" in line:
            self.read_until = int(line["read"])
        elif "queued" in line:
            need = ReviewNeed(**line["queued"])
            self.pending[need.message_id] = PendingMessage(need)
        else:
            attempt = line["attempt"]
            before = self.pending.pop(attempt["id"], None)
            if before is not None and attempt["next"] is not None:
                self.pending[attempt["id"]] = PendingMessage(before.need, before.attempts + 1, int(attempt["next"]))
