"""The nodes of a Ray cluster, each checked before it is used."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from jury_actors.errors import NodesNotReady, StoreNotShared
from jury_actors.notices import Notice, Say
from jury_actors.runtime import RuntimeConfig
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


_PATIENCE = 180.0
"""Seconds in which a node must answer: it starts a process, which imports the package."""

_SHOWN = 5


class NodeReport(NamedTuple):
    """One node.

    Attributes:
        name: its address and the start of its id, as `ray status` and Ray's dashboard name it.
        problems: a line each; () where it can run jurors.
        python: its release; None if the node did not answer.
    """

    name: str
    problems: tuple[str, ...]
    python: str | None = None


def alive_nodes() -> list[dict[str, Any]]:
    """The nodes that are alive, as Ray describes them, by address and id."""
    nodes: Any = ray.nodes  # has no types
    found: list[dict[str, Any]] = nodes()
    return sorted((node for node in found if node["Alive"]), key=lambda node: (node["NodeManagerAddress"], _id(node)))


def inspect_nodes(wanted: NodeCheck, nodes: Sequence[dict[str, Any]] | None = None) -> list[NodeReport]:
    """Look at nodes, all at once; takes a few seconds.

    Args:
        nodes: of `alive_nodes`; all if None.

    Returns:
        A report a node, in their order.
    """
    here = findings(NodeCheck())
    nodes = alive_nodes() if nodes is None else nodes
    calls = [_call(_id(node), wanted) for node in nodes]
    ray.wait(calls, num_returns=len(calls), timeout=_PATIENCE)
    return [_report(node, call, here) for node, call in zip(nodes, calls, strict=True)]


class CheckedNodes:
    """The nodes that jurors of a run may use. On a cluster that was joined each is looked at, once.

    Args:
        say: takes a line for each node that joins and is not used; is called from any thread.
    """

    def __init__(self, config: RuntimeConfig, say: Say) -> None:
        self._shared = config.shared_cluster
        self._sqlite = config.store_url.startswith("sqlite")
        self._wanted = NodeCheck(config.panels, config.endpoints, None if self._sqlite else config.store_url)
        self._say = say
        self._usable: dict[str, bool] = {}
        self.names: dict[str, str] = {}
        """The nodes that `cpus` found last, those without a CPU included, as users know them, by id."""

    def check(self) -> None:
        """Refuse a cluster on which a run would fail, before anything is recorded or paid."""
        if not self._shared:
            return
        nodes = alive_nodes()
        if len(nodes) > 1 and self._sqlite:
            raise StoreNotShared(
                f"the Ray cluster has {len(nodes)} nodes, and a SQLite file is on one of them only: use a PostgreSQL "
                "store (--store postgresql+psycopg://…; docs/postgresql.md)"
            )
        bad = [one for one in inspect_nodes(self._wanted, nodes) if one.problems]
        if bad:
            lines = [f"{one.name}: {'; '.join(one.problems)}" for one in bad[:_SHOWN]]
            more = [f"and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
            raise NodesNotReady(
                f"{len(bad)} of {len(nodes)} nodes of the Ray cluster cannot run jurors: {'. '.join([*lines, *more])}. "
                "`jury doctor --ray-address` looks at every node"
            )
        self._usable = dict.fromkeys(map(_id, nodes), True)

    def cpus(self) -> dict[str, float]:
        """The CPUs of each node that is alive, can run jurors and has any, by its id; if none has, each counts as one.

        May block for long, while it looks at nodes that have joined.
        """
        nodes = alive_nodes()
        if self._shared:
            self._look_at([node for node in nodes if _id(node) not in self._usable])
            nodes = [node for node in nodes if self._usable.get(_id(node))]
        self.names = {_id(node): _name(node) for node in nodes}
        cpus = {_id(node): float(node["Resources"].get("CPU", 0)) for node in nodes}
        return {node: found for node, found in cpus.items() if found} or dict.fromkeys(cpus, 1.0)

    def _look_at(self, nodes: list[dict[str, Any]]) -> None:
        if not nodes:
            return
        reports = inspect_nodes(self._wanted, nodes)
        alive = set(map(_id, alive_nodes()))
        for node, report in zip(nodes, reports, strict=True):
            if _id(node) not in alive:
                continue
            self._usable[_id(node)] = not report.problems
            if report.problems:
                problems = "; ".join(report.problems)
                said = f"the node {report.name} is not used: {problems}; mend that, and let it join anew"
                self._say(Notice(said, "node_refused", node=report.name))


def _id(node: dict[str, Any]) -> str:
    return str(node["NodeID"])


def _name(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerAddress']} ({_id(node)[:8]})"


def _call(node_id: str, wanted: NodeCheck) -> Any:
    pinned = NodeAffinitySchedulingStrategy(node_id, soft=False)
    remote: Any = ray.remote(findings)
    endpoints = None if wanted.endpoints is None else dict(wanted.endpoints)  # a mapping proxy does not pickle
    return remote.options(num_cpus=0, max_retries=0, scheduling_strategy=pinned, enable_task_events=False).remote(
        wanted._replace(endpoints=endpoints)
    )


def _report(node: dict[str, Any], call: Any, here: NodeFindings) -> NodeReport:
    name = _name(node)
    try:
        there: NodeFindings = ray.get(call, timeout=0)
    except ray.exceptions.GetTimeoutError:
        ray.cancel(call, force=True)
        return NodeReport(name, (f"did not answer in {_PATIENCE:g} s",))
    except ray.exceptions.RayError as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        return NodeReport(name, (f"cannot run jury-judge ({reason}); install the same release there as here",))
    return NodeReport(name, (*differences(here, there), *there.problems), there.python)
