"""Grids as users write them: each key, and each mistake with its remedy."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from jury_events import AISEV_RUBRIC, Bands, Dimension, JuryError, Rubric
from jury_judge import load_grid
from jury_replay import CriterionBound, CriterionCap, LabelOutcome, SeatWeight, Setting

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
    "reasoning=hide": Setting(reasoning="hide"),
    "critical_below=facts:0.6": Setting(critical_below=(CriterionBound(criterion="facts", share=0.6),)),
}


def test_each_key_is_read_and_named_as_it_is_written():
    grids = {text: load_grid([text], None).settings for text in WRITTEN}

    assert {text: (setting,) for text, setting in WRITTEN.items()} == grids
    assert list(WRITTEN) == [setting.name for (setting,) in grids.values()]
    assert set(Setting.model_fields) == {text.partition("=")[0] for text in WRITTEN}
    assert (Setting(stagnation_rounds=0),) == load_grid(["stagnation_rounds=off"], None).settings


def test_several_values_make_a_grid():
    grid = load_grid(["threshold=0.67,1.0,1", "method=median,majority_vote"], None)

    assert [
        "threshold=0.67 method=median", "threshold=0.67 method=majority_vote",
        "threshold=1 method=median", "threshold=1 method=majority_vote",
    ] == [setting.name for setting in grid.settings]  # fmt: skip


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


def test_what_cannot_be_a_setting_is_refused_with_its_key_and_what_it_may_be(refusals):
    rows = {text: [text] for text in refusals.rows("grids")}
    rows["nothing"] = []
    rows["twice"] = ["threshold=1", "threshold=2"]
    rows["control characters"] = ["order=\x1b[31m"]
    rows["too many settings"] = [f"threshold={','.join(str(one / 2000) for one in range(1, 1002))}"]

    refusals.check("grids", rows, lambda sets: load_grid(sets, None), JuryError)


FILES = {"no UTF-8": b"\xff\xfe", "deep": b"a: " + b"[" * 2_000, "large": b"#" * (1 << 21)}


def test_a_file_that_is_no_grid_is_refused_with_the_line(refusals, tmp_path):
    files = {name: text.encode() for name, text in refusals.rows("grid_files").items()} | FILES
    rows = {name: tmp_path / f"{number}.yaml" for number, name in enumerate(files)}
    for name, path in rows.items():
        path.write_bytes(files[name])
    rows["no file"] = tmp_path / "none.yaml"

    refusals.check("grid_files", rows, lambda path: load_grid(["quorum=2"], str(path)), JuryError)


@given(st.text(max_size=40))
def test_any_text_is_a_grid_or_refused(text):
    with suppress(JuryError):
        grid = load_grid([text], None)

        assert grid == load_grid(grid.settings[0].name.split(" "), None) or len(grid.settings) > 1
