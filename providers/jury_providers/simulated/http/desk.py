"""Where a request becomes an answer: its place and number are told from its prompt, its fault from the script."""

import asyncio
import json
import time
from collections import OrderedDict
from hashlib import blake2b
from secrets import token_hex
from typing import NamedTuple
from urllib.parse import quote

from jury_events.outcome import CallOutcome
from jury_providers.simulated.http.delivery import Delivery, Silence, json_delivery, spoilt
from jury_providers.simulated.http.fields import Unusable, table
from jury_providers.simulated.http.protocol import Protocol, Said, encoded
from jury_providers.simulated.http.served import Served
from jury_providers.simulated.prompt import Prompt, read_prompt
from jury_providers.simulated.reader import Reader
from jury_providers.simulated.script import Script
from jury_providers.simulated.speech import speak

KEPT = 100_000
"""Conversations whose requests are counted; of more, the one that was silent longest begins anew."""

_OTHER_MODEL = "another-model-1"


class Place(NamedTuple):
    """The `number`-th call, from 1, of a conversation: case/step/model, as a script names it."""

    conversation: str
    number: int


class Desk:
    """Answers requests of every protocol, one reader for all.

    Args:
        script: delays and faults.
        seed: of the readers, where a request holds none.
    """

    def __init__(self, script: Script, seed: int) -> None:
        self._script = script
        self._seed = seed
        self._reader = Reader()
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self.served = Served()

    async def answer(self, protocol: Protocol, raw: bytes, path: dict[str, object]) -> Delivery | Silence:
        """What becomes of a request; `path` holds the fields that stand in its path."""
        house, identity = protocol.house, token_hex(12)
        headers = () if house.request_id is None else ((house.request_id, f"req_{identity}"),)
        try:
            asked = protocol.read({**_decoded(raw), **path})
        except Unusable as error:
            self.served.refused += 1
            failure = house.refusal(400, str(error))
            return json_delivery(400, house.body(failure, f"req_{identity}"), headers)
        request = asked.request
        if request.settings.seed is None:
            request = request._replace(settings=request.settings.model_copy(update={"seed": self._seed}))
        prompt = read_prompt(request)
        place = self._place(prompt, request.model)
        fault = self._script.fault_of(*place)
        self.served.understood(prompt.place, protocol.kind, fault)
        if seconds := self._script.seconds(f"{place.conversation}/{place.number}"):
            await asyncio.sleep(seconds)
        variant = place.number % 2
        if fault == CallOutcome.TIMEOUT.value:
            return Silence.HELD
        if fault == CallOutcome.CONNECTION.value and variant:
            return Silence.DROPPED
        if fault is not None and fault in house.failures:
            failure = house.failures[fault]
            return json_delivery(failure.status, house.body(failure, f"req_{identity}"), headers + failure.headers)
        said = Said(
            model=_OTHER_MODEL if fault == "wrong_model" else request.model,
            speech=speak(self._reader, prompt, request, fault),
            identity=identity,
            created=int(time.time()),
            blocked=fault == CallOutcome.BLOCKED.value,
            variant=variant,
            counted=asked.counted,
        )
        pieces = list(protocol.events(said)) if asked.stream else [encoded(protocol.whole(said))]
        return spoilt(fault, pieces, stream=asked.stream, headers=headers)

    def _place(self, prompt: Prompt, model: str) -> Place:
        """The requests of one seat's step to one model are a conversation; its ballot tells debates apart."""
        key = f"{prompt.ballot}\0{prompt.place}\0{model}".encode("utf-8", "replace")
        digest = blake2b(key, digest_size=16).digest()
        count = self._counts.pop(digest, 0) + 1
        self._counts[digest] = count
        if len(self._counts) > KEPT:
            self._counts.popitem(last=False)
        name = quote(model, safe="", errors="replace")
        return Place(f"{prompt.case_digest.hex()}/{prompt.place}/{name}", count)


def _decoded(raw: bytes) -> dict[str, object]:
    try:
        return table(json.loads(raw), "body")
    except RecursionError:
        raise Unusable("body", "nested too deeply") from None
    except ValueError as error:
        raise Unusable("body", f"could not parse the JSON body: {error}") from None
