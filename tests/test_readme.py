"""README, getting started and the examples work as they are.

Unless `-m long` is given, only the README's `jury demo` starts Ray.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jury_judge import load_panel
from jury_providers import simulation_server
from support.group_of_tests import COMMAND

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs" / "getting-started.md").read_text()
JURY = str(Path(sys.executable).parent / "jury")
TESTS = COMMAND
"""The one line that is not called: it would run this test."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text: str) -> list[list[str]]:
    lines = [line for block in blocks(text, "console") for line in block.splitlines()]
    return [line.removeprefix("uv run jury ").split() for line in lines if line.startswith("uv run jury ")]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    more = ["--in-process"] if arguments[0] == "run" and "--in-process" not in arguments else []
    return subprocess.run(
        [JURY, *arguments, *more], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("JURY_")}


_UV = """#!/bin/sh
# `uv run` of this clone, wherever it is called. The server is given any free port.
test "$1" = run && shift || exit 9
test "$1 $2" = "jury serve" && set -- "$@" --port 0
case "$1 $2" in {in_process}) set -- "$@" --in-process;; esac
exec "{folder}/$@"
"""


class Page:
    """A page that is followed in a new folder, block by block; `said` is what every command printed."""

    def __init__(self, folder: Path, in_process: str, variables: dict[str, str]) -> None:
        self.folder = folder / "clone"
        self.said: dict[str, str] = {}
        self.done: list[str] = []
        self.folder.mkdir()
        (folder / "bin").mkdir()
        uv = folder / "bin" / "uv"
        uv.write_text(_UV.format(in_process=in_process, folder=Path(JURY).parent))
        uv.chmod(0o755)
        self._environment = environment() | variables | {"PATH": f"{uv.parent}{os.pathsep}{os.environ['PATH']}"}

    def follow(self, language: str, block: str) -> None:
        """Write the file that a block is, or run its lines."""
        match language:
            case "json":
                (self.folder / "cases.jsonl").write_text(block)
            case "yaml" if block.startswith("# panel.yaml\n"):
                (self.folder / "panel.yaml").write_text(block)
            case "python":
                self._call("python", [sys.executable, "-c", block])
            case "sh":
                self._call(block, ["bash", "-ec", block])
            case "console":
                for line in block.splitlines():
                    if line.startswith("uv run jury serve"):
                        self._serve(line)
                    elif line != TESTS:
                        self._call(line, ["bash", "-ec", line])

    def _call(self, name: str, command: list[str]) -> None:
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        self._keep(name, done.stdout + done.stderr)

    def _serve(self, line: str) -> None:
        server = subprocess.Popen(
            ["bash", "-ec", f"exec {line}"], cwd=self.folder, env=self._environment, stderr=subprocess.PIPE, text=True
        )
        assert server.stderr is not None
        first = server.stderr.readline()
        server.send_signal(signal.SIGINT)
        said = first + server.communicate()[1]
        assert server.returncode == 0, said
        self._keep(line, said)

    def _keep(self, name: str, said: str) -> None:
        self.done.append(name)
        self.said[name] = said


LANGUAGES = r"```(\w+)\n(.*?)```"
ON_RAY = pytest.param("never", marks=pytest.mark.long)


async def follow(text: str, folder: Path, in_process: str) -> Page:
    async with simulation_server() as models:
        page = Page(folder, in_process, models.variables)
        for language, block in re.findall(LANGUAGES, text, re.DOTALL):
            await asyncio.to_thread(page.follow, language, block)
    return page


def printed_by(page: Page, *words: str) -> str:
    (text,) = (text for line, text in page.said.items() if all(word in line for word in words))
    return text


@pytest.mark.ray
@pytest.mark.parametrize("in_process", ["'jury run'", ON_RAY])
async def test_the_readme_can_be_followed_block_by_block(tmp_path: Path, in_process: str) -> None:
    page = await follow(README, tmp_path, in_process)

    assert "No model is called" in printed_by(page, "jury demo")
    assert "Traceback" not in printed_by(page, "jury demo")
    assert "refund-18" in printed_by(page, "--run first --jsonl")
    assert re.search(r"(\d+) debates: \1 equal", printed_by(page, "jury replay"))


@pytest.mark.full
@pytest.mark.parametrize("in_process", ["'jury run'|'jury demo'", ON_RAY])
async def test_getting_started_can_be_followed_block_by_block(tmp_path: Path, in_process: str) -> None:
    page = await follow(GUIDE, tmp_path, in_process)

    first = printed_by(page, "--run first --jsonl")
    assert "refund-17" in first
    assert "refund-18" in first
    assert re.search(r"1 seal over \d+ events", printed_by(page, "uv run jury verify", "--key"))
    assert "safe_pass" in page.said["python"] or "needs_review" in page.said["python"]
    assert {"demo", "cases", "run", "list", "show", "verify", "seal", "replay", "rescore", "fork", "compare"} <= {
        word for line in page.done for word in line.split()[3:4]
    }


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 700


def test_every_command_of_the_guides_is_called_through_uv() -> None:
    lines = [
        line
        for text in (README, GUIDE)
        for language in ("console", "sh")
        for block in blocks(text, language)
        for line in block.splitlines()
    ]

    assert [line for line in lines if not line.startswith(("uv run ", "export "))] == []


def test_blocks_that_need_keys_are_marked() -> None:
    marked = re.findall(r"\*Needs keys\*[^\n]*\n\n```(\w+)", GUIDE)

    assert marked == ["sh"]
    assert [0, 1] == [len(blocks(text, "sh")) for text in (README, GUIDE)]


@pytest.mark.parametrize(
    "block", [block for text in (GUIDE, (ROOT / "docs" / "panels.md").read_text()) for block in blocks(text, "yaml")]
)
def test_panels_that_are_shown_can_be_read(tmp_path: Path, block: str) -> None:
    (tmp_path / "strict.md").write_text("Judge by the letter.")
    without_packages = "\n".join(line for line in block.splitlines() if "{redactor:" not in line)
    (tmp_path / "panel.yaml").write_text(without_packages)

    assert load_panel(str(tmp_path / "panel.yaml"), {}).panel.seats


@pytest.mark.full
def test_the_examples_run_as_they_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    text = (ROOT / "examples" / "README.md").read_text()

    results = [run(arguments, tmp_path) for arguments in commands(text)]

    assert [0, 0, 0, 0] == [result.returncode for result in results], results[-1].stderr
    assert [5, 5, 5, 5] == [len(result.stdout.splitlines()) for result in results]


def test_the_guides_name_every_command() -> None:
    from jury_cli import COMMANDS

    shown = run(["--help"], ROOT).stdout

    for name in COMMANDS:
        assert f"  {name} " in shown
        assert re.search(rf"jury {name}\b|`{name}`", GUIDE + (ROOT / "CHANGELOG.md").read_text())


def test_ci_runs_the_readmes_own_test_command_and_then_the_tests_that_it_leaves_out() -> None:
    ci = (ROOT / ".ci" / "run").read_text()

    assert f"{TESTS}\n" in "\n".join(blocks(README, "console"))
    own, others = re.findall(r"^ *(uv run (?:--no-sync |--group test )?pytest\b.*)$", ci, re.MULTILINE)
    assert own.startswith(TESTS)
    assert " -m " not in own
    assert others.endswith(" -m full")


LINKS = [
    (page, link)
    for page in ("README.md", "docs/getting-started.md")
    for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text())
]


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_links_of_the_guides_lead_somewhere(page: str, link: str) -> None:
    assert link.startswith("https://") or ((ROOT / page).parent / link).exists()
