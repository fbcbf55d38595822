"""Whether the models of a panel answer: each is called once, for real."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

from jury_events.models import is_other_model
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.text import pluralize, visible_line
from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.panels.dialect_writing import Dialects, shown, write_dialects
from jury_judge.panels.files import LoadedPanel
from jury_providers.endpoints import endpoint_of
from jury_providers.model_limits import known_window
from jury_providers.probe import ProbeResult, decision_models, is_usable, probe, probe_settings
from jury_providers.registry import provider_factory


async def probed(loaded: LoadedPanel, file: str | None = None) -> AsyncGenerator[DiagnosisFinding, None]:
    """How many calls are made, then a finding for each; a problem where a seat's model does not answer.

    Args:
        loaded: the panel.
        file: the panel file, into which is written how servers take calls, where it does not say so; None: that is
            a finding.

    Raises:
        UnknownProvider: a model's provider does not exist.
        PanelFileError: the file cannot be written.
    """
    calls: dict[str, CallSettings] = {}
    for panel in loaded.panels:
        calls = {**probe_settings(panel), **calls}
    longest = max(settings.attempt_seconds for settings in calls.values())
    said = f"probing: {pluralize(len(calls), 'call')}, one for each model of the panel, for up to {longest:g} s"
    servers = (endpoint_of(model.partition("/")[0], loaded.endpoints) for model in calls)
    if any(server.protocol == "openai" and server.base_url is not None for server in servers):
        said += "; of servers of Chat Completions beside OpenAI's a few more find out what they take"
    yield DiagnosisFinding("note", said)
    primary = {place.model for panel in loaded.panels for place in panel.seats_and_judge}
    deciding = frozenset(model for panel in loaded.panels for model in decision_models(panel))
    results = await probe(calls, provider_factory(endpoints=loaded.endpoints), deciding)
    dialects = {one.model.partition("/")[0]: _dialect(one, loaded) for one in results if one.found and one.found.fields}
    if file is not None and dialects:
        write_dialects(file, dialects)
    for one in results:
        for found in _findings(one, loaded, dialects, file, needed=one.model in primary):
            yield found


def _findings(
    one: ProbeResult, loaded: LoadedPanel, dialects: Dialects, file: str | None, *, needed: bool
) -> Iterator[DiagnosisFinding]:
    """What was found out of one model, and with it of its server."""
    reply, served, provider = one.reply, one.served, one.model.partition("/")[0]
    yield _found(one, needed=needed)
    if reply.stripped:
        taken = ", ".join(reply.stripped)
        yield DiagnosisFinding("note", f"{one.model}: its answer stood in: {taken}; that is taken off and recorded")
    if reply.outcome is CallOutcome.ANSWERED and one.found is not None and not is_usable(reply):
        yield DiagnosisFinding("warning", f"{one.model}: its answer is not one JSON object, as seats have to answer")
    if one.found is not None and provider in dialects:
        place, lines = f"providers.{provider}", shown(dialects[provider])
        if file is not None:
            yield DiagnosisFinding("ok", f"{place}: written into {file}: {lines}")
        else:
            remedy = f"write {lines} there, or let --write do it"
            yield DiagnosisFinding("problem", f"{place}: its server refuses calls as they are made; {remedy}")
    if served.shutdown is not None:
        yield DiagnosisFinding(
            "warning", f"{one.model}: its provider says that it is to be shut down on {served.shutdown}"
        )
    if (window := _window(one.model, served.lengths.window, loaded)) is not None:
        yield window


def _dialect(one: ProbeResult, loaded: LoadedPanel) -> dict[str, Any]:
    """The fields of `dialect` with what was found, the profile that the file names included."""
    endpoint = loaded.endpoints.get(one.model.partition("/")[0])
    written = None if endpoint is None else endpoint.dialect
    said = {} if written is None else written.model_dump(exclude_none=True, mode="json")
    assert one.found is not None
    return {**said, **one.found.fields}


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
