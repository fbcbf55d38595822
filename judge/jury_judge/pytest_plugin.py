"""`pytest --jury-corpus DIR`: recorded debates as tests, one a cassette, under today's rules and prompts.

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


def pytest_configure(config: pytest.Config) -> None:
    """Register the corpora, if there are any."""
    if config.getoption("--jury-corpus"):
        config.pluginmanager.register(import_module("jury_judge.corpus_tests").Corpus(config), "jury-corpus")
    elif config.getoption("--jury-accept") or config.getoption("--jury-rules") is not None:
        raise pytest.UsageError("--jury-accept and --jury-rules go with --jury-corpus DIR")
