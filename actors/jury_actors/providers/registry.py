"""Which providers there are. Each is imported only by a process that uses it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jury_actors.errors import UnknownProvider
from jury_actors.providers.provider import Provider
from jury_actors.providers.simulated.script import AS_USUAL, Script
from jury_events.panel import Panel


def _simulated(script: Script) -> Provider:
    from jury_actors.providers.simulated.provider import SimulatedProvider  # noqa: PLC0415  (only where it is used)

    return SimulatedProvider(script)


_MAKERS: Mapping[str, Callable[[Script], Provider]] = MappingProxyType({"simulated": _simulated})

KNOWN_PROVIDERS = tuple(_MAKERS)


@dataclass(frozen=True)
class ProviderFactory:
    """Makes providers by name; travels to worker processes."""

    script: Script = AS_USUAL

    def __call__(self, name: str) -> Provider:
        """A new client of the provider `name`.

        Raises:
            UnknownProvider: there is none of that name.
        """
        maker = _MAKERS.get(name)
        if maker is None:
            raise UnknownProvider(f"there is no provider {name!r}; the providers: {', '.join(KNOWN_PROVIDERS)}")
        return maker(self.script)


def provider_factory(script: Script = AS_USUAL) -> Callable[[str], Provider]:
    """What gives a juror its providers; `script` is how simulated models behave."""
    return ProviderFactory(script)


def check_models(panel: Panel) -> None:
    """See that every model of a panel, fallbacks included, has a provider.

    Raises:
        UnknownProvider: names the first seat (or the final judge) and the model without one.
    """
    places = [(f"seat {seat.juror_id}", (seat.model, *seat.fallbacks)) for seat in panel.seats]
    if panel.final.judge is not None:
        places.append(("the final judge", (panel.final.judge.model, *panel.final.judge.fallbacks)))
    for place, models in places:
        for model in models:
            provider = model.partition("/")[0]
            if provider not in _MAKERS:
                raise UnknownProvider(
                    f"{place}: model {model!r} needs the provider {provider!r}; the providers: "
                    f"{', '.join(KNOWN_PROVIDERS)}"
                )
