"""Tool calls that wait for their results, to find the call that a result belongs to."""

from collections import Counter


class PendingCalls:
    """Takes the calls and results of a transcript in order; calls are given by their index."""

    def __init__(self) -> None:
        self._by_id: dict[str, int] = {}
        self._waiting: dict[int, str] = {}
        self._by_name: dict[str, dict[int, None]] = {}
        self._unknown: Counter[str | None] = Counter()

    def called(self, index: int, name: str, call_id: str | None) -> None:
        """Take a call."""
        self._waiting[index] = name
        self._by_name.setdefault(name, {})[index] = None
        if call_id is not None:
            self._by_id[call_id] = index

    def of_id(self, call_id: str) -> int | None:
        """The latest call of an id; None if there is none."""
        return self._by_id.get(call_id)

    def answered(self, name: str | None, call_id: str | None) -> int | None:
        """Take a result; returns its call: by id, else the first open one of its name, else the only open one."""
        if call_id is not None:
            call = self._by_id.get(call_id)
        elif name is not None:
            call = next(iter(self._by_name.get(name, ())), None)
        else:
            call = next(iter(self._waiting)) if len(self._waiting) == 1 else None
        if call is not None:
            self._close(call)
        return call

    def candidates(self, name: str | None) -> int:
        """The number of open calls that a result without an id may belong to: those of its name, else all."""
        return len(self._waiting) if name is None else len(self._by_name.get(name, ()))

    def answered_by_unknown(self, name: str | None) -> None:
        """Take a result whose call the record does not say.

        Once there are as many of them as open calls that they may belong to, these calls are answered.
        """
        self._unknown[name] += 1
        if self._unknown[name] >= self.candidates(name):
            del self._unknown[name]
            for call in list(self._waiting if name is None else self._by_name.get(name, ())):
                self._close(call)

    def _close(self, call: int) -> None:
        name = self._waiting.pop(call, None)
        if name is not None:
            del self._by_name[name][call]
