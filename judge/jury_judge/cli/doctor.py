"""`jury doctor`: what is installed, reachable and configured."""

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import click

from jury_events.errors import JuryError
from jury_judge.cli.exits import Exit
from jury_judge.cli.options import resolved_store, store_option

_PACKAGES = ("jury-judge", "ray", "pydantic", "sqlalchemy", "alembic", "psycopg")
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
_VARIABLES = (
    "JURY_STORE_URL",
    "JURY_USE_COLLABORATIVE",
    "JURY_MAX_DISCUSSION_ROUNDS",
    "JURY_CONSENSUS_THRESHOLD",
    "JURY_FINAL_JUDGMENT_METHOD",
    "JURY_FINAL_JUDGE_MODEL",
    "JURY_ARTIFACT_HOSTS",
)


@click.command("doctor")
@store_option
def command(store_url: str | None) -> int:
    """Tell what is installed, reachable and configured. Keys are named, never shown. Exits with 2 on a problem."""
    problems = 0
    for mark, line in _findings(store_url):
        problems += mark == "problem"
        print(f"{mark:<8} {line}")
    return Exit.USAGE if problems else Exit.DONE


def _findings(store_url: str | None) -> Iterator[tuple[str, str]]:
    yield "ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in _PACKAGES:
        try:
            yield "ok", f"{name} {version(name)}"
        except PackageNotFoundError:
            yield "problem", f"{name} is not installed; install jury-judge again"
    yield from _store(store_url)
    yield from _panel()
    for name in _VARIABLES:
        if name in os.environ and name != "JURY_STORE_URL":
            yield "ok", f"{name} is set"
    found = [name for name in _KEYS if os.environ.get(name)]
    yield "note", f"provider keys set: {', '.join(found) or 'none'} (this version seats simulated jurors only)"
    free = shutil.disk_usage(".").free
    yield "ok" if free > 1 << 30 else "problem", f"{free / (1 << 30):.1f} GiB free in this directory"


def _store(store_url: str | None) -> Iterator[tuple[str, str]]:
    from jury_store.errors import StoreMissing
    from jury_store.opening import open_store, shown
    from jury_store.opening import store_url as parsed

    try:
        url = resolved_store(store_url)
        name = shown(parsed(url))
        store = open_store(url, write=False)
    except StoreMissing:
        yield "note", f"store {name}: not there yet; `jury demo` and `jury run` create it"
        return
    except JuryError as error:
        yield "problem", f"store: {error}"
        return
    try:
        role = store.writer_role
        yield "ok", f"store {name}: {store.last_position()} events, {len(store.runs())} runs"
        if role is not None:
            yield "ok", f"writes are made as the database role {role}, which may not change events"
        elif not url.startswith("sqlite"):
            yield "note", "no writer role: only triggers guard the events; see `jury db upgrade` as a superuser"
    finally:
        store.close()


def _panel() -> Iterator[tuple[str, str]]:
    from jury_actors.providers.registry import check_models
    from jury_judge.panels.files import load_panel

    try:
        panel = load_panel(None, os.environ).panel
        check_models(panel)
    except JuryError as error:
        yield "problem", f"default panel: {error}"
        return
    yield "ok", f"default panel: {panel.name}, {', '.join(seat.juror_id for seat in panel.seats)}"
