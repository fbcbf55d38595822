"""A server of the chat protocol that charges for every call when it arrives, and can hold back its answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from support.loopback import Reply, served

TOKENS = 2000, 50
"""What every call is charged for, in and out."""


class ChargingServer:
    """Counts calls; answers nothing that can be read as a verdict.

    Attributes:
        url: where it is; set by `charging_server`.
        charged: how many calls arrived.
        held: how many of them wait for an answer.
    """

    def __init__(self) -> None:
        self.url = ""
        self.charged = self.held = 0
        self._lock = threading.Lock()
        self._answering = threading.Event()
        self._answering.set()

    def hold(self) -> None:
        """Answer nothing from now on."""
        self._answering.clear()

    def release(self) -> None:
        """Answer what waits and what comes."""
        self._answering.set()

    def answer(self, _path: str, _kind: str, _body: bytes) -> Reply:
        """Charge for the call, and answer it once that is allowed."""
        with self._lock:
            self.charged += 1
            self.held += 1
        self._answering.wait()
        with self._lock:
            self.held -= 1
        message = {"role": "assistant", "content": "No verdict."}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)},
        }
        return Reply(200, json.dumps(answer).encode(), "application/json")


@contextmanager
def charging_server() -> Iterator[ChargingServer]:
    """A server on loopback."""
    server = ChargingServer()
    with served(server.answer) as url:
        server.url = url
        try:
            yield server
        finally:
            server.release()
