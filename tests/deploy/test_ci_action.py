"""`action.yml` and the job for GitLab: their steps run as they are, with simulated jurors."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from support.command_line import JURY, CommandLine, environment

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "examples" / "ci" / "gitlab-ci.yml").read_text())
PANEL = "preset: independent\nseats: [{model: simulated/one}, {model: simulated/other}]\n"
COMMENTS = "comments"
GH = f"""#!/usr/bin/env python3
import json, os, sys
from pathlib import Path

folder = Path({COMMENTS!r})
folder.mkdir(exist_ok=True)
given = sys.argv[1:]
if "--method" not in given:  # the list of comments, as `--jq` chooses from it
    found = [one for one in sorted(folder.iterdir()) if one.read_text().startswith(os.environ["MARKER"])]
    print("\\n".join(map(str, found)))
else:
    place = Path(given[3]) if given[2] == "PATCH" else folder / f"{{len(list(folder.iterdir()))}}.md"
    place.write_text(Path(given[-1].removeprefix("body=@")).read_text())
"""
"""A `gh` whose comments are files."""


class ActionStep(NamedTuple):
    """How a step of the action ended."""

    name: str
    code: int
    err: str


@pytest.fixture
def jury(tmp_path: Path) -> CommandLine:
    """The command in a folder with cases, a panel, and a `gh` that notes what it is called with."""
    jury = CommandLine(tmp_path)
    jury.write(
        "cases.jsonl", *({"id": f"c{number}", "question": "Open?", "response": "At nine."} for number in range(4))
    )
    (jury.folder / "panel.yaml").write_text(PANEL)
    commands = jury.folder / "bin"
    commands.mkdir()
    gh = commands / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    return jury


def expanded(text: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """The text with its expressions as the runner fills them in."""
    known = {
        **{f"inputs.{name}": value for name, value in inputs.items()},
        **{f"steps.judge.outputs.{name}": value for name, value in outputs.items()},
        "github.token": "t0ken",
        "github.event.pull_request.number": "17",
    }
    text = text.replace("${{ inputs.run }}", inputs["run"])
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: known[found[1]], text)


def act(jury: CommandLine, **given: str) -> list[ActionStep]:
    """Runs the steps that are scripts, as in a pull request; what others do (Python, artifacts) is not needed here."""
    inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    assert set(inputs) == set(ACTION["inputs"])
    ended: list[ActionStep] = []
    outputs: dict[str, str] = {}
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        if any(one.code for one in ended) and not str(step.get("if", "")).startswith("always()"):
            continue
        variables = {name: expanded(value, inputs, outputs) for name, value in step["env"].items()}
        done = run(jury.folder, "bash", "-eo", "pipefail", "-c", step["run"], **variables)
        ended.append(ActionStep(step["name"], done.returncode, done.stderr))
        written = (jury.folder / "output.txt").read_text() if (jury.folder / "output.txt").exists() else ""
        outputs |= dict(line.split("=", 1) for line in written.splitlines())
    return ended


def run(folder: Path, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(folder / "bin"), str(Path(JURY).parent), os.environ["PATH"]))
    files = {
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_OUTPUT": "output.txt",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": path,
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(files | variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_action_judges_comments_a_summary_and_keeps_the_cassettes(jury: CommandLine) -> None:
    ended = act(jury, cases="cases.jsonl", panel="panel.yaml")

    assert [0, 0, 0, 0] == [one.code for one in ended], ended
    assert "4 debates" in (jury.folder / "summary.md").read_text()
    reports = {path.name for path in (jury.folder / "jury-report").iterdir()}
    assert {"jury.xml", "summary.md", "comment.md", "cassettes"} == reports
    assert 4 == len(list((jury.folder / "jury-report" / "cassettes").glob("*.cassette.jsonl")))


@pytest.mark.full
def test_the_action_fails_with_the_code_of_the_run_after_it_kept_the_record(jury: CommandLine) -> None:
    ended = act(jury, cases="cases.jsonl", panel="panel.yaml", fail_if="safe_pass<=100%")

    assert [("Judge", 0), ("Keep the cassettes", 0), ("Comment", 0), ("Decide", 1)] == [
        (one.name, one.code) for one in ended
    ], ended
    assert ["0.md"] == [path.name for path in (jury.folder / COMMENTS).iterdir()]


@pytest.mark.full
def test_a_run_edits_its_own_comment_and_no_other(jury: CommandLine) -> None:
    comments = jury.folder / COMMENTS
    comments.mkdir()
    (comments / "0.md").write_text("<!-- jury run other -->\nof another run")
    options = """--case-id c1 --where 'tags!=a b'"""
    for _ in range(2):
        ended = act(jury, cases="cases.jsonl", panel="panel.yaml", run_options=options)

        assert [0, 0, 0, 0] == [one.code for one in ended], ended

    assert ["0.md", "1.md"] == sorted(path.name for path in comments.iterdir())
    assert (comments / "0.md").read_text().endswith("of another run")
    assert "1 debate" in (comments / "1.md").read_text()


@pytest.mark.full
def test_a_dry_run_judges_nothing_and_shows_the_estimate(jury: CommandLine) -> None:
    ended = act(jury, cases="cases.jsonl", panel="panel.yaml", dry_run="true")

    assert {0} == {one.code for one in ended}, ended
    assert "4 debates to run" in (jury.folder / "summary.md").read_text()
    assert not (jury.folder / "jury.db").exists()


@pytest.mark.full
def test_the_action_compares_with_another_panel(jury: CommandLine) -> None:
    options = {"gate_options": "--include-simulated --inconclusive pass", "base_panel": "panel.yaml"}

    ended = act(jury, cases="cases.jsonl", panel="panel.yaml", **options)

    assert [0, 0, 0, 0] == [one.code for one in ended], ended
    assert (jury.folder / "jury-report" / "gate.xml").exists()
    assert (jury.folder / "jury-report" / "gate.md").read_text() in (jury.folder / "summary.md").read_text()


@pytest.mark.full
def test_the_action_fails_for_a_true_rate_that_the_labels_do_not_show(jury: CommandLine) -> None:
    (jury.folder / "labels.csv").write_text("case_id,label\nc0,unsafe_fail\nc1,safe_pass\n")
    options = {"true_rate": "unsafe_fail<=20%", "true_rate_options": "--labels labels.csv"}

    ended = act(jury, cases="cases.jsonl", panel="panel.yaml", **options)

    assert [0, 0, 0, 1] == [one.code for one in ended], ended
    assert "fail&#58; the true rate does not keep to it" in (jury.folder / "summary.md").read_text()


@pytest.mark.full
def test_an_input_is_no_part_of_a_script(jury: CommandLine) -> None:
    ended = act(jury, cases="cases.jsonl$(touch injected); touch injected", panel="panel.yaml")

    assert 2 == ended[-1].code
    assert not (jury.folder / "injected").exists()
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])


@pytest.mark.full
def test_the_job_for_gitlab_runs_as_it_is(jury: CommandLine) -> None:
    job = GITLAB["jury"]
    variables = job["variables"] | {"CASES": "cases.jsonl", "PANEL": "panel.yaml"}
    script = "\n".join([*job["script"]]).replace("unsafe_fail>0", "unsafe_fail>100%")

    judged = run(jury.folder, "bash", "-eo", "pipefail", "-c", script, **variables)
    kept = run(jury.folder, "bash", "-eo", "pipefail", "-c", "\n".join(job["after_script"]), **variables)

    assert (0, 0) == (judged.returncode, kept.returncode), judged.stderr + kept.stderr
    assert {"jury.xml", "summary.md", "cassettes"} == {path.name for path in (jury.folder / "jury-report").iterdir()}
    assert job["artifacts"]["reports"]["junit"] == "jury-report/jury.xml"
