"""What is known of models (`models.toml`): shutdowns, settings that they take, what is kept of prompts, lengths."""

import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

from jury_events.models import is_other_model, own_id
from jury_events.panel import Effort

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
        for name, retirement in retirements().items():
            if name.startswith(f"{provider}/") and not is_other_model(name, listed):
                lines.append(_warning(model, retirement, today))
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
