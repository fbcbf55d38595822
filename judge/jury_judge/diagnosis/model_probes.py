"""Whether the models of a panel answer: each is called once, for real."""

from collections.abc import AsyncGenerator

from jury_events.models import is_other_model
from jury_events.panel import CallSettings
from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.panels.files import LoadedPanel
from jury_providers.probe import ProbeResult, decision_models, probe, probe_settings
from jury_providers.registry import provider_factory
from jury_providers.windows import known_window


async def probed(loaded: LoadedPanel) -> AsyncGenerator[DiagnosisFinding, None]:
    """How many calls are made, then a finding for each; a problem where a seat's model does not answer.

    Raises:
        UnknownProvider: a model's provider does not exist.
    """
    calls: dict[str, CallSettings] = {}
    for panel in loaded.panels:
        calls = {**probe_settings(panel), **calls}
    longest = max(settings.attempt_seconds for settings in calls.values())
    yield DiagnosisFinding(
        "note", f"probing: {pluralize(len(calls), 'call')}, one for each model of the panel, for up to {longest:g} s"
    )
    primary = {place.model for panel in loaded.panels for place in panel.seats_and_judge}
    deciding = frozenset(model for panel in loaded.panels for model in decision_models(panel))
    for one in await probe(calls, provider_factory(endpoints=loaded.endpoints), deciding):
        yield _found(one, needed=one.model in primary)
        served = one.served
        if served.shutdown is not None:
            yield DiagnosisFinding(
                "warning", f"{one.model}: its provider says that it is to be shut down on {served.shutdown}"
            )
        if (found := _window(one.model, served.lengths.window, loaded)) is not None:
            yield found


def _window(model: str, served: int | None, loaded: LoadedPanel) -> DiagnosisFinding | None:
    """What the server says of the model's window, where less than that or nothing was known."""
    known = known_window(model, loaded.endpoints)
    if served is None or (known is not None and known <= served):
        return None
    said = f"{model}: its server says that its window is {served:,} tokens"
    remedy = f"write window: {served} at providers.{model.partition('/')[0]}"
    if known is None:
        return DiagnosisFinding("note", f"{said}; so that cases are compared with it, {remedy}")
    return DiagnosisFinding("warning", f"{said}, fewer than the {known:,} that are assumed; {remedy}")


def _found(one: ProbeResult, *, needed: bool) -> DiagnosisFinding:
    reply = one.reply
    took = f"{one.seconds * 1000:.0f} ms"
    if not one.answers:
        said = visible_line(reply.error or "no reason given", 300)
        return DiagnosisFinding(
            "problem" if needed else "warning", f"{one.model}: {reply.outcome} after {took}: {said}"
        )
    answered_by = visible_line(reply.model_version or "the provider does not say which model", 100)
    answered = f"{one.model}: {reply.outcome} in {took} by {answered_by}"
    if one.simulated:
        return DiagnosisFinding("ok", f"{answered} (simulated: no model was called)")
    if is_other_model(one.model, reply.model_version):
        return DiagnosisFinding("warning", f"{answered}, which is another model")
    return DiagnosisFinding("ok", answered)
