"""How simulated models behave as a service: how long they take and how often, or exactly when, they fail.

Everything is drawn from the script's seed and a call's trace, so the same run meets the same weather.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, ClassVar

from jury_events.nearest import did_you_mean
from jury_events.outcome import CallOutcome
from jury_providers.errors import ProviderError

UNPARSEABLE = "unparseable"
WRONG_BALLOT = "wrong_ballot"
UNUSABLE_ANSWERS = (UNPARSEABLE, WRONG_BALLOT)
"""Answers that arrive and are of no use: prose instead of JSON, another seat's ballot."""

FAULTS = (*(outcome.value for outcome in CallOutcome), *UNUSABLE_ANSWERS)

WIRE_FAULTS = (
    "html",
    "malformed_json",
    "truncated_json",
    "empty",
    "dropped_stream",
    "slow_drip",
    "wrong_model",
)
"""What can go wrong with a response between a model and its client; only a server (`jury simulate`) plays them."""

_RETRIED = frozenset(
    {"rate_limited", "overloaded", "timeout", "connection", "malformed_response", "authentication", "quota"}
)
_SEED = re.compile(r"-?[0-9]{1,18}")
_LONGEST = 3600.0
_WIDEST = 10.0
_SETTINGS = ("latency", "sigma", "seed")


class BadScript(ProviderError):
    """What was asked of the simulated models can't be played; the message names the setting."""


@dataclass(frozen=True, kw_only=True)
class Script:
    """The behaviour of simulated models.

    Args:
        latency: mean seconds of a call; 0 answers at once.
        sigma: spread of the lognormal latency.
        rates: probability of each fault, by its name.
        scripted: faults of a step's calls, in order, by a pattern (`fnmatch`) of the step (`initial/gpt`), of
            `debate/step` or of the whole trace. A fault is an outcome's name (`answered`: none), `unparseable` or
            `wrong_ballot`. A fallback model meets them from the first again: name the model to spare it.
        seed: chance.
    """

    faults: ClassVar[tuple[str, ...]] = FAULTS
    """What can go wrong."""

    latency: float = 0.0
    sigma: float = 0.5
    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    scripted: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, most in (("latency", self.latency, _LONGEST), ("sigma", self.sigma, _WIDEST)):
            if not 0 <= value <= most:
                raise BadScript(f"{name}: must be a number from 0 to {most:g}, not {value:g}")
        self._check_rates()
        for pattern, faults in self.scripted.items():
            for fault in faults:
                if fault not in self.faults:
                    raise BadScript(f"scripted {pattern!r}: {fault!r} is none of {', '.join(self.faults)}")

    def _check_rates(self) -> None:
        if CallOutcome.ANSWERED.value in self.rates:
            raise BadScript("rates: answered is what remains; give the rates of failures")
        if unknown := [name for name in self.rates if name not in self.faults]:
            raise BadScript(f"rates: {unknown[0]!r} is none of {', '.join(self.faults)}")
        for name, rate in self.rates.items():
            if not 0 <= rate <= 1:
                raise BadScript(f"{name}: a probability is a number from 0 to 1, not {rate:g}")
        if (total := sum(self.rates.values())) > 1 + 1e-9:
            raise BadScript(f"rates: add up to {total:g}; together at most 1")

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies don't pickle, and scripts travel to worker processes.
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _rebuild, (type(self), values | {"rates": dict(self.rates), "scripted": dict(self.scripted)})

    def seconds(self, trace: str) -> float:
        """How long the call takes."""
        if not self.latency:
            return 0.0
        first, second, _ = self._chances(trace)
        normal = math.sqrt(-2 * math.log(1 - first)) * math.cos(2 * math.pi * second)
        return self.latency * math.exp(self.sigma * normal - self.sigma**2 / 2)

    def fault(self, trace: str) -> str | None:
        """What goes wrong with the call debate/step/model/turn/try, as in `faults`; None: nothing."""
        if not self.scripted and not self.rates:
            return None
        head, turn, attempt = _place(trace)
        return self._drawn_fault(trace, head, lambda faults: _at(faults, turn, attempt))

    def fault_of_call(self, conversation: str, count: int) -> str | None:
        """What goes wrong with the `count`-th call, from 1, of debate/step/model, whichever turn or try it is."""
        head = conversation.rpartition("/")[0]
        return self._drawn_fault(f"{conversation}/{count}", head, lambda faults: next(iter(faults[count - 1 :]), None))

    def _drawn_fault(self, trace: str, head: str, choose: Callable[[tuple[str, ...]], str | None]) -> str | None:
        """The fault that the first fitting pattern names, or else one by chance; `head` is debate/step."""
        if self.scripted:
            for pattern, faults in self.scripted.items():
                if any(fnmatchcase(name, pattern) for name in (trace, head, head.partition("/")[2])):
                    found = choose(faults)
                    return None if found == CallOutcome.ANSWERED.value else found
        if self.rates:
            chance = self._chances(trace)[2]
            # In this order, so that a rate that is added leaves alone what those before it strike.
            for name in self.faults:
                chance -= self.rates.get(name, 0.0)
                if chance < 0:
                    return name
        return None

    def _chances(self, trace: str) -> tuple[float, float, float]:
        drawn = blake2b(f"{self.seed}\0{trace}".encode("utf-8", "surrogatepass"), digest_size=24).digest()
        first, second, third = (int.from_bytes(drawn[at : at + 6]) / 2**48 for at in (0, 8, 16))
        return first, second, third


def _rebuild(kind: type[Script], values: dict[str, Any]) -> Script:
    return kind(**values)


@dataclass(frozen=True, kw_only=True)
class WireScript(Script):
    """The behaviour of simulated models behind a server, which can spoil what goes over the wire too."""

    faults: ClassVar[tuple[str, ...]] = (*FAULTS, *WIRE_FAULTS)


NO_FAULTS = Script()
"""Answers at once, and always."""


def _place(trace: str) -> tuple[str, int, int]:
    """`debate/step`, turn and try of a trace; no segment of a trace holds a slash of its own."""
    head, _model, turn, attempt = ("/" * 3 + trace).rsplit("/", 3)
    return head.lstrip("/"), _count(turn), _count(attempt)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 1


def _at(faults: tuple[str, ...], turn: int, attempt: int) -> str | None:
    """The fault of one call: failures of the service are tried again in the same turn, all else takes a new turn."""
    place = (1, 1)
    for fault in faults:
        if place == (turn, attempt):
            return fault
        place = (place[0], place[1] + 1) if fault in _RETRIED else (place[0] + 1, 1)
    return None


def parse_script(pairs: Mapping[str, str], kind: type[Script] = Script) -> Script:
    """A script of `latency=0.5 sigma=0.5 timeout=0.05 unparseable=0.1 seed=3`; its kind says which faults there are.

    Raises:
        BadScript: a setting is unknown, or its value refused; the message names it.
    """
    faults = [name for name in kind.faults if name != CallOutcome.ANSWERED.value]
    for name in pairs:
        if name not in _SETTINGS and name not in faults:
            known, hint = ", ".join((*_SETTINGS, *faults)), did_you_mean(name, (*_SETTINGS, *faults))
            raise BadScript(f"{name}: simulated models have no such setting{hint}; the settings: {known}")
    seed = pairs.get("seed", "0").strip()
    if not _SEED.fullmatch(seed):
        raise BadScript(f"seed: must be a whole number of at most 18 digits, not {seed[:40]!r}")
    return kind(
        latency=_number(pairs, "latency", NO_FAULTS.latency),
        sigma=_number(pairs, "sigma", NO_FAULTS.sigma),
        rates={name: _number(pairs, name, 0.0) for name in faults if name in pairs},
        seed=int(seed),
    )


def _number(pairs: Mapping[str, str], name: str, default: float) -> float:
    if name not in pairs:
        return default
    try:
        return float(pairs[name])
    except ValueError:
        raise BadScript(f"{name}: must be a number, not {pairs[name]!r}") from None
