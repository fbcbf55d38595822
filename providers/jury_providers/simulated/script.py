"""Latency and faults of simulated models, drawn at random or scripted by step.

Both are functions of the script's seed and a call's trace, so a run can be repeated exactly.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import ClassVar

from jury_events.nearest import did_you_mean
from jury_events.outcome import CallOutcome
from jury_providers.errors import ProviderError

UNPARSEABLE = "unparseable"
WRONG_BALLOT = "wrong_ballot"
UNUSABLE_ANSWERS = (UNPARSEABLE, WRONG_BALLOT)
"""Unusable answers: prose instead of JSON, another seat's ballot."""

PERSUADED = "persuaded"
MISQUOTED = "misquoted"
WRONG_ANSWERS = (PERSUADED, MISQUOTED)
"""Usable answers: in a discussion the position of most of the others, a quotation that stands nowhere."""

FAULTS = (*(outcome.value for outcome in CallOutcome), *UNUSABLE_ANSWERS, *WRONG_ANSWERS)

WIRE_FAULTS = (
    "html",
    "malformed_json",
    "truncated_json",
    "empty",
    "dropped_stream",
    "slow_drip",
    "wrong_model",
)
"""Faults of a response on its way to the client; only a server (`jury simulate`) supports them."""

DECISION_FAULTS = (
    "wrong_sum",
    "unknown_label",
    "missing_label",
    "doubled_label",
    "not_a_number",
    "negative",
    "no_answer",
)
"""Faults of a decision model's answer; another model answers as if there were none."""

_RETRIED = frozenset(
    {"rate_limited", "overloaded", "timeout", "connection", "malformed_response", "authentication", "quota"}
)
_SEED = re.compile(r"-?[0-9]{1,18}")
_LONGEST = 3600.0
_WIDEST = 10.0
_MOST_POINTS = 100
_SETTINGS = ("latency", "sigma", "seed", "answers")
ANSWERS = ("read", "scripted")


class BadScript(ProviderError):
    """A setting of the simulated models is invalid; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Script:
    """The behaviour of simulated models.

    Args:
        latency: mean seconds of a call; 0 answers at once.
        rates: probability of each fault, by its name.
        scripted: faults of a step's calls, in order, by a pattern (`fnmatch`) of the step (`initial/gpt`), of
            `debate/step` or of the whole trace. A fault is an outcome's name (`answered`: none), `unparseable`,
            `wrong_ballot`, or what a juror says: `persuaded`, `misquoted`. For a fallback model they start again at the
            first; name the model in the pattern to exclude it.
        answers: `read`: jurors read the case; `scripted`: fixed answers without reading, for benchmarks.
        points: the points, 0-100, that a juror comes to by its own reading in a step, by a pattern as in `scripted`: it
            has a position of its own then, and may change it.
    """

    faults: ClassVar[tuple[str, ...]] = FAULTS
    """The names of the supported faults."""

    latency: float = 0.0
    sigma: float = 0.5
    rates: Mapping[str, float] = field(default_factory=dict)
    scripted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int = 0
    answers: str = "read"
    points: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value, most in (("latency", self.latency, _LONGEST), ("sigma", self.sigma, _WIDEST)):
            if not 0 <= value <= most:
                raise BadScript(f"{name}: must be a number from 0 to {most:g}, not {value:g}")
        if self.answers not in ANSWERS:
            raise BadScript(f"answers: {self.answers[:40]!r} is none of {', '.join(ANSWERS)}")
        self._check_rates()
        for pattern, points in self.points.items():
            if not 0 <= points <= _MOST_POINTS:
                raise BadScript(f"points {pattern!r}: must be a number from 0 to {_MOST_POINTS}, not {points:g}")
        for pattern, faults in self.scripted.items():
            for fault in faults:
                if fault not in self.faults:
                    raise BadScript(f"scripted {pattern!r}: {fault!r} is none of {', '.join(self.faults)}")

    def _check_rates(self) -> None:
        for name, rate in self.rates.items():
            if name == CallOutcome.ANSWERED.value:
                raise BadScript("rates: answered is what remains; give the rates of failures")
            if name not in self.faults:
                raise BadScript(f"rates: {name!r} is none of {', '.join(self.faults)}")
            if not 0 <= rate <= 1:
                raise BadScript(f"{name}: a probability is a number from 0 to 1, not {rate:g}")
        if (total := sum(self.rates.values())) > 1 + 1e-9:
            raise BadScript(f"rates: add up to {total:g}; together at most 1")

    def seconds(self, trace: str) -> float:
        """The latency of a call in seconds."""
        if not self.latency:
            return 0.0
        first, second, _ = self._chances(trace)
        normal = math.sqrt(-2 * math.log(1 - first)) * math.cos(2 * math.pi * second)
        return self.latency * math.exp(self.sigma * normal - self.sigma**2 / 2)

    def points_of(self, trace: str) -> float | None:
        """The points of the call debate/step/model/turn/try; None: those of its reading."""
        names = _names(trace, _place(trace)[0]) if self.points else ()
        return next((points for pattern, points in self.points.items() if _fits(names, pattern)), None)

    def fault(self, trace: str) -> str | None:
        """The fault of the call debate/step/model/turn/try, one of `faults`; None: no fault."""
        if not self.scripted and not self.rates:
            return None
        head, turn, attempt = _place(trace)
        return self._drawn_fault(trace, head, lambda faults: _at(faults, turn, attempt))

    def fault_of_call(self, conversation: str, count: int) -> str | None:
        """The fault of the `count`-th call, from 1, of debate/step/model, regardless of turn and try."""
        head = conversation.rpartition("/")[0]
        return self._drawn_fault(f"{conversation}/{count}", head, lambda faults: next(iter(faults[count - 1 :]), None))

    def _drawn_fault(self, trace: str, head: str, choose: Callable[[tuple[str, ...]], str | None]) -> str | None:
        """The fault named by the first matching pattern, else a random one; `head` is debate/step."""
        if self.scripted:
            names = _names(trace, head)
            for pattern, faults in self.scripted.items():
                if _fits(names, pattern):
                    found = choose(faults)
                    return None if found == CallOutcome.ANSWERED.value else found
        if self.rates:
            chance = self._chances(trace)[2]
            # In this order, so that an added rate does not change the draws of those before it.
            for name in self.faults:
                chance -= self.rates.get(name, 0.0)
                if chance < 0:
                    return name
        return None

    def _chances(self, trace: str) -> tuple[float, float, float]:
        drawn = blake2b(f"{self.seed}\0{trace}".encode("utf-8", "surrogatepass"), digest_size=24).digest()
        first, second, third = (int.from_bytes(drawn[at : at + 6]) / 2**48 for at in (0, 8, 16))
        return first, second, third


@dataclass(frozen=True, kw_only=True)
class WireScript(Script):
    """The behaviour of simulated models behind a server, with wire faults and those of decision models in addition."""

    faults: ClassVar[tuple[str, ...]] = (*FAULTS, *WIRE_FAULTS, *DECISION_FAULTS)


NO_FAULTS = Script()
"""No latency, no faults."""


def _names(trace: str, head: str) -> tuple[str, ...]:
    """What a pattern may name: the call, `debate/step`, the step."""
    return trace, head, head.partition("/")[2]


def _fits(names: tuple[str, ...], pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _place(trace: str) -> tuple[str, int, int]:
    """`debate/step`, turn and try of a trace; its segments contain no slash."""
    head, _model, turn, attempt = ("/" * 3 + trace).rsplit("/", 3)
    # The turn of a call that shows a part of a record has the part before it: `3.1:2`.
    part, colon, turn = turn.rpartition(":")
    return f"{head.lstrip('/')}{colon}{part}", _count(turn), _count(attempt)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 1


def _at(faults: tuple[str, ...], turn: int, attempt: int) -> str | None:
    """The fault of one call: service failures are retried in the same turn, all others start a new turn."""
    place = (1, 1)
    for fault in faults:
        if place == (turn, attempt):
            return fault
        place = (place[0], place[1] + 1) if fault in _RETRIED else (place[0] + 1, 1)
    return None


def parse_script(pairs: Mapping[str, str], kind: type[Script] = Script) -> Script:
    """A script from `latency=0.5 sigma=0.5 timeout=0.05 unparseable=0.1 seed=3`; `kind` defines the valid faults."""
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
        answers=pairs.get("answers", NO_FAULTS.answers),
    )


def _number(pairs: Mapping[str, str], name: str, default: float) -> float:
    if name not in pairs:
        return default
    try:
        return float(pairs[name])
    except ValueError:
        raise BadScript(f"{name}: must be a number, not {pairs[name]!r}") from None
