"""What a run with batches says before it begins."""

from jury_debate import PanelSpec, resolve
from jury_events import Panel
from jury_judge import asked_live, tier_lines, waves_of
from jury_providers import NO_ENDPOINTS, Endpoint
from support.batch_double import BatchAccountDouble
from support.each_row import each_row

SEATS = [{"model": "openai/a"}, {"model": "openai/b"}]
OWN = {"protocol": "openai", "base_url": "http://localhost:1/v1"}
VOTE = {"method": "majority_vote"}


def a_panel(**spec: object) -> Panel:
    return resolve(PanelSpec.model_validate(spec)).panel


@each_row(
    ("spec", "waves"),
    [
        ({"discussion": {"max_rounds": 0}, "final": VOTE}, (1, 1)),
        ({"discussion": {"max_rounds": 3}, "final": VOTE}, (1, 4)),
        ({"discussion": {"max_rounds": 2, "always_discuss": True}, "final": VOTE}, (2, 3)),
        ({"discussion": {"max_rounds": 0}, "final": VOTE, "reasoning": "after"}, (1, 2)),
    ],
)
def test_a_wave_for_the_first_votes_and_one_for_each_round(spec: dict[str, object], waves: tuple[int, int]) -> None:
    assert waves_of(a_panel(seats=SEATS, **spec), NO_ENDPOINTS) == waves


def test_a_decision_model_takes_no_wave_of_a_round() -> None:
    seats = [{"model": "own/a"}, {"model": "own/b"}, {"model": "own/c", "questions": 1}]
    sequential = {"preset": "adk-sequential", "discussion": {"max_rounds": 1}, "final": VOTE}
    own = {"own": Endpoint.model_validate({**OWN, "batches": "on"})}

    assert (3, 3) == waves_of(a_panel(seats=seats, **sequential), own)


def test_a_panel_with_a_final_judge_takes_one_more() -> None:
    alone = a_panel(seats=SEATS, discussion={"max_rounds": 1}, final={"judge": {"model": "openai/j"}})

    assert alone.final.judge is not None
    assert waves_of(alone, NO_ENDPOINTS) == (2, 3)


def test_no_wave_is_expected_where_every_call_is_made_live() -> None:
    seats = [{"model": "openai/a"}, {"model": "own/b"}]
    own = {"own": Endpoint.model_validate(OWN)}

    assert (1, 4) == waves_of(a_panel(seats=seats, final=VOTE), own)
    assert (0, 0) == waves_of(a_panel(seats=seats[1:], final=VOTE), own)
    assert list(asked_live(["openai/a", "own/b", "own/c", "simulated/d"], own)) == ["own", "simulated"]


def test_a_tier_that_a_batch_does_not_have_is_named() -> None:
    seat = {"model": "openai/gpt-6-sol", "juror_id": "a", "settings": {"tier": "flex"}}
    others = [{"model": "openai/gpt-6-sol", "juror_id": name} for name in ("b", "c")]
    lines = list(tier_lines(a_panel(seats=[seat, *others]), BatchAccountDouble().providers))

    assert lines == ["a asks for the tier flex: batches have their own price, so it is left out of them"]
    assert list(tier_lines(a_panel(seats=[seat, *others]), lambda _name: None)) == []
