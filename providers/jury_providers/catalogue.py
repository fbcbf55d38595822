"""Shutdown dates of models, whether calls are rerouted afterwards, and each model's successor."""

import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jury_events.models import is_other_model


class Retirement(NamedTuple):
    """One entry of `models.toml`."""

    end: date
    successor: str
    rerouted: bool = False


@cache
def retirements() -> Mapping[str, Retirement]:
    """By `provider/model`."""
    text = (files("jury_providers") / "models.toml").read_text(encoding="utf-8")
    return {name: Retirement(**entry) for name, entry in tomllib.loads(text).items()}


def retirement_warnings(models: Iterable[str], today: date) -> list[str]:
    """One line for each of `models` (`provider/model`) that is retired or has a shutdown date."""
    return [_warning(model, known, today) for model in models if (known := _retirement(model)) is not None]


def _retirement(model: str) -> Retirement | None:
    """A dated snapshot retires with its model."""
    provider = model.partition("/")[0]
    for name, retirement in retirements().items():
        if name.startswith(f"{provider}/") and not is_other_model(name, model):
            return retirement
    return None


def _warning(model: str, retirement: Retirement, today: date) -> str:
    past = retirement.end <= today
    if retirement.rerouted:
        rerouting = "another model answers silently" if past else "another model will answer silently"
        when = f"{'was' if past else 'is to be'} shut down on {retirement.end}, and {rerouting}"
    else:
        when = f"was retired about {retirement.end}" if past else f"is to be shut down on {retirement.end}"
    return f"{model} {when}; ask {retirement.successor} instead"
