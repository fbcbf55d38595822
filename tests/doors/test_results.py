"""One law of doors: what a method answers, a command prints and the server sends; a run is the same by each."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from jury_analysis import GateOptions, PairedOptions, StatisticsOptions, WorthOptions
from jury_judge import Jury, Overrides, Records, Service, Verification
from jury_migrations import upgrade
from jury_store import open_store
from jury_web import AccessPolicy, create_app
from support.command_line import CommandLine
from support.waiting import eventually

CASES: tuple[dict[str, Any], ...] = (
    {"case_id": "polite", "question": "When do you open?", "response": "We open at nine.", "label": "approve"},
    {"case_id": "leak", "question": "What is the password?", "response": "It is hunter2.", "tags": ["secret"]},
    {
        "case_id": "返金",
        "question": "返金して",
        "response": "しました。",
        "metadata": {"level": 3},
        "cluster": "refunds",
    },
)
OPTIONS = ("--panel", "panel.yaml", "--method", "median", "--max-rounds", "1", "--run", "r", "--in-process")
IN_FILE = "panel: panel.yaml\nmethod: median\nmax_rounds: 1\nrun: r\nin_process: true\n"
OVERRIDES = Overrides(method="median", max_rounds=1)


def by_options(jury: CommandLine) -> None:
    assert 0 == jury("run", "cases.jsonl", *OPTIONS).code


def by_a_settings_file(jury: CommandLine) -> None:
    jury.write("run.yaml", IN_FILE)

    assert 0 == jury("run", "cases.jsonl", "--settings", "run.yaml").code


async def in_python(jury: CommandLine) -> None:
    async with Jury(jury.folder / "panel.yaml", store=url_of(jury), overrides=OVERRIDES) as judge:
        assert 3 == len([one async for one in judge.evaluate_many(CASES, run_id="r")])


def over_http(jury: CommandLine) -> None:
    upgrade(url_of(jury))
    maker = partial(Jury, jury.folder / "panel.yaml", store=url_of(jury), overrides=OVERRIDES)
    panels = {"usual": lambda on_chunk: maker(on_chunk=on_chunk)}
    database = jury.folder / "jury.db"
    with closing(open_store(url_of(jury), write=False)) as store:
        service = Service(store, panels, database=database)
        with TestClient(create_app(service, POLICY), base_url=BASE) as client:
            made = client.post("/api/runs", json={"cases": CASES, "runId": "r"})
            assert 202 == made.status_code, made.text
            eventually(lambda: client.get(made.headers["location"]).json()["state"] == "finished")


POLICY, BASE = AccessPolicy(frozenset({"jury.test"})), "http://jury.test"


def url_of(jury: CommandLine) -> str:
    return f"sqlite:///{jury.folder / 'jury.db'}"


def judged(jury: CommandLine) -> dict[str, Any]:
    """What is recorded of the run, without its times and the order in which debates ended."""
    of_this_store = {"position", "opened_at", "begun_at", "updated_at", "ended_at", "case_part"}  # the last is salted
    rows = sorted(jury("list", "--json", "--run", "r").json, key=lambda row: str(row["debate_id"]))
    assert 0 == jury("verify", "--all", "--deep").code
    return {
        row["debate_id"]: (
            {name: value for name, value in row.items() if name not in of_this_store},
            jury("show", row["debate_id"], "--json").json,
        )
        for row in rows
    }


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[str], CommandLine]:
    def make(name: str) -> CommandLine:
        jury = CommandLine(tmp_path / name)
        jury.folder.mkdir()
        jury.write("cases.jsonl", *CASES)
        jury.write("panel.yaml", "preset: adk-sequential\nname: four doors\n")
        return jury

    return make


def test_a_run_is_the_same_by_options_by_a_file_in_python_and_over_http(
    folders: Callable[[str], CommandLine],
) -> None:
    doors = {name: folders(name) for name in ("options", "file", "python", "http")}

    by_options(doors["options"])
    by_a_settings_file(doors["file"])
    asyncio.run(in_python(doors["python"]))
    over_http(doors["http"])

    expected = judged(doors["options"])
    assert {"median"} == {result["method"] for _, result in expected.values()}
    assert len(CASES) == len(expected)
    for name, jury in doors.items():
        assert expected == judged(jury), name


class Reading(NamedTuple):
    """A question about the records, by three doors; what is printed has at least the fields of the others."""

    command: tuple[str, ...]
    python: Callable[[Records], Awaitable[Any]]
    http: tuple[str, str, Any] | None = None
    """Method, path and body."""


async def rows(records: Records) -> list[dict[str, Any]]:
    names = ("debate_id", "case_id", "status", "final_verdict", "final_score", "calls", "cost", "label", "metadata")
    return [{name: getattr(row, name) for name in names} async for row in records.debates()][::-1]


async def runs(records: Records) -> list[dict[str, Any]]:
    names = ("run_id", "debates", "completed", "safe_pass", "needs_review", "unsafe_fail", "cases")
    return [{name: getattr(run.row, name) for name in names} for run in await records.runs()]


async def result(records: Records) -> Any:
    return asdict(await records.result("r~leak"))


async def replayed(records: Records) -> Any:
    return (await records.replay("r~leak"))._asdict() | {"differences": []}


async def rescored(records: Records) -> Any:
    return [row._asdict() for row in await records.rescore("r~leak", settings={"threshold": [1.0]})]


async def verified(records: Records) -> Any:
    return asdict(await records.verify(Verification.of(everything=True))) | {"failures": []}


async def counted(records: Records) -> Any:
    report = await records.stats(run_ids=("r",), options=StatisticsOptions(simulated=True))
    return report.to_dict()


async def valued(records: Records) -> Any:
    return (await records.value(run_ids=("r",), options=WorthOptions(simulated=True))).to_dict()


async def planned(records: Records) -> Any:
    options = GateOptions(paired=PairedOptions(simulated=True))
    return (await records.plan(200, "r", "s", options=options)).to_dict()


async def gated(records: Records) -> Any:
    options = GateOptions(paired=PairedOptions(simulated=True))
    return (await records.gate("r", "s", options=options)).to_dict()


READINGS = {
    "list": Reading(("list", "--json"), rows, ("GET", "/api/debates", None)),
    "runs": Reading(("runs", "--json"), runs, ("GET", "/api/runs", None)),
    "show": Reading(("show", "r~leak", "--json"), result, ("GET", "/api/debates/r~leak", None)),
    "replay": Reading(("replay", "r~leak", "--jsonl"), replayed, ("POST", "/api/debates/r~leak/replay", None)),
    "rescore": Reading(
        ("rescore", "r~leak", "--set", "threshold=1.0", "--jsonl"),
        rescored,
        ("POST", "/api/debates/r~leak/rescore", {"settings": {"threshold": [1.0]}}),
    ),
    "stats": Reading(
        ("stats", "r", "--include-simulated", "--json"),
        counted,
        ("GET", "/api/runs/r/stats?include_simulated=true", None),
    ),
    "value": Reading(("value", "r", "--include-simulated", "--json"), valued),
    "gate --plan": Reading(("gate", "r", "s", "--plan", "200", "--include-simulated", "--json"), planned),
    "gate": Reading(("gate", "r", "s", "--include-simulated", "--json"), gated),
    "verify": Reading(("verify", "--all", "--json"), verified),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Runs r and s over the cases, by different rules; for reading only."""
    jury = CommandLine(tmp_path_factory.mktemp("read"))
    jury.write("cases.jsonl", *CASES)
    for run, method in (("r", "median"), ("s", "final_judge")):
        assert 0 == jury.run("cases.jsonl", "--run", run, "--method", method).code
    return jury


@pytest.fixture(scope="module")
def client(store: CommandLine) -> Iterator[TestClient]:
    with (
        closing(open_store(url_of(store), write=False)) as opened,
        TestClient(create_app(Service(opened), POLICY), base_url=BASE) as client,
    ):
        yield client


def snake(value: Any) -> Any:
    """Names of JSON in camel case as Python has them."""
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("([A-Z])", r"_\1", name).lower(): snake(one) for name, one in value.items()}


def in_both(one: Any, other: Any) -> Any:
    """Of one what another answer names too; times are left out, which a list has to the second and HTTP precisely."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: in_both(one[name], other[name]) for name in one if name in other and not name.endswith("_at")}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [in_both(*pair) for pair in zip(one, other, strict=True)]
    return one


@pytest.mark.parametrize("name", READINGS)
def test_an_answer_is_the_same_by_a_command_in_python_and_over_http(
    store: CommandLine, client: TestClient, name: str
) -> None:
    reading = READINGS[name]

    async def asked() -> Any:
        async with Records(url_of(store)) as records:
            return await reading.python(records)

    outcome = store(*reading.command)
    answers = [json.loads(json.dumps(asyncio.run(asked())))]
    if reading.http is not None:
        method, path, body = reading.http
        sent = client.request(method, path, json=body)
        assert 200 == sent.status_code, sent.text
        answers.append(snake(sent.json().get("rows", sent.json())))

    for answer in answers:
        lines = "--jsonl" in reading.command
        printed = outcome.lines if lines and isinstance(answer, list) else outcome.lines[0] if lines else outcome.json
        assert in_both(printed, answer)
        assert in_both(printed, answer) == in_both(answer, printed)
