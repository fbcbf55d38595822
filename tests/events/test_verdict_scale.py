"""Scales: their laws, the bundled ones, and what a panel's JSON has of them."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jury_debate import PanelSpec, resolve
from jury_events import (
    AGENT_SAFETY,
    BUNDLED_SCALES,
    NO_CRITERIA,
    VERDICTS,
    Dimension,
    Language,
    Rubric,
    ScaleLabel,
    Verdict,
    VerdictScale,
    bundled_scale,
    scale_digest,
    scale_of,
)
from support.debate_harness import a_panel
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, scales


def a_scale(*outcomes: str, **fields: Any) -> VerdictScale:
    labels = tuple(
        ScaleLabel(id=f"w{place}", outcome=outcome, meaning=f"Meaning {place}.")  # type: ignore[arg-type]
        for place, outcome in enumerate(outcomes)
    )
    return VerdictScale(name="s", labels=labels, **fields)


def test_the_scale_of_the_three_verdicts_is_theirs() -> None:
    for language in get_args(Language):
        scale = bundled_scale(AGENT_SAFETY, language).scale

        assert tuple(verdict.value for verdict in VERDICTS.values()) == scale.ids
        assert list(Verdict) == [scale.verdict(verdict.value) for verdict in Verdict]


@each_row("language", get_args(Language))
@each_row("name", BUNDLED_SCALES)
def test_a_bundled_scale_has_a_meaning_of_its_own_for_every_label(name: str, language: Language) -> None:
    found = bundled_scale(name, language)

    meanings = [label.meaning for label in found.scale.labels]
    assert len(set(meanings)) == len(meanings)
    assert found.scale.ids == bundled_scale(name, "en").scale.ids
    assert found.task


def test_levels_are_whole_numbers_in_a_row() -> None:
    levels = a_panel(**LEVELS).scale

    assert levels is not None
    assert levels.has_levels
    assert ["fail", "fail", "review", "pass", "pass"] == [label.outcome for label in levels.labels]
    assert not bundled_scale("binary", "en").scale.has_levels


@each_row(
    ("outcomes", "message"),
    [
        (("pass",), "a scale has 2 to 20 labels, not 1"),
        (("fail",) * 21, "a scale has 2 to 20 labels, not 21"),
        (("pass", "fail"), "w1 follows w0, but its outcome fail is worse than pass"),
        (("review", "pass", "review"), "w2 follows w1"),
    ],
)
def test_labels_go_from_worst_to_best(outcomes: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        a_scale(*outcomes)


def test_the_label_in_doubt_is_one_of_the_scale() -> None:
    assert a_scale("fail", "pass", in_doubt="w1").in_doubt == "w1"
    with pytest.raises(ValidationError, match="maybe is none of the labels w0, w1"):
        a_scale("fail", "pass", in_doubt="maybe")


@given(scales())
def test_ranks_count_from_the_worst_and_outcomes_never_get_worse(scale: VerdictScale) -> None:
    order = list(VERDICTS.values())
    ranks = [order.index(scale.verdict(label)) for label in scale.ids]

    assert ranks == sorted(ranks)
    assert list(range(scale.best_rank + 1)) == [scale.rank(label) for label in scale.ids]
    assert VerdictScale.model_validate_json(scale.model_dump_json()) == scale


@given(scales(), st.data())
def test_a_digest_is_of_what_jurors_are_shown(scale: VerdictScale, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, scale.best_rank))
    labels = list(scale.labels)
    labels[place] = labels[place].changed(meaning="Something else.")

    assert scale.changed(name="other").digest == scale.digest
    assert scale.changed(labels=tuple(labels)).digest != scale.digest


def test_the_three_verdicts_have_one_digest_and_own_scales_others() -> None:
    panels = [a_panel(language="ja"), a_panel(), a_panel(), a_panel(**ANSWERS)]
    digests = [scale_digest(panel) for panel in panels]

    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert scale_of(panels[3]).digest == digests[3]


def test_a_bound_needs_a_critical_criterion() -> None:
    with pytest.raises(ValidationError, match="facts is not critical"):
        Dimension(name="facts", maximum=100.0, critical_below=0.6)


def test_where_no_points_are_asked_for_the_score_is_the_share_of_the_rank() -> None:
    assert () == NO_CRITERIA.asked
    assert [0.0, 25.0, 100.0] == [NO_CRITERIA.scores_of_rank(rank, 4).overall for rank in (0, 1, 4)]
    with pytest.raises(ValidationError, match="one dimension, which is not critical"):
        Rubric(
            name="x", dimensions=(Dimension(name="a", maximum=50.0), Dimension(name="b", maximum=50.0)), of_rank=True
        )


def test_a_scale_that_is_the_three_verdicts_is_none_of_its_own() -> None:
    by_name = resolve(PanelSpec.model_validate({"scale": AGENT_SAFETY})).panel

    assert resolve(PanelSpec()).panel == by_name
