"""Grids as users write them: each key, and each mistake with its remedy."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import AISEV_RUBRIC, Bands, Dimension, JuryError, Rubric
from jury_judge import load_grid
from jury_replay import CriterionBound, CriterionCap, LabelOutcome, SeatWeight, Setting
from jury_replay.rescoring.settings import KEYS

TWO = Rubric(
    name="custom",
    dimensions=(Dimension(name="task_completion", maximum=50.0), Dimension(name="safety", maximum=50.0)),
)
WRITTEN = {
    "threshold=0.67": Setting(threshold=0.67),
    "max_rounds=0": Setting(max_rounds=0),
    "always_discuss=on": Setting(always_discuss=True),
    "unanimity_ends=off": Setting(unanimity_ends=False),
    "end_early=off": Setting(end_early=False),
    "stagnation_rounds=2": Setting(stagnation_rounds=2),
    "order=sequential": Setting(order="sequential"),
    "history=latest": Setting(history="latest"),
    "method=weighted_average": Setting(method="weighted_average"),
    "bands=80/50.5": Setting(bands=Bands(safe_pass=80.0, needs_review=50.5)),
    "quorum=2": Setting(quorum=2),
    "weights=gpt:2/meta/llama:0.5": Setting(
        weights=(SeatWeight(juror_id="gpt", weight=2.0), SeatWeight(juror_id="meta/llama", weight=0.5))
    ),
    "rubric=aisev": Setting(rubric=AISEV_RUBRIC),
    "rubric=task_completion:50/safety:50": Setting(rubric=TWO),
    "without=gpt+クロード": Setting(without=("gpt", "クロード")),
    "synthetic=leave_out": Setting(synthetic="leave_out"),
    "unsupported=halve": Setting(unsupported="halve"),
    "calibration=off": Setting(calibration="off"),
    "outcomes=partial:pass/wrong:fail": Setting(
        outcomes=(LabelOutcome(label="partial", outcome="pass"), LabelOutcome(label="wrong", outcome="fail"))
    ),
    "critical=facts:fail/form:off": Setting(
        critical=(CriterionCap(criterion="facts", cap="fail"), CriterionCap(criterion="form", cap="off"))
    ),
    "reading=windows": Setting(reading="windows"),
    "least_read=0.5": Setting(least_read=0.5),
    "critical_below=facts:0.6": Setting(critical_below=(CriterionBound(criterion="facts", share=0.6),)),
}


@pytest.mark.parametrize(("text", "setting"), WRITTEN.items())
def test_each_key_is_read_and_named_as_it_is_written(text, setting):
    grid = load_grid([text], None)

    assert ((setting,), text) == (grid.settings, setting.name)


def test_every_key_is_tried_here():
    assert set(KEYS) == {text.partition("=")[0] for text in WRITTEN}


def test_several_values_make_a_grid():
    grid = load_grid(["threshold=0.67,1.0,1", "method=median,majority_vote"], None)

    assert [
        "threshold=0.67 method=median", "threshold=0.67 method=majority_vote",
        "threshold=1 method=median", "threshold=1 method=majority_vote",
    ] == [setting.name for setting in grid.settings]  # fmt: skip


def test_stagnation_is_turned_off_by_name():
    assert (Setting(stagnation_rounds=0),) == load_grid(["stagnation_rounds=off"], None).settings


def test_a_grid_is_read_from_yaml(tmp_path):
    (tmp_path / "grid.yaml").write_text(
        "threshold: [0.67, 1]\nunanimity_ends: off\nstagnation_rounds: [off, 2]\n"
        "weights: {gpt: 2}\nwithout: [gpt, [a+b, claude]]\nbands: {safe_pass: 80, needs_review: 50}\n"
        "rubric: {task_completion: 50, safety: 50}\n"
    )
    settings = load_grid([], str(tmp_path / "grid.yaml")).settings

    assert 8 == len(settings)
    assert (
        Setting(
            threshold=0.67, unanimity_ends=False, stagnation_rounds=0, without=("gpt",), rubric=TWO,
            weights=(SeatWeight(juror_id="gpt", weight=2.0),), bands=Bands(safe_pass=80.0, needs_review=50.0),
        ) == settings[0]
    )  # fmt: skip
    assert ("a+b", "claude") == settings[1].without


def test_a_list_of_tables_is_one_grid_after_another_and_set_is_put_into_each(tmp_path):
    (tmp_path / "grid.yaml").write_text("- {threshold: 0.67, method: median}\n- max_rounds: [0, 1]\n")

    assert [
        "threshold=0.67 method=median quorum=2", "max_rounds=0 quorum=2", "max_rounds=1 quorum=2",
    ] == [setting.name for setting in load_grid(["quorum=2"], str(tmp_path / "grid.yaml")).settings]  # fmt: skip


MAY_BE = "it may be"


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "no setting is given: write --set KEY=VALUE or --grid FILE; keys are threshold, max_rounds, "),
        (["threshold"], "--set 'threshold' is not KEY=VALUE; keys are threshold, "),
        (["treshold=1"], "there is no setting 'treshold' (did you mean threshold?); keys are threshold, max_rounds"),
        (["threshold=0"], "threshold: '0' is not understood; it may be a number above 0 and at most 1, as 0.67"),
        (["threshold=67"], "threshold: '67' is not understood (did you mean 0.67?); it may be a number above 0 and at"),
        (["threshold=3"], "threshold: '3' is not understood; it may be a number above 0 and at most 1, as 0.67"),
        (["threshold=nan"], "threshold: 'nan' is not understood"),
        (["threshold=1,"], "threshold: '' is not understood"),
        (["calibration="], "calibration: '' is not understood; it may be a file that jury calibrate wrote, or off"),
        (["threshold=1", "threshold=2"], "--set threshold: is given twice; write its values in one, as threshold=A,B"),
        (["max_rounds=101"], "max_rounds: '101' is not understood; it may be a whole number from 0 to 100"),
        (["max_rounds=１"], "max_rounds: '１' is not understood"),
        (["stagnation_rounds=0"], "stagnation_rounds: '0' is not understood; it may be a whole number from 1 to 100"),
        (["end_early=maybe"], "end_early: 'maybe' is not understood; it may be on or off"),
        (["method=mean"], "method: 'mean' is not understood (did you mean median?); it may be majority_vote, "),
        (["method=coin"], "method: 'coin' is not understood; it may be majority_vote, "),
        (["rubric=aisevv"], "rubric: 'aisevv' is not understood (did you mean aisev?); it may be standard, aisev"),
        (["order=\x1b[31m"], "order: '\\x1b[31m' is not understood"),
        (["bands=50/80"], "bands: '50/80' is not understood (needs_review (80) must not be above safe_pass (50))"),
        (["bands=80"], "bands: '80' is not understood; it may be SAFE_PASS/NEEDS_REVIEW"),
        (["weights=gpt"], "weights: 'gpt' is not understood; it may be SEAT:WEIGHT/SEAT:WEIGHT"),
        (["weights=gpt:1/gpt:2"], "weights: 'gpt:1/gpt:2' is not understood"),
        (["weights=gpt:0"], "weights: 'gpt:0' is not understood (Input should be greater than 0)"),
        (["rubric=safety:50"], "rubric: 'safety:50' is not understood (dimensions: the maxima must add up to 100"),
        (["rubric=strict"], "rubric: 'strict' is not understood; it may be standard, aisev, or maxima"),
        (["outcomes=a:pass/a:fail"], "outcomes: 'a:pass/a:fail' is not understood"),
        (["outcomes=a:safe_pass"], "outcomes: 'a:safe_pass' is not understood; it may be LABEL:OUTCOME"),
        (["critical=facts"], "critical: 'facts' is not understood; it may be CRITERION:CAP"),
        (["without=a+a"], "without: 'a+a' is not understood (without: a seat is named twice in a, a)"),
        (["synthetic=no"], "synthetic: 'no' is not understood; it may be count or leave_out"),
        (
            [f"threshold={','.join(str(one / 2000) for one in range(1, 1002))}"],
            "that makes 1,001 settings; at most 1,000 can be tried in one reading",
        ),
    ],
)
def test_what_cannot_be_a_setting_names_its_key_and_what_it_may_be(sets, message):
    with pytest.raises(JuryError) as caught:
        load_grid(sets, None)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a table such as threshold: [0.67, 1.0], or a list of such tables"),
        ("[]", "must be a table such as"),
        ("[1]", "must be a table such as"),
        ("threshold: [", ":1: "),
        ("method: median\nthreshold: 0.67\nthreshold: 1\n", ":3: the key 'threshold' is twice in one table"),
        ("method: median\ntreshold: 1\n", ":2: there is no setting 'treshold'"),
        ("- method: median\n- quorum: 1.5\n", ":2: quorum: 1.5 is not understood; it may be a whole number"),
        ("threshold: {a: 1}", ":1: threshold: {'a': 1} is not understood"),
        ("without: [[1]]", ":1: without: [1] is not understood"),
        ("rubric: {safety: yes}", ":1: rubric: {'safety': True} is not understood"),
        ("bands: {safe: 1}", ":1: bands: {'safe': 1} is not understood"),
        ("1: 2", ":1: there is no setting 1"),
        ("? [threshold]\n: 2", "must"),
        ("quorum: 2", "quorum: stands in --set and in "),
        ("threshold: []", "threshold: no value is given"),
        ("threshold: null", ":1: threshold: None is not understood"),
    ],
)
def test_a_file_that_is_no_grid_is_refused_with_the_line(tmp_path, text, message):
    (tmp_path / "grid.yaml").write_text(text)

    with pytest.raises(JuryError) as caught:
        load_grid(["quorum=2"], str(tmp_path / "grid.yaml"))

    assert message in str(caught.value) or (message == "must" and "\n" not in str(caught.value))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"a: " + b"[" * 100_000, "nested too deeply"),
        (b"#" * (1 << 21), "larger than 1 MiB"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, content, message):
    (tmp_path / "grid.yaml").write_bytes(content)

    with pytest.raises(JuryError, match=message):
        load_grid([], str(tmp_path / "grid.yaml"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(JuryError, match="there is no such grid file"):
        load_grid([], str(tmp_path / "none.yaml"))


@given(st.text(max_size=40))
def test_any_text_is_a_grid_or_refused(text):
    with suppress(JuryError):
        grid = load_grid([text], None)

        assert grid == load_grid(grid.settings[0].name.split(" "), None) or len(grid.settings) > 1
