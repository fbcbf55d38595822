"""The bundled example is a case as a user would write it, in both languages."""

from collections import Counter

import pytest

from jury_cases import example_path, load_example

LANGUAGES = ["en", "ja"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_has_records_of_every_verdict(language):
    case = load_example(language)

    gate = Counter(record.verdict for record in case.security_gate_records)
    card = Counter(record.verdict for record in case.agent_card_records)
    assert gate == {"pass": 3, "blocked": 3, "fail": 1, "needs_review": 1, "error": 1, "not_executed": 1}
    assert card == {"pass": 4, "fail": 2}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_carries_no_label(language):
    assert load_example(language).label is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_is_a_file_of_the_package(language):
    assert example_path(language).is_file()


def test_both_languages_have_the_same_cases():
    english, japanese = load_example("en"), load_example("ja")

    assert [item.kind for item in english.scenarios[0].execution.transcript.items] == [
        item.kind for item in japanese.scenarios[0].execution.transcript.items
    ]
    assert english.case_id != japanese.case_id
