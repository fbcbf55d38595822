"""What a run with batches says before it begins."""

import pytest

from jury_debate.panel_spec import PanelSpec, resolve
from jury_events.panel import Panel
from jury_judge.batches.batch_plan import tier_lines, waves_of
from support.batch_double import BatchAccountDouble


def a_panel(**spec: object) -> Panel:
    return resolve(PanelSpec.model_validate(spec)).panel


@pytest.mark.parametrize(
    ("spec", "waves"),
    [
        ({"discussion": {"max_rounds": 0}, "final": {"method": "majority_vote"}}, (1, 1)),
        ({"discussion": {"max_rounds": 3}, "final": {"method": "majority_vote"}}, (1, 4)),
        ({"discussion": {"max_rounds": 2, "always_discuss": True}, "final": {"method": "majority_vote"}}, (2, 3)),
    ],
)
def test_a_wave_for_the_first_votes_and_one_for_each_round(spec: dict[str, object], waves: tuple[int, int]) -> None:
    assert waves_of(a_panel(**spec)) == waves


def test_a_decision_model_takes_no_wave_of_a_round() -> None:
    seats = [{"model": "simulated/a"}, {"model": "simulated/b"}, {"model": "simulated/c", "questions": 1}]
    sequential = {"preset": "adk-sequential", "discussion": {"max_rounds": 1}, "final": {"method": "majority_vote"}}

    assert (3, 3) == waves_of(a_panel(seats=seats, **sequential))


def test_a_panel_with_a_final_judge_takes_one_more() -> None:
    alone = a_panel(discussion={"max_rounds": 1})

    assert alone.final.judge is not None
    assert waves_of(alone) == (2, 3)


def test_a_tier_that_a_batch_does_not_have_is_named() -> None:
    seat = {"model": "openai/gpt-6-sol", "juror_id": "a", "settings": {"tier": "flex"}}
    others = [{"model": "openai/gpt-6-sol", "juror_id": name} for name in ("b", "c")]
    lines = list(tier_lines(a_panel(seats=[seat, *others]), BatchAccountDouble().providers))

    assert lines == ["a asks for the tier flex: batches have their own price, so it is left out of them"]
    assert list(tier_lines(a_panel(seats=[seat, *others]), lambda _name: None)) == []
