"""What is known of models (`models.toml`): shutdowns, what is kept of prompts, lengths, the settings that they take.

What a panel's models do not take is said before the first call.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from jury_debate.decision_seats import DECISION_PROTOCOLS
from jury_events.exchange import CacheLifetime
from jury_events.models import is_other_model, own_id
from jury_events.panel import CallSettings, Effort, FinalJudge, Panel, Seat
from jury_providers.endpoints import PROTOCOL_DEFAULTS, ApiProtocol, Endpoints, endpoint_of

SMALLEST_CACHE_TOKENS = 1024
"""Of models of which nothing is known."""


class Retirement(NamedTuple):
    """An announced shutdown."""

    end: date
    successor: str
    rerouted: bool = False


class ModelFacts(NamedTuple):
    """What a model takes over one API; where nothing is known, everything.

    `sampling`: when temperature and top_p are taken. `efforts`: the words that are taken, () for none. `verbosity`:
    whether it is taken. `thinking`: the words that are taken, and `budget` for a number. `smallest_cache`: tokens of
    the shortest prompt that the provider keeps.
    """

    sampling: Literal["always", "without effort", "never"] = "always"
    tools: bool = True
    efforts: tuple[str, ...] = get_args(Effort)
    verbosity: bool = True
    thinking: tuple[str, ...] = ("adaptive", "off", "budget")
    smallest_cache: int = SMALLEST_CACHE_TOKENS


class ModelLengths(NamedTuple):
    """In tokens, None: not known. `window`: request and answer together. `longest_answer`: with its thoughts."""

    window: int | None = None
    longest_answer: int | None = None


@cache
def _data() -> Mapping[str, Any]:
    text = (files("jury_providers") / "models.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def retirements() -> Mapping[str, Retirement]:
    """By `provider/model`."""
    return {name: Retirement(**entry) for name, entry in _data()["shutdown"].items()}


@cache
def model_facts(api: str, model: str) -> ModelFacts:
    """What is known of `model` (the provider's own id, or a cloud's) over the API `api`."""
    name = own_id(model)
    found: dict[str, Any] = {}
    for entry in _data()["model"]:
        if entry["api"] == api and any(fnmatchcase(name, pattern) for pattern in entry["models"]):
            found = entry | found
    facts: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value
        for field, value in found.items()
        if field in ModelFacts._fields
    }
    return ModelFacts(**facts)


@cache
def model_lengths(model: str) -> ModelLengths:
    """The lengths of `model` (the provider's own id, or a cloud's) where a source names them."""
    name = own_id(model)
    for entry in _data()["length"]:
        if any(not is_other_model(one, name) for one in entry["models"]):
            return ModelLengths(entry["window"], entry.get("longest_answer"))
    return ModelLengths()


@cache
def batch_facts(api: str) -> Mapping[str, Any]:
    """The limits of batches over the API `api`, as `jury_providers.batches.provider` names them."""
    facts: Mapping[str, Any] = _data()["batches"][api]
    return facts


def retirement_warnings(models: Iterable[str], today: date) -> list[str]:
    """One line for each of `models` (`provider/model`) that is retired or has a shutdown date."""
    lines = []
    for model in models:
        listed = model.replace("openai-responses/", "openai/", 1)
        provider = listed.partition("/")[0]
        for name, retirement in _data()["shutdown"].items():
            if name.startswith(f"{provider}/") and not is_other_model(name, listed):
                lines.append(_warning(model, Retirement(**retirement), today))
                break
    return lines


def _warning(model: str, retirement: Retirement, today: date) -> str:
    past = retirement.end <= today
    if retirement.rerouted:
        rerouting = "another model answers silently" if past else "another model will answer silently"
        when = f"{'was' if past else 'is to be'} shut down on {retirement.end}, and {rerouting}"
    else:
        when = f"was retired about {retirement.end}" if past else f"is to be shut down on {retirement.end}"
    return f"{model} {when}; ask {retirement.successor} instead"


_KEEP_ASKED = frozenset({"auto", "off", None})


class _Takes(NamedTuple):
    tiers: tuple[str, ...]
    thinking: bool
    top_p: bool


_OPENAI = _Takes(("standard", "flex", "priority"), thinking=False, top_p=True)
_PROTOCOLS: dict[str, _Takes] = {
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    # Its tier `priority` is capacity that an organisation has bought, without a price of a call.
    "anthropic": _Takes(("standard",), thinking=True, top_p=False),
    "google": _Takes(("standard", "flex", "priority"), thinking=True, top_p=True),
    **dict.fromkeys(DECISION_PROTOCOLS, _Takes(("standard",), thinking=False, top_p=False)),
}

LEAST_BUDGET = 1024
"""Tokens of thinking that Anthropic takes."""


def refused_settings(protocol: ApiProtocol, model: str, settings: CallSettings, *, tools: bool) -> tuple[str, ...]:
    """What is not taken, one clause each with the remedy; () if everything is.

    Args:
        tools: whether tools may be offered.
    """
    takes, facts = _PROTOCOLS[protocol], model_facts(protocol, model)
    if protocol in DECISION_PROTOCOLS:  # what else is set is not sent: see `ignored_settings`
        return tuple(_refused_carriage(protocol, model, takes, settings))
    return (
        *_refused_thinking(protocol, takes, facts, settings),
        *_refused_sampling(takes, facts, settings),
        *_refused_carriage(protocol, model, takes, settings),
        *(_refused_tools(facts) if tools else ()),
    )


def _refused_thinking(protocol: ApiProtocol, takes: _Takes, facts: ModelFacts, settings: CallSettings) -> Iterator[str]:
    effort, thinking = settings.effort, settings.thinking
    if effort is not None and effort not in facts.efforts:
        remedy = f"write one of {', '.join(facts.efforts)}" if facts.efforts else "leave it out"
        yield f"effort {effort} is not taken; {remedy}"
    if settings.verbosity is not None and not facts.verbosity:
        yield "verbosity is not taken; leave it out"
    if thinking is None:
        return
    if not takes.thinking:
        yield "thinking is not taken; set effort instead"
    elif ("budget" if isinstance(thinking, int) else thinking) not in facts.thinking:
        words = " or ".join("a number of tokens" if word == "budget" else word for word in facts.thinking)
        yield f"thinking {thinking} is not taken; write {words}"
    elif protocol == "google" and effort is not None:
        yield "effort and thinking exclude each other; leave one of them out"
    elif (
        protocol == "anthropic"
        and isinstance(thinking, int)
        and not LEAST_BUDGET <= thinking < settings.max_output_tokens
    ):
        yield (
            f"thinking {thinking} is not taken; write {LEAST_BUDGET} or more tokens, "
            f"and fewer than max_output_tokens ({settings.max_output_tokens})"
        )


def _refused_sampling(takes: _Takes, facts: ModelFacts, settings: CallSettings) -> Iterator[str]:
    if settings.top_p is not None and not takes.top_p:
        yield "top_p is not taken; leave it out"
        return
    for name, value in (("temperature", settings.temperature), ("top_p", settings.top_p)):
        if value is None:
            continue
        if facts.sampling == "never":
            yield f"{name} is not taken; leave it out"
        elif facts.sampling == "without effort" and settings.effort != "none":
            yield f"{name} is taken only with effort none; write that, or leave {name} out"


def _refused_carriage(protocol: ApiProtocol, model: str, takes: _Takes, settings: CallSettings) -> Iterator[str]:
    if settings.tier is not None and settings.tier not in takes.tiers:
        yield f"tier {settings.tier} is not offered; write {' or '.join(takes.tiers)}"
    offered = lifetimes(protocol, model)
    if settings.cache not in _KEEP_ASKED and settings.cache not in offered:
        yield f"cache {settings.cache} is not offered; write one of {', '.join(('auto', 'off', *offered))}"


def _refused_tools(facts: ModelFacts) -> Iterator[str]:
    if not facts.tools:
        yield "tools are taken over the Responses API only; write openai-responses/… or artifacts: {mode: summary}"


_NOT_SENT: dict[str, tuple[str, ...]] = {
    "anthropic": ("temperature", "seed"),
    "openai-responses": ("seed",),
    **dict.fromkeys(DECISION_PROTOCOLS, ("temperature", "top_p", "seed", "effort", "thinking", "verbosity")),
}
_DEPRECATED: dict[ApiProtocol, tuple[str, ...]] = {"google": ("temperature", "top_p")}
_DEPRECATED_SINCE = "2026-07-21"


def ignored_settings(protocol: ApiProtocol, model: str, settings: CallSettings, *, own_server: bool) -> Iterator[str]:
    """What a seat's settings do not change, or soon will not, one clause each with the remedy.

    Args:
        own_server: whether the provider is a server of one's own, which deprecates what it likes.
    """
    for name in _NOT_SENT.get(protocol, ()):
        if getattr(settings, name) is not None:
            yield f"{name} is not sent, since the API has none; leave it out"
    longest = None if own_server else model_lengths(model).longest_answer
    if longest is not None and settings.max_output_tokens > longest:
        yield f"max_output_tokens is more than its longest answer, {longest:,}, and may be refused; write {longest}"
    for name in () if own_server else _DEPRECATED.get(protocol, ()):
        if getattr(settings, name) is not None:
            yield f"{name} is deprecated since {_DEPRECATED_SINCE}, and may be ignored or refused; leave it out"


_GPT = re.compile(r"(?:^|/)gpt-(\d+)(?:\.(\d+))?(?!\d)")


_FIRST_MARKED = (5, 6)
"""Earlier models answer 400 to a mark."""


def lifetimes(protocol: ApiProtocol, model: str) -> tuple[CacheLifetime, ...]:
    """The lifetimes that a call may ask for, the shortest first; (): the provider keeps what it likes."""
    if protocol in DECISION_PROTOCOLS or protocol == "google":
        return ()
    if protocol == "anthropic":
        return ("5m", "1h")
    if not _takes_marks(model):
        return ()
    return ("30m", "12h") if protocol == "openai-responses" else ("30m",)


def _takes_marks(model: str) -> bool:
    found = _GPT.search(own_id(model))
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _FIRST_MARKED


_Place = TypeVar("_Place", Seat, FinalJudge)


def known_window(model: str, endpoints: Endpoints) -> int | None:
    """The tokens of the request and the answer together that `provider/model` takes; None: not known.

    Nothing is assumed of the models of a server with a base URL of its own, or of an installed provider; nor of
    OpenAI's in its Decisions API, which may take less than they do elsewhere.
    """
    provider, _, name = model.partition("/")
    endpoint = endpoint_of(provider, endpoints)
    if endpoint.window is not None:
        return endpoint.window
    if endpoint.base_url is not None and endpoint.cloud is None:
        return None
    protocol = endpoint.protocol or provider
    known = protocol in PROTOCOL_DEFAULTS and protocol != "openai-decisions"
    return model_lengths(name).window if known else None


def with_windows(panel: Panel, endpoints: Endpoints) -> Panel:
    """The panel whose seats and final judge name the smallest known window of their models, where they name none.

    A debate that is opened with it is read by these windows, whatever is known later.
    """
    judge = panel.final.judge
    return panel.model_copy(
        update={
            "seats": tuple(map(_windowed, panel.seats, repeat(endpoints))),
            "final": panel.final.model_copy(update={"judge": judge and _windowed(judge, endpoints)}),
        }
    )


def _windowed(place: _Place, endpoints: Endpoints) -> _Place:
    if place.window is not None:
        return place
    known = filter(None, map(known_window, (place.model, *place.fallbacks), repeat(endpoints)))
    return place.model_copy(update={"window": min(known, default=None)})
