"""A run that goes on from its store: cases, panel and settings are read from the log, or handed as JSON."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from jury_debate.recorded_panel import recorded_panel
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.debate_history import DebateHistory
from jury_events.run_facts import RunFacts
from jury_events.text import visible_line
from jury_judge.errors import RunRefused, SettingsRefused
from jury_judge.panels.files import Ladder, LoadedPanel
from jury_judge.panels.ladders import first_of
from jury_judge.runs.case_stages import Again
from jury_judge.runs.plan import ListedCases, RunPlan, panel_of_run
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.jury import PanelSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import STORE_URL, load_settings
from jury_providers.endpoints import Endpoint
from jury_store.errors import StoreMissing
from jury_store.opening import database_path, open_store, parse_store_url


def resumed_run(
    settings: RunSettings, environ: Mapping[str, str] | None = None, *, again: Again | None = None
) -> RunPlan:
    """The run of the settings' id, from its store alone; its list is that of earlier calls.

    Without a panel in the settings its own panel judges on, with the endpoints that it was opened with. Bounds that the
    settings leave out are those that it had.

    Args:
        settings: with the run's id; a panel, where another file says how its models are reached.
        environ: where settings are read; None is `os.environ`.
        again: which cases of the run are judged again, by a debate that counts in place of the first; None: none.
    """
    surroundings = os.environ if environ is None else environ
    assert settings.run_id is not None, "a run that goes on has an id"
    url = load_settings(surroundings, store_url=settings.store_url).store_url
    try:
        store = open_store(url, write=False)
    except StoreMissing as error:
        missing = str(error).partition("; ")[0]
        raise RunRefused(
            f"{missing}, so run {settings.run_id!r} was not begun in it; name its store with --store or {STORE_URL}, "
            f"or begin it with its files: jury run FILES --run {settings.run_id}"
        ) from error
    cases = ListedCases(store, settings.run_id)
    facts = cases.facts
    if facts is None:
        raise RunRefused(
            f"run {settings.run_id!r} was not listed in this store (its debates came in cassettes, or one by one): go "
            f"on with its files: jury run FILES --run {settings.run_id}"
        )
    if facts.imports:
        _check_adopted(facts, settings)
    loaded = panel_of_run(settings, surroundings) if settings.panel_name else own_panel(facts, cases.first)
    asked = settings.changed(repeat=facts.opened.repeats, **dict(settings.bounds.over(facts.budget)))
    planned = RunPlan(cases, asked, loaded=loaded, environ=surroundings)
    planned.run, planned.again = replace(planned.run, whole=facts.complete), again
    return planned


def _check_adopted(facts: RunFacts, settings: RunSettings) -> None:
    """Of a run that was imported another store's people chose the panel, and where its cases are sent."""
    if settings.adopt and settings.panel_name is not None:
        return
    run_id = facts.opened.run_id
    hosts = ", ".join(
        f"{one.provider} at {one.said.get('base_url', 'its usual address')}" for one in facts.opened.endpoints
    )
    reached = f" (its models were reached as {visible_line(hosts, 300)})" if hosts else ""
    raise RunRefused(
        f"run {run_id!r} was imported, and is not gone on with by itself: name the keys whose seals count and the "
        f"panel file that says how its models are reached here{reached}: "
        f"jury resume {run_id} --adopt KEY.pub --panel FILE"
    )


def own_panel(facts: RunFacts, first: DebateHistory) -> LoadedPanel:
    """The panel or ladder of the run, reached as it was opened."""
    opened, ladder = facts.opened, facts.opened.ladder
    partly = next((one.provider for one in opened.endpoints if not one.whole), None)
    if partly is not None:
        raise _needs_its_panel(opened.run_id, f"how the provider {partly} is reached (a secret stood in it)")
    endpoints = {one.provider: Endpoint.model_validate_json(json.dumps(one.said)) for one in opened.endpoints}
    loaded = LoadedPanel(recorded_panel(first.opened, first.texts), endpoints)
    if ladder is None:
        return loaded
    further = []
    for stage in ladder.further:
        resolved = ResolvedPanel(stage.panel, {}, None, stage.prompts)
        if stage.custom != resolved.custom:
            raise _needs_its_panel(opened.run_id, "the prompts of a later stage")
        further.append(LoadedPanel(resolved, endpoints))
    return first_of(Ladder(ladder.digest, (loaded, *further), ladder.audit, ladder.certificate))


def _needs_its_panel(run_id: str, what: str) -> RunRefused:
    return RunRefused(
        f"run {run_id!r}: the log does not have {what}: name the panel file: jury resume {run_id} --panel FILE"
    )


_LISTED = frozenset({*CaseSettings.model_fields, "strict", "relabel"})
"""What the list was made by: the log has the cases."""

_OF_THIS_MACHINE = frozenset({"junit", "markdown", "adopt", "trust"})
"""Reports are written where the command is called."""


class Handed(NamedTuple):
    """The settings of the run, further options of the command by name, and `RunPlan.reopens`."""

    settings: RunSettings
    shown: Mapping[str, Any]
    reopens: int

    @classmethod
    def of(cls, written: bytes) -> "Handed":
        """The inverse of `handed`."""
        found = json.loads(written)
        return cls(RunSettings.model_validate_json(json.dumps(found["settings"])), found["shown"], found["reopens"])

    def planned(self) -> RunPlan:
        """The run, from its store. Raises as `resumed_run`."""
        planned = resumed_run(self.settings)
        planned.reopens = self.reopens
        return planned


def handed(planned: RunPlan, shown: Mapping[str, Any], reopens: int, *, ray_address: str | None = None) -> bytes:
    """The message for a process.

    Args:
        shown: further options of the command, as JSON values.
        reopens: see `RunPlan`.
        ray_address: of the cluster on which the process is, as it is known there; None: it is on this machine.
    """
    url = planned.store_url
    if url.startswith("sqlite"):
        url = f"sqlite:///{database_path(parse_store_url(url))}"
    settings = planned.settings.changed(run_id=planned.run.run_id, store_url=url, ray_address=ray_address)
    left_out = set(_LISTED)
    if ray_address is not None:  # the panel is in the log
        left_out |= _OF_THIS_MACHINE | PanelSettings.model_fields.keys()
    written = settings.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return json.dumps({"settings": written, "shown": dict(shown), "reopens": reopens}).encode()


def check_for_cluster(settings: RunSettings) -> None:
    """Refuse what only this machine has."""
    for field in ("seal_key", "prices"):
        if getattr(settings, field) is not None:
            raise SettingsRefused(
                f"{{{field}}} names a file of this machine: leave it out with --detach and {{ray_address}}"
            )
