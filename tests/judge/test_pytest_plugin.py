"""The plugin of pytest within this process: what counts where nothing was asked for, and a corpus that is not whole."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jury_judge.pytest_items import CorpusCollector
from jury_judge.pytest_plugin import pytest_addoption
from support.corpus import CORPUS


def parsed(*arguments: str) -> Any:
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    return parser.parse([*arguments])


def test_a_gate_that_is_not_decided_fails_unless_asked_otherwise() -> None:
    assert "fail" == parsed().jury_gate_inconclusive
    assert "pass" == parsed("--jury-gate-inconclusive", "pass").jury_gate_inconclusive


def test_a_corpus_of_which_a_cassette_is_not_collected_is_refused() -> None:
    options = {"--jury-corpus": [str(CORPUS)], "--jury-rules": None}
    invocation = SimpleNamespace(dir=CORPUS.parent)
    config: Any = SimpleNamespace(getoption=options.get, args=[], invocation_params=invocation, rootpath=CORPUS)
    collector = CorpusCollector(config)
    items = [cast("pytest.Item", SimpleNamespace(path=one)) for one in sorted(CORPUS.glob("*.cassette.jsonl"))]
    first, *others = items

    collector.pytest_collection_modifyitems(items)
    with pytest.raises(pytest.UsageError, match=re.escape(f"pytest does not look for {first.path}")):
        collector.pytest_collection_modifyitems(others)
