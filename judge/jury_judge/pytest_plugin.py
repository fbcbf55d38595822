"""`pytest --jury-corpus DIR`: recorded debates as tests, one a cassette, under today's rules and prompts.

`pytest --jury-gate BASE CANDIDATE`: two runs of a store as a test, which passes if the candidate is not worse.

Loaded in every pytest run where Jury Judge is installed: it imports nothing until its options are used.
"""

from importlib import import_module

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("jury", "recorded debates (Jury Judge)")
    group.addoption(
        "--jury-corpus",
        action="append",
        default=[],
        metavar="DIR",
        help="Replay the cassettes in this folder under today's rules, one test each. Repeatable.",
    )
    group.addoption(
        "--jury-accept",
        action="store_true",
        help="Accept today's outcomes: they are written beside the cassettes, to be reviewed.",
    )
    group.addoption("--jury-rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")
    gates = parser.getgroup("jury-gate", "gates between runs (Jury Judge)")
    gates.addoption(
        "--jury-gate",
        action="append",
        nargs=2,
        default=[],
        metavar=("BASE", "CANDIDATE"),
        help="A test that fails if run CANDIDATE is worse than run BASE, or if too few cases decide it. Repeatable.",
    )
    gates.addoption("--jury-gate-store", metavar="URL", help="Where the runs are. [default: as of `jury gate`]")
    gates.addoption("--jury-gate-metric", metavar="NAME", help="As `jury gate --metric`.")
    gates.addoption("--jury-gate-margin", metavar="HARM", type=float, help="As `jury gate --margin`.")
    gates.addoption("--jury-gate-worse", choices=("more", "less", "either"), help="As `jury gate --worse`.")
    gates.addoption("--jury-gate-count", choices=("labels", "outcomes"), help="As `jury gate --count`.")
    gates.addoption(
        "--jury-gate-labels",
        action="append",
        default=[],
        metavar="FILE",
        help="Human labels that came later, as `jury gate --labels`. Repeatable.",
    )
    gates.addoption(
        "--jury-gate-inconclusive",
        choices=("pass", "fail"),
        default="fail",
        help="What an inconclusive gate counts as. [default: fail]",
    )
    gates.addoption("--jury-gate-include-simulated", action="store_true", help="Count debates of simulated jurors too.")


_OF_GATES = ("store", "metric", "margin", "worse", "labels", "include-simulated")


def pytest_configure(config: pytest.Config) -> None:
    """Register the corpora and the gates, if there are any."""
    if config.getoption("--jury-corpus"):
        config.pluginmanager.register(import_module("jury_judge.pytest_items").CorpusCollector(config), "jury-corpus")
    elif config.getoption("--jury-accept") or config.getoption("--jury-rules") is not None:
        raise pytest.UsageError("--jury-accept and --jury-rules go with --jury-corpus DIR")
    if config.getoption("--jury-gate"):
        config.pluginmanager.register(import_module("jury_judge.pytest_items").Gates(config), "jury-gate")
    elif given := [name for name in _OF_GATES if config.getoption(f"--jury-gate-{name}") not in (None, [], False)]:
        raise pytest.UsageError(f"--jury-gate-{given[0]} goes with --jury-gate BASE CANDIDATE")
