"""The bundled example is a case as a user would write it, in both languages."""

from collections import Counter

from jury_cases import example_path, load_example


def test_both_languages_have_the_same_case_with_records_of_every_verdict_and_no_label() -> None:
    english, japanese = load_example("en"), load_example("ja")

    for case in (english, japanese):
        gate = Counter(record.verdict for record in case.security_gate_records)
        card = Counter(record.verdict for record in case.agent_card_records)
        assert {"pass": 3, "blocked": 3, "fail": 1, "needs_review": 1, "error": 1, "not_executed": 1} == gate
        assert {"pass": 4, "fail": 2} == card
        assert case.label is None
    assert [item.kind for item in english.scenarios[0].execution.transcript.items] == [
        item.kind for item in japanese.scenarios[0].execution.transcript.items
    ]
    assert english.case_id != japanese.case_id
    assert all(example_path(language).is_file() for language in ("en", "ja"))
