"""`pytest --jury-corpus DIR`: recorded debates as tests, one a cassette, under today's rules and prompts.

Installed with Jury Judge, so it is loaded in every pytest run of its users: it imports nothing before it is asked to.
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
        help="Tell the cassettes in this folder again under today's rules, one test each. Repeatable.",
    )
    group.addoption(
        "--jury-accept",
        action="store_true",
        help="Expect from now on what comes out today: it is written beside the cassettes, to be reviewed.",
    )
    group.addoption("--jury-rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")


def pytest_configure(config: pytest.Config) -> None:
    """Take up the corpora, where there are any."""
    if config.getoption("--jury-corpus"):
        config.pluginmanager.register(import_module("jury_judge.corpus_tests").Corpus(config), "jury-corpus")
    elif config.getoption("--jury-accept") or config.getoption("--jury-rules") is not None:
        raise pytest.UsageError("--jury-accept and --jury-rules go with --jury-corpus DIR")
