"""SIGINT and SIGTERM end every command at any time with exit code 130 and one line."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from support.command_line import CommandLine, environment
from support.started_processes import ends_with_the_test
from support.waiting import eventually

TESTS = Path(__file__).parents[1]
SIGNALS = [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
CASES = [{"id": name, "question": f"{name}?", "response": "Yes."} for name in ("one", "two")]
INTERRUPTED = (130, b"", b"jury: interrupted\n")


@pytest.fixture(autouse=True)
def not_ignored() -> Iterator[None]:
    """Processes inherit that a signal is ignored, as in background processes of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes, bytes]:
    out, err = process.communicate()
    return process.returncode, out, err


def signalled(folder: Path, number: signal.Signals, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    return ends_with_the_test(
        subprocess.Popen(
            [sys.executable, "-m", "support.signalled", number.name, module, *arguments],
            cwd=folder,
            env=environment({"PYTHONPATH": str(TESTS)}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    )


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("jury_cli.main", ("list",)),
        ("sqlalchemy", ("list", "--json")),
        pytest.param("asyncio.selector_events", ("watch", "--all"), marks=pytest.mark.full),
        pytest.param("uvicorn", ("serve", "--port", "0", "--read-only"), marks=pytest.mark.full),
    ],
)
def test_a_signal_in_the_middle_of_an_import_ends_the_command(judged, number, module, arguments):
    assert INTERRUPTED == ended(signalled(judged.folder, number, module, *arguments))


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="/proc shows which signals a process handles")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_any_moment_ends_the_command(judged, number):
    delays = [n * 0.04 for n in range(12)]
    outcomes = {}
    for delay in delays:
        process = judged.start("watch", "--all", "--json")
        handles_signals(process)
        time.sleep(delay)  # no waiting for anything: the moment is what is varied
        process.send_signal(number)
        code, out, err = ended(process)
        outcomes[delay] = (
            code,
            out,
            err.replace(b"following what is not over and what opens from now on; ", b"")[-18:],
        )

    assert dict.fromkeys(delays, INTERRUPTED) == outcomes


INTERRUPTED_BEFORE_WORK_BEGINS = """
import asyncio, os, signal
from jury_cli.signals import raising, take_signals

async def work(): ...

def begin(coroutine):
    os.kill(os.getpid(), signal.SIGTERM)
    asyncio.run(coroutine)

take_signals()
try:
    with raising():
        begin(work())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_signal_before_work_begins_leaves_no_warning():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_BEFORE_WORK_BEGINS], env=environment({}), capture_output=True, check=False
    )

    assert (0, b"interrupted\n", b"") == (ended.returncode, ended.stdout, ended.stderr)


def handles_signals(process: "subprocess.Popen[bytes]") -> None:
    """Returns once the first instructions of the entry point were done."""
    status = Path(f"/proc/{process.pid}/status")

    def caught() -> bool:
        [line] = [line for line in status.read_text().splitlines() if line.startswith("SigCgt:")]
        return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

    eventually(caught)


@pytest.mark.full
def test_a_signal_that_the_caller_ignores_stays_ignored(judged):
    process = judged.start("list", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.send_signal(signal.SIGINT)
    code, out, _ = ended(process)

    assert code == 0
    assert b"r1~leak" in out


@pytest.mark.full
@pytest.mark.parametrize("number", SIGNALS)
def test_a_stopped_run_says_what_it_waits_for_and_a_second_signal_stops_it(jury: CommandLine, number) -> None:
    """It takes ten seconds: that is when it is said first."""
    run = ("run", jury.write("cases.jsonl", *CASES), "--run", "r1", "--in-process")
    process = jury.start(*run, "--simulate", "latency=3000", "--simulate", "sigma=0")
    says(process, "No model is called")
    eventually(lambda: process.poll() is not None or jury("list", "--json").out.count('"evaluating"') == 2, 120)
    process.send_signal(number)
    says(process, "finishing the debates that run; press Ctrl-C again to stop at once")
    waits = says(process, "waiting for")
    process.send_signal(number)
    code, out, err = ended(process)
    resumed = jury(*run)

    assert re.fullmatch(
        r"jury: waiting for 6 calls: juror \(simulated\) 6 calls, \d\d\.\d s; Ctrl-C again stops at once", waits
    )
    assert (130, b"") == (code, out)
    assert b"the same command with --run r1 goes on from here" in err
    assert b"Traceback" not in err
    assert 0 == resumed.code
    assert 2 == sum("(simulated)" in line for line in resumed.out.splitlines())


def says(process: "subprocess.Popen[bytes]", text: str) -> str:
    """The next line on stderr that has the text; those before it are passed over."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line.decode():
            return line.decode().strip()
    raise AssertionError(f"it ended without saying {text!r}")


@pytest.mark.full
@pytest.mark.ray
@pytest.mark.kill
@pytest.mark.parametrize(
    ("number", "seen"),
    [
        (signal.SIGINT, "gcs_server"),
        pytest.param(signal.SIGTERM, "raylet", marks=pytest.mark.full),
        pytest.param(signal.SIGTERM, "ray::IDLE", marks=pytest.mark.full),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_signal_while_ray_starts_leaves_no_process_behind(jury: CommandLine, number, seen):
    process = jury.start("demo", "--json")
    eventually(lambda: process.poll() is not None or seen in names(jury.folder))
    process.send_signal(number)
    code, out, err = ended(process)

    assert (130, b"") == (code, out)
    assert err.splitlines()[-1] == b"jury: interrupted"
    assert b"Traceback" not in err
    assert b"SIGTERM received" not in err
    eventually(lambda: not names(jury.folder))  # a process that was killed takes a moment to go


def names(folder: Path) -> list[str]:
    """Of the processes that work in the folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.name())
        except psutil.Error:
            continue
    return found
