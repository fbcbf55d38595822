"""What is installed, set and reachable here."""

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from jury_actors.ray_address import token_for
from jury_events.errors import JuryError
from jury_events.text import pluralize
from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.settings.store import load_settings
from jury_store.errors import StoreMissing
from jury_store.opening import open_store, parse_store_url, redacted_url

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


def surroundings(store_url: str | None) -> Iterator[DiagnosisFinding]:
    """Packages, store, variables, keys, disk; `store_url`: None for that of the environment."""
    yield DiagnosisFinding("ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in _PACKAGES:
        try:
            yield DiagnosisFinding("ok", f"{name} {version(name)}")
        except PackageNotFoundError:
            yield DiagnosisFinding("problem", f"{name} is not installed; install jury-judge again")
    yield from _store(store_url)
    for name in _VARIABLES:
        if name in os.environ and name != "JURY_STORE_URL":
            yield DiagnosisFinding("ok", f"{name} is set")
    found = [name for key in _KEYS for name in (key, f"{key}_FILE") if os.environ.get(name)]
    yield DiagnosisFinding("note", f"provider keys set: {', '.join(found) or 'none'}")
    free = shutil.disk_usage(".").free
    yield DiagnosisFinding("ok" if free > 1 << 30 else "problem", f"{free / (1 << 30):.1f} GiB free in this directory")


def _store(store_url: str | None) -> Iterator[DiagnosisFinding]:
    try:
        url = load_settings(os.environ, store_url=store_url).store_url
        name = redacted_url(parse_store_url(url))
        store = open_store(url, write=False)
    except StoreMissing:
        yield DiagnosisFinding("note", f"store {name}: not there yet; `jury demo` and `jury run` create it")
        return
    except JuryError as error:
        yield DiagnosisFinding("problem", f"store: {error}")
        return
    try:
        role, user = store.writer_role, store.user
        yield DiagnosisFinding(
            "ok", f"store {name}: {pluralize(store.last_position(), 'event')}, {pluralize(len(store.runs()), 'run')}"
        )
        if role is not None:
            yield DiagnosisFinding("ok", f"writes are made as the database role {role}, which may not change events")
        elif user is not None and not user.may_write:
            yield DiagnosisFinding("ok", f"the database user {user.name} may read this store and not write to it")
        elif user is not None:
            yield DiagnosisFinding(
                "note", "no writer role: only triggers guard the events; run deploy/roles.sql as a superuser"
            )
        for fault in store.right_faults():
            yield DiagnosisFinding("problem", fault)
    finally:
        store.close()


def access(address: str) -> Iterator[DiagnosisFinding]:
    """Whether the Ray cluster at HOST:PORT asks for a token, and accepts the one that is set here."""
    try:
        token_for(address)
    except JuryError as error:
        yield DiagnosisFinding("problem", str(error))
    else:
        yield DiagnosisFinding(
            "ok", f"Ray cluster at {address}: it asks for a token, and accepts the one that is set here"
        )
