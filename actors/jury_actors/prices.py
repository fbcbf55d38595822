"""What models cost: list prices shipped with the package (`prices.toml`), and a person's own before them."""

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from jury_actors.errors import ActorError
from jury_actors.providers.provider import ModelReply
from jury_actors.providers.registry import SIMULATED
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.unknown_fields import first_complaint, hint
from jury_events.value import Value
from jury_store import regular_files

PRICES = "JURY_PRICES"
"""The variable that names a person's own file."""

_MILLION = 1_000_000
_MAX_BYTES = 1 << 20
_SNAPSHOT = re.compile(r"[-@](20[0-9]{2}-[0-9]{2}-[0-9]{2}|20[0-9]{6})$")
_HEADER = re.compile(r"^\s*\[\[\s*price\s*\]\]", re.MULTILINE)

_NOT_BILLED = frozenset(
    {
        CallOutcome.RATE_LIMITED,
        CallOutcome.OVERLOADED,
        CallOutcome.AUTHENTICATION,
        CallOutcome.QUOTA,
        CallOutcome.BAD_REQUEST,
        CallOutcome.CONTEXT_TOO_LONG,
    }
)
"""Refused before a model read anything. A timeout or a lost connection may be billed: what it cost is not known."""


def _of_a_provider(pattern: str) -> str:
    if "/" not in pattern and not pattern.startswith("*"):
        raise ValueError(f"{pattern!r} matches no model; write provider/model, as in openai/gpt-5.4-mini")
    return pattern


ModelPattern = Annotated[str, Field(max_length=300), AfterValidator(_of_a_provider)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]


class BadPrices(ActorError):
    """A file of prices cannot be used; the message names the file, the line and the field."""


class Price(Value):
    """US dollars for a million tokens of the models that match one of the patterns (`fnmatch` of `provider/model`).

    Reasoning counts as output. `cached_input` None: as any other input. `prompt_over`: for prompts of more tokens than
    that. `until`: the last day on which it holds.
    """

    models: Annotated[tuple[ModelPattern, ...], Field(min_length=1, strict=False)]
    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    prompt_over: Annotated[int, Field(ge=0)] | None = None
    until: date | None = None

    def holds(self, model: str, tokens: int, on: date) -> bool:
        """For a prompt of so many tokens to `provider/model`; a dated snapshot costs what its alias does."""
        return (
            (self.prompt_over is None or tokens > self.prompt_over)
            and (self.until is None or on <= self.until)
            and any(fnmatchcase(name, one) for name in {model, _SNAPSHOT.sub("", model)} for one in self.models)
        )


class _PriceFile(Value):
    as_of: date | None = None
    price: Annotated[tuple[Price, ...], Field(strict=False)] = ()


class Prices(NamedTuple):
    """In order: the first price that holds counts. A model without one costs nobody knows what."""

    prices: tuple[Price, ...] = ()

    def knows(self, model: str, on: date) -> bool:
        """Whether `provider/model` has a price."""
        return self._of(model, 0, on) is not None

    def cost(self, model: str, usage: Usage, on: date) -> float | None:
        """Of one call, in US dollars; None where price or usage is not known.

        No call has an empty prompt: a usage of 0 for it is no usage, and makes no priced model free.
        """
        price = self._of(model, usage.input_tokens or 0, on)
        if price is _FREE:
            return 0.0
        if price is None or not usage.input_tokens or usage.output_tokens is None:
            return None
        cached = min(usage.cached_input_tokens or 0, usage.input_tokens)
        cached_price = price.input if price.cached_input is None else price.cached_input
        fresh = (usage.input_tokens - cached) * price.input
        return (fresh + cached * cached_price + usage.output_tokens * price.output) / _MILLION

    def most(self, model: str, input_tokens: int, settings: CallSettings, on: date) -> float | None:
        """What a call can cost that sends so many tokens at most, and is answered at its full length."""
        return self.cost(model, Usage(input_tokens=input_tokens, output_tokens=settings.max_output_tokens), on)

    def _of(self, model: str, tokens: int, on: date) -> Price | None:
        if model.startswith(f"{SIMULATED}/"):
            return _FREE
        return next((price for price in self.prices if price.holds(model, tokens, on)), None)


_FREE = Price(models=(f"{SIMULATED}/*",), input=0.0, output=0.0)


def cost_of(model: str, reply: ModelReply, prices: Prices, on: date, *, simulated: bool) -> float | None:
    """What a call cost: what the provider says, else what the prices say for the model that was asked; None: unknown.

    Where no model answered (`simulated`), and where a call was refused before one did, it cost nothing.
    """
    if reply.cost is not None and not reply.simulated:
        return reply.cost
    if simulated or reply.outcome in _NOT_BILLED:
        return 0.0
    return prices.cost(model, reply.usage, on)


def load_prices(path: str | None = None) -> Prices:
    """The prices of a person's file, where one is named, and after them the list prices.

    Raises:
        BadPrices: the file cannot be read.
    """
    own = () if path is None else _read(path)
    return Prices((*own, *_list_prices()))


@cache
def _list_prices() -> tuple[Price, ...]:
    source = files("jury_actors").joinpath("prices.toml")
    return _parse(source.read_text("utf-8"), "prices.toml")


def _read(path: str) -> tuple[Price, ...]:
    try:
        text = regular_files.read_text(Path(path), _MAX_BYTES)
    except FileNotFoundError:
        raise BadPrices(f"{path}: there is no such file of prices") from None
    except regular_files.FileTooLarge as error:
        raise BadPrices(f"{path}: {error.strerror}; is this a file of prices?") from None
    except UnicodeDecodeError as error:
        raise BadPrices(f"{path}:{regular_files.line_of(error)}: not UTF-8; save the file as UTF-8") from None
    except (OSError, ValueError) as error:
        raise BadPrices(f"{path}: cannot be read: {regular_files.read_failure(error)}") from None
    return _parse(text, path)


def _parse(text: str, name: str) -> tuple[Price, ...]:
    try:
        return _PriceFile.model_validate(tomllib.loads(text)).price
    except tomllib.TOMLDecodeError as error:
        raise BadPrices(f"{name}: not TOML: {error}") from None
    except ValidationError as error:
        first = first_complaint(error.errors(include_url=False))
        line = _line(text, first["loc"])
        field = ".".join(str(part) for part in first["loc"])
        message = (
            f"there is no such field{hint(first, _PriceFile)}"
            if first["type"] == "extra_forbidden"
            else first["msg"].removeprefix("Value error, ")
        )
        raise BadPrices(f"{name}{f':{line}' if line else ''}: {field}: {message}") from None


def _line(text: str, place: Iterable[int | str]) -> int | None:
    """Of the entry that a complaint is about, or of its field."""
    index, *rest = (*(part for part in place if part != "price"), "")
    starts = [found.start() for found in _HEADER.finditer(text)]
    if not isinstance(index, int) or index >= len(starts):
        return None
    end = starts[index + 1] if index + 1 < len(starts) else len(text)
    field = re.compile(rf"^\s*{re.escape(str(rest[0]))}\s*=", re.MULTILINE)
    at = field.search(text, starts[index], end)
    position = starts[index] if at is None else at.end()
    return text.count("\n", 0, position) + 1
