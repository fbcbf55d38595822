"""What is done with a staged run afterwards: carried elsewhere, gated, reviewed, counted, calibrated on."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from jury_events import FAIL, SettingError
from jury_judge import (
    CalibrationSettings,
    DebateFilter,
    GateSettings,
    NewReview,
    Records,
    RunPlan,
    RunSettings,
    Selection,
    StatisticsSettings,
    VoteReports,
    applied,
    judge_run,
    load_panel,
)
from jury_store import ALL_STAGES, open_store
from support.ladders import a_certificate, a_ladder, panel_file, staged

ALL = Selection(everything=True)


@pytest.fixture
def run(audited: Path, tmp_path: Path) -> str:
    """A store of a staged run whose early exits are all audited, and its panels and cases beside it."""
    shutil.copytree(audited, tmp_path, dirs_exist_ok=True)
    return f"sqlite:///{tmp_path / 'jury.db'}"


async def test_a_staged_run_is_carried_to_another_store(run: str, tmp_path: Path) -> None:
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    async with Records(run) as records:
        await records.export_cassettes(ALL, tmp_path / "out")
    there = Records(elsewhere)
    await there.import_cassettes([tmp_path / "out"])

    found = []
    for one in (run, elsewhere):
        with closing(open_store(one, write=False)) as store:
            rows = store.list_debates(ALL_STAGES)
            found.append(sorted((row.debate_id, row.stage, row.stages, row.aside, row.final_verdict) for row in rows))
    assert 12 == len(found[0])
    assert found[0] == found[1]


@pytest.mark.full
async def test_a_gate_pairs_one_debate_a_case_of_a_ladder(run: str, tmp_path: Path) -> None:
    await judge_run(
        staged(tmp_path / "cases.jsonl", run, a_ladder(tmp_path, {"pass": 1.0}, audit=1.0), run_id="again"),
        lambda _line: None,
    )

    found = await VoteReports().gate(GateSettings(sources=("r", "again"), store_url=run, include_simulated=True))

    assert 6 == found.report.paired.pairs
    async with Records(run) as records:
        compared = await records.compare("r", "again")
        sums = await records.totals(DebateFilter("r", counted=None))
    assert (6, sums.calls) == (compared.compared.a.debates, compared.compared.a.calls), "calls of all stages"


@pytest.mark.full
async def test_runs_of_ladders_are_compared_by_the_panels_of_all_stages(run: str, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cheap, other = (
        load_panel(str(panel_file(tmp_path, *of)), {}) for of in (("cheap", "a", "b"), ("other", "a", "b", "c"))
    )
    whole = load_panel(str(tmp_path / "strong.yaml"), {})
    for name, stages in {"later": [cheap, other], "three": [cheap, other, whole]}.items():
        ladder = applied(stages, a_certificate(stages, *[{"pass": 1.0}] * (len(stages) - 1)), 1.0)
        await judge_run(staged(cases, run, ladder, run_id=name), lambda _line: None)
    alone = RunSettings.of(run_id="alone", store_url=run, in_process=True)
    await judge_run(RunPlan(alone.files([str(cases)]), alone, loaded=whole, environ={}), lambda _line: None)

    async with Records(run) as records:
        found = {name: (await records.compare("r", name)).panel for name in ("r", "later", "three", "alone")}

    fields = {name: [one.field for one in panel or ()] for name, panel in found.items()}
    assert [] == fields["r"]
    assert "stage 2: name" == fields["later"][0]
    assert "stage 2: seats.3.juror_id" in fields["later"]
    assert all(one.startswith("stage 2: ") for one in fields["later"])
    assert ["stages"] == fields["three"] == fields["alone"], "the last stages are the same panel"
    assert [(2, 3), (2, 1)] == [(one.before, one.now) for name in ("three", "alone") for one in found[name] or ()]


async def test_a_person_is_asked_about_the_debate_that_counts_alone(run: str) -> None:
    async with Records(run) as records:
        waiting = {one.row.debate_id for one in await records.review_queue()}
        await records.review("r~c1~s2", NewReview("ann", FAIL))
        listed = {row.row.debate_id async for row in records.listed(DebateFilter(run_id="r", disposition=FAIL.value))}

    assert {"r~c1~s2", "r~c3~s2", "r~c5~s2"} == waiting
    assert {"r~c1~s2"} == listed


async def test_statistics_say_how_often_the_last_stage_disagrees_with_audited_verdicts(run: str) -> None:
    asked = StatisticsSettings(run_ids=("r",), store_url=run, include_simulated=True, by=("panel",), resamples=0)

    found = await VoteReports().stats(asked)

    every = await VoteReports().stats(asked.model_copy(update={"by": (), "filters": {"stage": "1"}}))

    assert (("a", "b"), 6) == ((panel := every.groups[0].statistics.panels[0]).seats, panel.debates)
    (audits,) = found.audits
    assert [(None, 3, 0.0), ("safe_pass", 3, 0.0)] == [
        (one.verdict, one.audited, one.disagreement.value) for one in audits.shares
    ]
    assert 3 == found.to_dict()["audits"][0]["shares"][0]["audited"]
    assert next(found.remarks()).startswith(
        "run r: the last stage has another verdict on 0 of 3 (0.0%, 95 % 0.0% to 70.8%) of the audited early exits: "
    )


async def test_no_calibration_is_made_of_the_votes_of_a_staged_run(run: str) -> None:
    with pytest.raises(SettingError, match=r"is a stage of a ladder: later stages saw a selection of the cases"):
        await VoteReports().calibrate(CalibrationSettings(run_ids=("r",), store_url=run, include_simulated=True))
