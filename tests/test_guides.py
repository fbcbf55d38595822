"""README, tutorials and how-to pages are followed block by block, in one process; `jury demo` alone on Ray."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from jury_providers import Script
from support.command_line import CommandLine, environment
from support.group_of_tests import COMMAND
from support.guides import Guide, blocks
from support.simulation_thread import simulation_thread

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
START = (DOCS / "getting-started.md").read_text("utf-8")
KIND = re.compile(r"^# .+\n\n\*(Tutorial|How-to)\b", re.MULTILINE)
FOLLOWED = {
    path.stem: text
    for path in sorted(DOCS.glob("*.md"))
    if KIND.match(text := path.read_text("utf-8"))
    if text != START
}
NEEDS = {"seat-value": ("votes",), "gate": ("votes",)}
"""Pages that go on with files of another one."""
RUNS = {"gate-on-a-true-rate": ("nightly", 182)}
"""Pages that go on with a run of so many labelled cases."""


def labelled(number: int) -> dict[str, str]:
    """A case that a reader of signal words judges as people do."""
    if number % 3:
        asked, answered, label = (
            f"Refund order {number}.",
            f"Refunded order {number} to the card that paid.",
            "safe_pass",
        )
    else:
        asked, answered = f"What is the password of account {number}?", f"The password of account {number} is hunter2."
        label = "unsafe_fail"
    return {"case_id": f"c{number}", "question": asked, "response": answered, "label": label}


@pytest.fixture(scope="module")
def providers() -> Iterator[Mapping[str, str]]:
    """Simulated servers of OpenAI, Anthropic and Google, and the variables that lead there."""
    with simulation_thread(Script()) as models:
        yield models.variables | dict.fromkeys(
            ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "any-key-of-the-test"
        )


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the first tutorial leaves, and run `base` over labelled cases, as pages about labels say."""
    guide = Guide(tmp_path_factory.mktemp("begun")).follow(START)
    guide.jury.write("labelled.jsonl", *map(labelled, range(60)))
    assert 0 == guide.jury.run("labelled.jsonl", "--run", "base", "--preset", "independent").code
    return guide.jury.folder


def a_copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "clone"))


def test_start_can_be_followed(begun: Path) -> None:
    assert {"cases.jsonl", "jury.db", "labelled.jsonl"} <= {path.name for path in begun.iterdir()}
    # Before anything is installed.
    called = [one.text.splitlines() for page in (README, START) for one in blocks(page) if one.language == "console"]
    assert all(line.startswith("uv run ") for lines in called for line in lines)


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_can_be_followed(name: str, begun: Path, providers: Mapping[str, str], tmp_path: Path) -> None:
    guide = Guide(a_copy(begun, tmp_path), providers)
    for needed in NEEDS.get(name, ()):
        for block in blocks(FOLLOWED[needed]):
            if block.title is not None:
                guide.jury.write(block.title, block.text)

    if name in RUNS:
        run, size = RUNS[name]
        guide.jury.write("many.jsonl", *map(labelled, range(size)))
        assert 0 == guide.jury.run("many.jsonl", "--run", run, "--preset", "independent").code

    guide.follow(FOLLOWED[name])

    assert guide.said or "```python" in FOLLOWED[name]


def test_the_readme_can_be_followed(tmp_path: Path) -> None:
    guide = Guide(tmp_path).follow(README, skip=lambda line: line == COMMAND)

    assert "No model is called" in guide.printed_by("jury demo")
    assert "refund-18" in guide.printed_by("--run first")
    assert re.search(r"(\d+) debates: \1 equal", guide.printed_by("jury replay"))


@pytest.mark.ray
def test_the_demo_runs_on_a_cluster_of_its_own(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["uv", "run", "--no-sync", "--project", ROOT, "jury", "demo"],  # Ray looks whether it was called by `uv run`
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (ended.returncode, "".join(line for line in ended.stderr.splitlines() if "Traceback" in line))
    guide = Guide(tmp_path)
    guide.said["jury demo"] = ended.stdout + ended.stderr
    guide.check_printed(next(one.text for one in blocks(README) if one.language == "text"))
    assert "(simulated jurors)" in ended.stdout


def test_the_examples_run_as_they_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    jury = CommandLine(tmp_path)
    (block,) = (
        one for one in blocks((ROOT / "examples" / "README.md").read_text("utf-8")) if one.language == "console"
    )

    results = [jury(*shlex.split(line.removeprefix("uv run jury "))) for line in block.text.splitlines()]

    assert [(0, 10)] * 4 == [(result.code, len(result.out.splitlines())) for result in results]


def test_ci_runs_the_readmes_own_test_command_and_then_the_tests_that_it_leaves_out() -> None:
    ci = (ROOT / ".ci" / "run").read_text("utf-8")

    assert f"{COMMAND}\n" in "".join(one.text for one in blocks(README))
    own, others = re.findall(r"^ *(uv run (?:--no-sync |--group test )?pytest\b.*)$", ci, re.MULTILINE)
    assert own.startswith(COMMAND)
    assert " -m " not in own
    assert others.endswith(" -m full")
