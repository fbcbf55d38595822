"""The recipients of a panel's case data: each provider with its host and models."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from jury_events.panel import Panel
from jury_providers.clouds import CLOUDS
from jury_providers.dialects import profiles
from jury_providers.endpoints import PROTOCOL_DEFAULTS, Endpoints, connection_of, endpoint_of
from jury_providers.errors import BadVariable
from jury_providers.registry import SIMULATED, protocol_of


def recipients(panel: Panel, endpoints: Endpoints, environ: Mapping[str, str] | None) -> tuple[str, ...]:
    """A line for each provider whose models may be called, seats first.

    Args:
        endpoints: from the panel file.
        environ: the environment with base URLs; None: it is that of other machines, so unknown.
    """
    primary = {place.model for place in panel.seats_and_judge}
    by_provider: dict[str, list[str]] = {}
    for model in panel.models:
        name, _, bare = model.partition("/")
        by_provider.setdefault(name, []).append(bare if model in primary else f"{bare} as a fallback")
    return tuple(_line(name, ", ".join(models), endpoints, environ) for name, models in by_provider.items())


def same_model_warning(panel: Panel) -> str | None:
    """A warning if all seats are one model, or the final judge is the model of a seat; else None."""
    judge = panel.final.judge
    seats = () if judge is None else panel.seats_of(judge.model)
    if (alike := one_model_warning(panel)) is not None or judge is None or not seats:
        return alike
    return (
        f"the final judge {judge.model} is also the model of {', '.join(seats)}, so it judges its own statements; "
        "name another model as final.judge"
    )


def one_model_warning(panel: Panel) -> str | None:
    """A warning if all seats are one model, which is called; else None."""
    (model, *others) = dict.fromkeys(seat.model for seat in panel.seats)
    if others or len(panel.seats) == 1 or model.startswith(f"{SIMULATED}/"):
        return None
    judge = panel.final.judge
    also = "" if judge is None or judge.model != model else ", and so is the final judge"
    return (
        f"all {len(panel.seats)} seats are {model}{also}: they mostly err together, so their agreement says less than "
        "that of several models; jury stats counts on labelled cases how many independent votes they are worth"
    )


def _line(name: str, models: str, endpoints: Endpoints, environ: Mapping[str, str] | None) -> str:
    if name == SIMULATED:
        return f"simulated ({models}): no model is called, nothing is sent"
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    if protocol is None:
        return f"case data may go to the installed provider {name} ({models}), which decides where it is sent"
    cloud = None if endpoint.cloud is None else CLOUDS[protocol].get(endpoint.cloud)
    if cloud is not None and endpoint.base_url is None:
        return f"case data may be sent to {cloud.name}, where the SDK's settings lead ({name}: {models})"
    own = PROTOCOL_DEFAULTS[protocol]
    try:
        base_url = endpoint.base_url or (connection_of(name, protocol, endpoint, environ).base_url if environ else None)
    except BadVariable:
        base_url = None  # refused before anything is sent
    if base_url is None:
        elsewhere = "" if environ is not None else f", or where {own.base_url} on the cluster's nodes leads"
        return f"case data may be sent to https://{own.host} ({name}: {models}){elsewhere}"
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2].lower()
    by = "" if endpoint.base_url is not None else f" by {own.base_url}"
    foreign = "" if host == own.host or name in profiles() else f"{by}, which is not {own.host}"
    return f"case data may be sent to {parts.scheme}://{host} ({name}: {models}){foreign}"
