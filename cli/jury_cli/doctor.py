"""`jury doctor`: what is installed, reachable and configured."""

import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import ray_address_option, resolved_store, store_option
from jury_events.errors import JuryError

if TYPE_CHECKING:
    from jury_judge.panels.files import LoadedPanel
    from jury_providers.probe import ProbeResult

_PACKAGES = (
    "jury-judge",
    "ray",
    "pydantic",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "openai",
    "anthropic",
    "google-genai",
)
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
_VARIABLES = (
    "JURY_STORE_URL",
    "JURY_USE_COLLABORATIVE",
    "JURY_MAX_DISCUSSION_ROUNDS",
    "JURY_CONSENSUS_THRESHOLD",
    "JURY_FINAL_JUDGMENT_METHOD",
    "JURY_FINAL_JUDGE_MODEL",
    "JURY_ARTIFACT_HOSTS",
    "JURY_PRICES",
    "JURY_SEAL_KEY",
    "JURY_SEAL_LAST",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
)

Finding = tuple[str, str]
"""`ok`, `note`, `warning` or `problem`, and a line."""


@click.command("doctor")
@store_option
@click.option("--panel", "panel_name", metavar="FILE|NAME", help="Look at this panel, as `jury run` takes it.")
@click.option(
    "--probe", is_flag=True, help="Call each model of the panel once, for real, with a tiny question: it may cost."
)
@ray_address_option(
    "Look whether this Ray cluster can be joined (it must ask for a token, and accept yours), and whether each of its "
    "nodes can run jurors: releases, keys, the store."
)
def command(store_url: str | None, panel_name: str | None, ray_address: str | None, *, probe: bool) -> int:
    """Check what is installed, reachable and configured. Keys are named, never shown.

    Exits with 2 on a problem, with 4 when a seat's model, or the final judge's, does not answer a probe.
    """
    sound = _print_findings(chain(_surroundings(store_url), _access(ray_address)))
    title = "default panel" if panel_name is None else "panel"
    try:
        loaded = _load(panel_name)
    except JuryError as error:
        _print_findings([("problem", f"{title}: {error}")])
        return Exit.USAGE
    ready = _print_findings(_panel(loaded, title, keys=ray_address is None))
    if ray_address is not None and sound and not _print_findings(_nodes(ray_address, loaded, store_url)):
        ready = False
    if probe and ready and not _print_findings(_probed(loaded)):
        return Exit.STOPPED
    return Exit.DONE if sound and ready else Exit.USAGE


def _print_findings(findings: Iterable[Finding]) -> bool:
    """Print each finding at once; returns whether none is a problem."""
    marks = set()
    for mark, line in findings:
        marks.add(mark)
        print(f"{mark:<8} {line}", flush=True)
    return "problem" not in marks


def _surroundings(store_url: str | None) -> Iterator[Finding]:
    yield "ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in _PACKAGES:
        try:
            yield "ok", f"{name} {version(name)}"
        except PackageNotFoundError:
            yield "problem", f"{name} is not installed; install jury-judge again"
    yield from _store(store_url)
    for name in _VARIABLES:
        if name in os.environ and name != "JURY_STORE_URL":
            yield "ok", f"{name} is set"
    found = [name for key in _KEYS for name in (key, f"{key}_FILE") if os.environ.get(name)]
    yield "note", f"provider keys set: {', '.join(found) or 'none'}"
    free = shutil.disk_usage(".").free
    yield "ok" if free > 1 << 30 else "problem", f"{free / (1 << 30):.1f} GiB free in this directory"


def _store(store_url: str | None) -> Iterator[Finding]:
    from jury_store.errors import StoreMissing
    from jury_store.opening import open_store, parse_store_url, redacted_url

    try:
        url = resolved_store(store_url)
        name = redacted_url(parse_store_url(url))
        store = open_store(url, write=False)
    except StoreMissing:
        yield "note", f"store {name}: not there yet; `jury demo` and `jury run` create it"
        return
    except JuryError as error:
        yield "problem", f"store: {error}"
        return
    try:
        role, user = store.writer_role, store.user
        yield "ok", f"store {name}: {store.last_position()} events, {len(store.runs())} runs"
        if role is not None:
            yield "ok", f"writes are made as the database role {role}, which may not change events"
        elif user is not None and not user.may_write:
            yield "ok", f"the database user {user.name} may read this store and not write to it"
        elif user is not None:
            yield "note", "no writer role: only triggers guard the events; see `jury db upgrade` as a superuser"
    finally:
        store.close()


def _access(address: str | None) -> Iterator[Finding]:
    if address is None:
        return
    from jury_actors.ray_access import token_for

    try:
        token_for(address)
    except JuryError as error:
        yield "problem", str(error)
    else:
        yield "ok", f"Ray cluster at {address}: it asks for a token, and accepts the one that is set here"


def _nodes(address: str, loaded: "LoadedPanel", store_url: str | None) -> Iterator[Finding]:
    from jury_actors.node_check import NodeCheck
    from jury_cli.ray_thread import ray_started

    url = resolved_store(store_url)
    shared = not url.startswith("sqlite")
    wanted = NodeCheck(loaded.panel, loaded.endpoints, url if shared else None)
    try:
        with ray_started(address, open_cluster=False):
            from jury_actors.ray_nodes import inspect_nodes

            reports = inspect_nodes(wanted)
    except JuryError as error:
        yield "problem", str(error)
        return
    if len(reports) > 1 and not shared:
        yield "problem", f"the cluster has {len(reports)} nodes, and a SQLite store is on one of them: use PostgreSQL"
    reached = ", the store is reached" if shared else ""
    for one in reports:
        if not one.problems:
            yield "ok", f"node {one.name}: the releases are those of here, no key is missing{reached}"
        for problem in one.problems:
            yield "problem", f"node {one.name}: {problem}"


def _load(panel_name: str | None) -> "LoadedPanel":
    from jury_judge.panels.files import load_panel
    from jury_providers.registry import check_models

    loaded = load_panel(panel_name, os.environ)
    check_models(loaded.panel, loaded.endpoints)
    return loaded


def _panel(loaded: "LoadedPanel", title: str, *, keys: bool) -> Iterator[Finding]:
    from jury_providers.catalogue import retirement_warnings
    from jury_providers.errors import BadVariable
    from jury_providers.recipients import recipients, self_judging_warning
    from jury_providers.registry import key_destinations, missing_key

    panel = loaded.panel
    yield "ok", f"{title}: {panel.name}, {', '.join(seat.juror_id for seat in panel.seats)}"
    # On a cluster keys are looked at where they are used: on its nodes.
    for name in dict.fromkeys(model.partition("/")[0] for model in panel.models if keys):
        try:
            variables = missing_key(name, loaded.endpoints, os.environ)
        except BadVariable as error:
            yield "problem", f"provider {name}: {error}"
            continue
        if variables:
            yield "problem", f"provider {name}: no key is set; set {' or '.join(variables)}"
    environ = os.environ if keys else None
    for line in recipients(panel, loaded.endpoints, environ):
        yield "note", line
    for line in key_destinations(panel, loaded.endpoints, environ or {}):
        yield "note", line
    for warning in retirement_warnings(panel.models, datetime.now(UTC).date()):
        yield "warning", warning
    if (on_a_seat := self_judging_warning(panel)) is not None:
        yield "warning", on_a_seat


def _probed(loaded: "LoadedPanel") -> Iterator[Finding]:
    from jury_cli.interrupts import run_interruptibly
    from jury_providers.probe import probe, probe_settings
    from jury_providers.registry import provider_factory

    panel = loaded.panel
    calls = probe_settings(panel)
    longest = max(settings.timeout_seconds for settings in calls.values())
    yield "note", f"probing: {len(calls)} calls, one for each model of the panel, for up to {longest:g} s"
    primary = {seat.model for seat in panel.seats} | ({panel.final.judge.model} if panel.final.judge else set())
    for one in run_interruptibly(lambda: probe(calls, provider_factory(endpoints=loaded.endpoints))):
        yield _probe_finding(one, needed=one.model in primary)


def _probe_finding(one: "ProbeResult", *, needed: bool) -> Finding:
    from jury_events.models import is_other_model
    from jury_events.text.visible_text import visible_line

    reply = one.reply
    took = f"{one.seconds * 1000:.0f} ms"
    if not one.answers:
        said = visible_line(reply.error or "no reason given", 300)
        return "problem" if needed else "warning", f"{one.model}: {reply.outcome} after {took}: {said}"
    answered_by = visible_line(reply.model_version or "the provider does not say which model", 100)
    answered = f"{one.model}: {reply.outcome} in {took} by {answered_by}"
    if one.simulated:
        return "ok", f"{answered} (simulated: no model was called)"
    if is_other_model(one.model, reply.model_version):
        return "warning", f"{answered}, which is another model"
    return "ok", answered
