"""Whether the node that runs this can run jurors: releases, keys, and the store. Called on every node of a cluster."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from jury_events.errors import JuryError
from jury_events.panel import Panel
from jury_providers.endpoints import Endpoints
from jury_providers.registry import check_models

PACKAGES = ("jury-judge", "ray", "pydantic", "sqlalchemy", "psycopg", "openai", "anthropic", "google-genai")
"""Those whose release must be the same on every node: debates go on wherever their actors are restarted."""


class NodeCheck(NamedTuple):
    """What is looked at.

    Args:
        panels: the keys of their models must be set; (): no key is looked at.
        endpoints: from the panel file.
        store_url: is opened for reading; None: it is not looked at.
    """

    panels: tuple[Panel, ...] = ()
    endpoints: Endpoints | None = None
    store_url: str | None = None


class NodeFindings(NamedTuple):
    """What was found on one node.

    Attributes:
        python: the release.
        releases: of `PACKAGES`; None: not installed.
        problems: a line each, with what to do about it; () where the node can run jurors.
    """

    python: str
    releases: dict[str, str | None]
    problems: tuple[str, ...]


def findings(wanted: NodeCheck) -> NodeFindings:
    """Look at this node."""
    problems = [problem for problem in (_key_problem(wanted), _store_problem(wanted.store_url)) if problem is not None]
    return NodeFindings(platform.python_version(), {name: _release(name) for name in PACKAGES}, tuple(problems))


def differences(here: NodeFindings, there: NodeFindings) -> tuple[str, ...]:
    """Lines for the releases of a node that are not those of this process."""
    lines = [] if here.python == there.python else [f"has Python {there.python}, and {here.python} is used here"]
    for name, release in here.releases.items():
        found = there.releases.get(name)
        if found != release:
            has = "is not installed" if found is None else f"is {found}"
            lines.append(f"{name} {has}, and {release or 'none'} is used here")
    return tuple(lines)


def _release(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _key_problem(wanted: NodeCheck) -> str | None:
    try:
        for panel in wanted.panels:
            check_models(panel, wanted.endpoints or {}, os.environ)
    except JuryError as error:
        return f"{error}; it must be set there before `ray start`"
    return None


def _store_problem(store_url: str | None) -> str | None:
    from jury_store.errors import StoreMissing  # noqa: PLC0415  (loads SQLAlchemy)
    from jury_store.opening import open_store  # noqa: PLC0415  (likewise)

    if store_url is None:
        return None
    try:
        open_store(store_url, write=False).close()
    except StoreMissing:
        return None
    except JuryError as error:
        return f"the store: {error}"
    return None
