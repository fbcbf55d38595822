"""What is known of models that end: when, what happens to their name, and which model is asked instead."""

import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jury_events.models import is_other_model


class Ending(NamedTuple):
    """See `models.toml`."""

    end: date
    successor: str
    rerouted: bool = False


@cache
def endings() -> Mapping[str, Ending]:
    """By `provider/model`."""
    text = (files("jury_providers") / "models.toml").read_text(encoding="utf-8")
    return {name: Ending(**entry) for name, entry in tomllib.loads(text).items()}


def warnings_of(models: Iterable[str], today: date) -> list[str]:
    """One line for each of `models` (`provider/model`) that is retired, or will be."""
    return [_warning(model, ending, today) for model in models if (ending := _ending(model)) is not None]


def _ending(model: str) -> Ending | None:
    """A dated snapshot ends with its model."""
    provider = model.partition("/")[0]
    for name, ending in endings().items():
        if name.startswith(f"{provider}/") and not is_other_model(name, model):
            return ending
    return None


def _warning(model: str, ending: Ending, today: date) -> str:
    over = ending.end <= today
    if ending.rerouted:
        what = "another model answers silently" if over else "another model will answer silently"
        when = f"{'was' if over else 'is to be'} shut down on {ending.end}, and {what}"
    else:
        when = f"was retired about {ending.end}" if over else f"is to be shut down on {ending.end}"
    return f"{model} {when}; ask {ending.successor} instead"
