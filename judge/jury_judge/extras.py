"""Packages that only some features need: extras of the distribution."""

from importlib.util import find_spec

from jury_events.errors import install_line
from jury_judge.errors import ExtraMissing

STATISTICS = ("numpy", "scipy", "sklearn")
"""Of the extra `stats`."""


TRACES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
"""Of the extra `otel`."""

MCP = ("mcp",)
"""Of the extra `mcp`."""


def check_statistics(what: str) -> None:
    """Refuse statistics where the packages of their extra are not installed; imports none of them."""
    _check(what, STATISTICS, "stats")


def check_traces(what: str) -> None:
    """Refuse traces, likewise."""
    _check(what, TRACES, "otel")


def check_mcp(what: str) -> None:
    """Refuse the Model Context Protocol, likewise."""
    _check(what, MCP, "mcp")


def check_package(what: str, name: str) -> None:
    """Refuse what needs a package that is no extra of ours, likewise; `name` is that of the module and to install."""
    if not _is_there(name):
        raise ExtraMissing(f"{what} needs {name}: pip install {name}")


def _check(what: str, names: tuple[str, ...], extra: str) -> None:
    missing = [name for name in names if not _is_there(name)]
    if missing:
        raise ExtraMissing(f"{what} needs {', '.join(missing)}: {install_line(extra)}")


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a package that it is in
        return False
