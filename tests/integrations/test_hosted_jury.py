"""One jury for everything that a tool judges: in every kind of caller, once a case, beside other processes."""

import asyncio
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from jury_cases import CaseFileError
from jury_events import JuryError, SettingError
from jury_integrations import SIMULATED, DebateUnfinished, HostedJury, JuryOutcome
from jury_integrations.hosted_jury import hosted_jury
from jury_judge import CollaborativeJuryResult, PanelFileError
from jury_store import SqliteLock, open_store
from support.command_line import environment
from support.each_row import each_row
from support.runtime_harness import Meter
from support.started_processes import ends_with_the_test
from support.waiting import eventually


@pytest.fixture
def hosted(sqlite_url: str) -> HostedJury:
    return HostedJury("tool", panel="independent", store=sqlite_url)


def a_row(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {"id": f"c{number}", "question": f"Refund order {number}.", "response": "Refunded to 4242.", **fields}


def test_a_case_is_judged_with_all_that_a_tool_shows(hosted: HostedJury) -> None:
    outcome = hosted.judge(hosted.case(a_row()))

    assert outcome.passed == (outcome.verdict == "safe_pass")
    assert outcome.score * 100 == outcome.result.final_score
    assert {
        "debate_id",
        "run_id",
        "verdict",
        "reason",
        "score",
        "votes",
        "agreement",
        "rounds",
        "panel",
        "simulated",
    } == set(outcome.metadata)
    assert outcome.metadata["debate_id"].startswith(f"{hosted.run}~c0.")
    assert set(outcome.metadata["votes"]) == set(outcome.result.participating_jurors)
    assert SIMULATED in outcome.explanation
    assert f"jury show {outcome.result.debate_id}" == outcome.explanation.splitlines()[-1]


def test_what_was_judged_costs_nothing_and_a_changed_answer_is_a_new_case(sqlite_url: str, meter: Meter) -> None:
    ids = []
    for row in (a_row(), a_row(label="safe_pass"), a_row(response="Refused.")):
        hosted = HostedJury("tool", panel="independent", store=sqlite_url)
        ids.append(hosted.judge(hosted.case(row)).metadata["debate_id"])

    assert ids[0] == ids[1] != ids[2]
    assert 2 * 3 == meter.served.total()


def test_another_panel_begins_another_run(sqlite_url: str) -> None:
    runs = {HostedJury("tool", panel=panel, store=sqlite_url).run for panel in ("independent", "parallel-rounds", None)}

    assert 2 == len(runs)  # the preset that is the default is one panel with it


async def test_callers_in_threads_and_event_loops_share_one_jury(hosted: HostedJury) -> None:
    cases = [hosted.case(a_row(number)) for number in range(4)]
    found = await asyncio.gather(
        *(hosted.judged(case) for case in cases), *(asyncio.to_thread(hosted.judge, case) for case in cases)
    )

    assert [one.verdict for one in found[:4]] == [one.verdict for one in found[4:]]
    assert 1 == len([one for one in threading.enumerate() if one.name == "jury"])


def test_the_store_is_free_for_other_processes_between_cases(hosted: HostedJury, sqlite_url: str) -> None:
    hosted.judge(hosted.case(a_row()))

    open_store(sqlite_url, write=True).close()


def test_it_waits_for_another_process_and_says_so(
    hosted: HostedJury, sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    lock = SqliteLock.acquire(Path(sqlite_url.removeprefix("sqlite:///")), run="other", wait=0)
    waiting: list[JuryOutcome] = []
    thread = threading.Thread(target=lambda: waiting.append(hosted.judge(hosted.case(a_row()))))
    with caplog.at_level(logging.WARNING):
        thread.start()
        eventually(lambda: "waiting up to" in caplog.text)
        assert "other" in caplog.text
        lock.release()
        thread.join(300)

    assert 1 == len(waiting)


_WAITING = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from jury_integrations.hosted_jury import HostedJury
hosted = HostedJury("tool", panel="independent", store=sys.argv[1])
hosted.judge(hosted.case({"id": "c", "question": "Open?", "response": "At nine."}))
"""


@pytest.mark.full
def test_a_process_that_waits_ends_when_it_is_interrupted(sqlite_url: str) -> None:
    lock = SqliteLock.acquire(Path(sqlite_url.removeprefix("sqlite:///")), run="other", wait=0)
    waiting = ends_with_the_test(
        subprocess.Popen(
            [sys.executable, "-u", "-c", _WAITING, sqlite_url],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment(),
        )
    )
    assert waiting.stdout is not None
    line = b""
    while b"waiting up to" not in line:
        line = waiting.stdout.readline()
        assert line, "it ended before it waited"
    waiting.send_signal(signal.SIGINT)

    assert waiting.wait(120) != 0
    lock.release()


def _judge_in_a_fork(url: str, answers: Any) -> None:
    hosted = hosted_jury("tool", "independent", url)
    answers.put(hosted.judge(hosted.case(a_row(1))).verdict)
    os._exit(0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12, in a process with threads
def test_a_forked_process_has_a_loop_of_its_own(sqlite_url: str) -> None:
    hosted = hosted_jury("tool", "independent", sqlite_url)
    hosted.judge(hosted.case(a_row()))
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_judge_in_a_fork, args=(sqlite_url, answers))
    child.start()
    child.join(120)
    child.kill()  # where it hangs, pytest would wait for it

    assert 0 == child.exitcode
    assert answers.get()


@each_row(
    ("settings", "error"),
    [
        ({"panel": "nosuch.yaml"}, PanelFileError),
        ({"store": "nosuch"}, JuryError),
        ({"policy": "nosuch.md"}, SettingError),
        ({"policy": "."}, SettingError),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_before_anything_is_judged(
    settings: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        HostedJury("tool", **settings)


def test_a_command_of_a_tool_made_with_click_prints_one_line_of_a_setting_that_cannot_be_used() -> None:
    @click.command()
    def score() -> None:
        hosted_jury("tool", "nosuch.yaml")

    ended = CliRunner().invoke(score)

    assert (1, 1) == (ended.exit_code, len(ended.stderr.splitlines()))
    assert ended.stderr.startswith("Error: nosuch.yaml: there is no such panel file")


def test_the_policy_is_that_of_cases_without_one(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "policy.md").write_text("Never refund.")
    hosted = HostedJury("tool", store=sqlite_url, policy=str(tmp_path / "policy.md"))
    cases = [hosted.case(row) for row in (a_row(), a_row(policy="Be kind."))]

    assert ["Never refund.", "Be kind."] == [case.scenarios[0].question.policy for case in cases]


def test_a_long_id_is_cut_and_a_row_with_nothing_to_judge_is_refused(hosted: HostedJury) -> None:
    assert len(hosted.case(a_row() | {"id": "x" * 500}).case_id) <= 500
    with pytest.raises(CaseFileError):
        hosted.case({"id": "c", "question": "Open?"})


def test_a_debate_without_a_judgment_is_no_outcome(hosted: HostedJury) -> None:
    result = CollaborativeJuryResult([], None, [], 0, None, None, None, None, debate_id="d1", status="cancelled")

    with pytest.raises(DebateUnfinished, match="d1 is cancelled"):
        JuryOutcome.of(hosted.case(a_row()), result, {})
