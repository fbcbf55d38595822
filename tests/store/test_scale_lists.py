"""Debates found and counted by the label of their verdict, in the lists of every store."""

import pytest

from jury_events import BadCondition, parse_condition, parse_conditions
from jury_store import DebateFilter, EventStore
from support.scaled_debates import a_right_answer, an_answer_without_facts, mixed_levels
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")


def test_debates_are_chosen_and_counted_by_the_label_of_their_verdict(store: EventStore) -> None:
    for name, debate in (
        ("right", a_right_answer()),
        ("short", an_answer_without_facts()),
        ("again", a_right_answer()),
    ):
        store_debate(store, debate, name)
    store_debate(store, mixed_levels(), "levels", run_id="r2")
    for advance in (lambda: None, lambda: store.project(limit=9), store.project, store.rebuild):
        advance()

        def found(*texts: str) -> set[str]:
            where = parse_conditions(texts, recorded=True)
            return {row.debate_id for row in store.list_debates(DebateFilter(where=where))}

        assert {"right", "again"} == found("final_label=right")
        assert {"short", "levels"} == found("final_label!=right")
        assert {"right", "again"} == found("final_label~IGH")
        assert {"short", "levels"} == found("final_label!~")
        assert ["right", None] == [store.debate(one).final_label for one in ("right", "short")]  # type: ignore[union-attr]
        assert {"right": 2} == store.totals(DebateFilter()).labels
        assert [{"right": 2}, {}] == [one.labels for one in store.totals_by_run().values()]


def test_the_label_is_a_field_of_recorded_debates_alone() -> None:
    with pytest.raises(BadCondition, match=r"final_label is a field of recorded debates"):
        parse_condition("final_label=right")
