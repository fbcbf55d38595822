"""What the commands over votes do, in Python: settings as values, votes of files and of a store, probes."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jury_analysis import GateOptions, PairedOptions, WorthOptions
from jury_judge import (
    GateSettings,
    Jury,
    PlannedProbe,
    ProbeSettings,
    Records,
    StatisticsSettings,
    VoteReading,
    VoteReports,
    WorthSettings,
    judge_probe,
    settings_of,
)
from support.vote_rows import long_rows, write_jsonl

ROWS = [{"id": f"c{number}", "question": "Open?", "response": "At nine.", "label": "approve"} for number in range(4)]


@pytest.fixture
def votes(tmp_path: Path) -> str:
    return str(write_jsonl(tmp_path / "votes.jsonl", long_rows()))


@pytest.fixture
async def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    async with Jury("independent", store=url) as jury:
        for run in ("base", "candidate"):
            assert 4 == len([one async for one in jury.evaluate_many(ROWS, run_id=run)])
    return url


async def test_a_table_is_read_once_and_counted_by_every_report(votes: str, tmp_path: Path) -> None:
    reports, table = VoteReports(), tmp_path / "table.parquet"

    written = await reports.votes([votes], VoteReading(cluster="cluster", seats=("gpt", "claude")), table)
    found = await reports.stats(StatisticsSettings(sources=(str(table),), resamples=0))
    worth = await reports.value(WorthSettings(votes=(str(table),)))
    gate = await reports.gate(GateSettings(votes=(str(table),), base=("gpt",), candidate=("claude",)))
    plan = await reports.plan(GateSettings(votes=(str(table),), base=("gpt",), plan=300))

    assert (80, 80) == (written, pq.read_table(table).num_rows)
    assert ["claude", "gpt"] == sorted(found.groups[0].statistics.panels[0].seats)
    assert 2 == len(worth.values.seats)
    assert ("gpt", "claude") == (gate.base, gate.candidate)
    assert 300 == plan.cases


async def test_records_and_reports_say_the_same_of_a_store(store: str) -> None:
    asked = {"sources": ("base",), "store_url": store, "include_simulated": True}
    options = GateOptions(paired=PairedOptions(simulated=True))

    async with Records(store, create=False) as records:
        worth = await records.value(run_ids=["base"], options=WorthOptions(simulated=True))
        plan = await records.plan(200, "base", "candidate", options=options)

    sides = GateSettings(sources=("base", "candidate"), store_url=store, include_simulated=True, plan=200)
    assert worth.to_dict() == (await VoteReports().value(WorthSettings(**asked))).to_dict()
    assert plan.to_dict() == (await VoteReports().plan(sides)).to_dict()


async def test_twins_are_judged_beside_their_cases_and_compared(tmp_path: Path) -> None:
    (tmp_path / "probe.yaml").write_text("probe: [length, speakers]\nrun: p\npreset: parallel-rounds\nmax_calls: 500\n")
    cases = str(write_jsonl(tmp_path / "cases.jsonl", ROWS))
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    asked = settings_of(
        tmp_path / "probe.yaml",
        ProbeSettings,
        {},
        paths=(cases,),
        store_url=url,
        include_simulated=True,
        in_process=True,
    )
    lines: list[dict[str, Any]] = []
    said: list[str] = []

    report = await judge_probe(PlannedProbe(asked.files([cases]), asked), lines.append, say=said.append)

    assert 12 == len(lines)
    assert report is not None
    assert report.twins is not None
    assert {"speakers", "length"} == {one.probe for one in report.twins.probes}
    assert report == await VoteReports().probes(ProbeSettings(run_id="p", store_url=url, include_simulated=True))
