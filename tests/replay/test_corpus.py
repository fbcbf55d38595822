"""The corpus follows from its plans and from the answers that are kept for them."""

import asyncio
import json

import pytest

from jury_replay import SUFFIX, write_cassette
from support.corpus import CORPUS, EXPECTED, PLANS, course, record


def test_every_debate_of_the_corpus_is_recorded_again_as_it_is_kept(subtests: pytest.Subtests) -> None:
    """`python tests/support/corpus.py` records the corpus anew, where rules, prompts or events changed on purpose."""
    expected = json.loads(EXPECTED.read_text("utf-8"))

    assert (
        sorted(expected)
        == sorted(PLANS)
        == sorted(path.name.removesuffix(SUFFIX) for path in CORPUS.glob(f"*{SUFFIX}"))
    )
    for name, plan in PLANS.items():
        with subtests.test(name=name):
            history = asyncio.run(record(name, plan))

            assert expected[name] == course(history)
            assert (CORPUS / (name + SUFFIX)).read_bytes() == write_cassette(history)
