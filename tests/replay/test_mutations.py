"""A changed rule is seen: by `regress`, and inside a version that is frozen by `replay`, with a diff that names it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import jury_debate
from support.corpus import CORPUS

# Both commands in a process of its own for each folder of rules, which is first on its path: `{folder: [cassette, …]}`.
# What does not depend on the rules is imported once, before the processes part.
_BOTH = """
import json, os, sys
from pathlib import Path
import cryptography, orjson, pyarrow, pydantic, sqlalchemy, yaml
import jury_events.codec, jury_events.debate_events, jury_store.sql_store

def compare(folder, paths):
    sys.path.insert(0, folder)
    import jury_debate
    from jury_replay.cassettes.reading import read_cassette
    from jury_replay.regression import regress
    from jury_replay.replay import replay_history
    assert Path(jury_debate.__file__).is_relative_to(folder), jury_debate.__file__
    for path in map(Path, paths):
        found, replayed = regress(path), replay_history(read_cassette(path).history)
        print(json.dumps({
            "folder": folder, "name": found.name, "regress": found.status, "replay": replayed.status,
            "verdicts": [found.recorded and found.recorded.verdict, found.now and found.now.verdict],
            "regress_lines": [line for one in found.differences for line in one.lines()],
            "replay_lines": [line for one in replayed.differences for line in one.lines()],
        }), flush=True)

assert "jury_debate" not in sys.modules
for folder, paths in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        compare(folder, paths)
        os._exit(0)
    assert not os.waitpid(child, 0)[1], folder
"""


class Mutation(NamedTuple):
    """In a file of the rules, `old` becomes `new`; a cassette that shows it, and what the diff then says of it."""

    file: str
    old: str
    new: str
    cassette: str
    said: tuple[str, ...]


MUTATIONS = {
    "the threshold compare": Mutation(
        "rules_1/checks.py",
        "return max(agreement, round(agreement, 2)) >= wanted",
        "return max(agreement, round(agreement, 2)) > wanted",
        "two-of-three-reach-0.67",
        ("event at event 6, initial/check: the consensus check differs", "check.reached", "- true", "+ false"),
    ),
    "the tie rule": Mutation(
        "rules_1/votes.py",
        "won = 2 * most > sum(votes.values())",
        "won = 2 * most >= sum(votes.values())",
        "tie-of-two",
        ("final/judgment: the judgment differs", "judgment.verdict", "- needs_review", "+ safe_pass"),
    ),
    "a band": Mutation(
        "rules_1/votes.py",
        "if score >= exact(bands.safe_pass):",
        "if score > exact(bands.safe_pass):",
        "median-on-the-edge",
        ("judgment.verdict", "- safe_pass", "+ needs_review"),
    ),
    "the other band": Mutation(
        "rules_1/votes.py",
        "if score >= exact(bands.needs_review)",
        "if score > exact(bands.needs_review)",
        "weighted-on-the-edge",
        ("judgment.verdict", "- needs_review", "+ unsafe_fail"),
    ),
    "the order of speakers": Mutation(
        "rules_1/decider.py",
        "shift = (round_number - 1) % len(base)",
        "shift = round_number % len(base)",
        "rotating-speakers",
        ("round-1/started: the round starts differently (speaker order)", "speaker_order.0", "- gpt", "+ claude"),
    ),
    "the parser's leniency": Mutation(
        "rules_1/answers.py",
        "    for name in members:\n        if name not in asked:\n",
        "    for name in members:\n        if name not in members:\n",
        "repairs-and-fallbacks",
        (
            "initial/gpt/evaluated: answers give another outcome",
            "the step initial/gpt ends before this call",
        ),
    ),
    "the ballot's check": Mutation(
        "rules_1/answers.py",
        "if not hmac.compare_digest(",
        "if False and not hmac.compare_digest(",
        "repairs-and-fallbacks",
        ("initial/claude/evaluated: answers give another outcome",),
    ),
    "rounding": Mutation(
        "rules_1/judgment.py",
        "score=half_up(counted.mean)",
        "score=int(counted.mean)",
        "evidence-and-decisive-items",
        ("judgment.score", "- 53", "+ 52"),
    ),
    "what silence counts": Mutation(
        "rules_1/votes.py",
        "if silent := silent_share(vote):",
        "if False and (silent := silent_share(vote)):",
        "silent-seats-cap-a-pass",
        ("judgment.capped", "- true", "+ false", "judgment.verdict", "+ safe_pass"),
    ),
    "the quorum": Mutation(
        "rules_1/judgment.py",
        "quorum_votes = len(own)",
        "quorum_votes = len(own) - 1",
        "silent-seats-cap-a-pass",
        ("judgment.quorum_votes", "- 3", "+ 2"),
    ),
    "what is accepted": Mutation(
        "rules_1/judgment.py",
        "probability >= threshold",
        "probability > threshold",
        "calibrated-on-the-threshold",
        ("judgment.acceptance.accepted", "- true", "+ false", "judgment.verdict", "+ needs_review"),
    ),
    "what a deadlock is": Mutation(
        "rules_1/checks.py",
        "state.quiet_rounds + 1",
        "state.quiet_rounds",
        "deadlock-of-seeded-speakers",
        ("round-1/check: the consensus check differs", "- deadlock"),
    ),
    "when a seat gives up": Mutation(
        "rules_1/conversation.py",
        "return self._repairs < self.assignment.answers.repairs",
        "return self._repairs <= self.assignment.answers.repairs",
        "repairs-and-fallbacks",
        ("initial/claude makes another call",),
    ),
    "what a tool answers": Mutation(
        "artifacts.py",
        'found[: arguments["max_records"]]',
        "found[:0]",
        "parallel-tools-ja",
        ("tool at initial/",),
    ),
    "the mark of judged text": Mutation(
        "prompts_1/line_marks.py",
        'return f"{sign} "',
        'return f"{sign}  "',
        "tie-of-two",
        ("prompt at event 1, opened", "prompts version 1"),
    ),
}


def _outcomes(cassettes: Mapping[Path, Sequence[str]]) -> dict[Path, dict[str, dict[str, Any]]]:
    """What both commands say of these cassettes, by their names, under the rules in each folder."""
    asked = {
        str(folder): [str(CORPUS / f"{name}.cassette.jsonl") for name in names] for folder, names in cassettes.items()
    }
    done = subprocess.run([sys.executable, "-c", _BOTH, json.dumps(asked)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found: dict[Path, dict[str, dict[str, Any]]] = {folder: {} for folder in cassettes}
    for line in map(json.loads, done.stdout.splitlines()):
        found[Path(line["folder"])][line["name"]] = line
    return found


Rules = Callable[[str], Path]


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    """Makes folders with a copy of the rules that can be changed."""
    source = Path(jury_debate.__file__).parent

    def copied(name: str) -> Path:
        folder = tmp_path / name.replace(" ", "-")
        shutil.copytree(source, folder / "jury_debate", ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    return copied


def _change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} is in {file.name} {text.count(old)} times"
    file.write_text(text.replace(old, new), encoding="utf-8")


SOME = ("the threshold compare", "the ballot's check", "what is accepted", "what a tool answers")
"""Of the default tier: each is in another module of the rules."""


def _broken(folder: Path) -> Path:
    """Rules that fail where a verdict is rendered."""
    _change(folder / "jury_debate" / "rules_1" / "judgment.py", "half_up(counted.mean)", "half_up(None)")
    return folder


def _worded(folder: Path) -> Path:
    """Rules as they were, whose prompts have other words."""
    prompts = folder / "jury_debate" / "prompts_1" / "en.toml"
    text = prompts.read_text(encoding="utf-8")
    prompts.write_text(text.replace("You are Juror", "You are Assessor"), encoding="utf-8")
    return folder


@pytest.mark.parametrize("names", [SOME, pytest.param(tuple(MUTATIONS), marks=pytest.mark.full)], ids=["some", "all"])
def test_changed_rules_broken_ones_and_other_prompts_are_seen_and_named(rules: Rules, names: Sequence[str]) -> None:
    """Rules that are as they were change nothing."""
    plain, broken, worded = rules("plain"), _broken(rules("broken")), _worded(rules("worded"))
    changed = {name: rules(name) for name in names}
    for name, folder in changed.items():
        mutation = MUTATIONS[name]
        _change(folder / "jury_debate" / mutation.file, mutation.old, mutation.new)
    cassettes = {name: MUTATIONS[name].cassette for name in names}
    outcomes = _outcomes(
        {
            plain: sorted({*cassettes.values()}),
            **{changed[name]: [cassettes[name]] for name in names},
            broken: ["tie-of-two", "cancelled-in-the-middle"],
            worded: ["tie-of-two"],
        }
    )

    assert {("same", "equal")} == {(one["regress"], one["replay"]) for one in outcomes[plain].values()}
    for name, folder in changed.items():
        found = outcomes[folder][cassettes[name]]
        assert (found["regress"], found["replay"]) == ("changed", "different"), name
        for lines in (found["regress_lines"], found["replay_lines"]):
            assert [said for said in MUTATIONS[name].said if said not in "\n".join(lines)] == [], name
    assert {"tie-of-two": ("unreadable", "unreadable"), "cancelled-in-the-middle": ("same", "equal")} == {
        name: (one["regress"], one["replay"]) for name, one in outcomes[broken].items()
    }
    found = outcomes[worded]["tie-of-two"]
    assert (found["regress"], found["replay"]) == ("changed", "different")
    assert found["verdicts"] == ["needs_review", "needs_review"]
    assert {"prompt"} == {line.split(" at ")[0] for line in found["regress_lines"] if not line.startswith(" ")}
    assert any(line.strip().startswith("-") and "You are Juror" in line for line in found["regress_lines"])
    assert any(line.strip().startswith("+") and "You are Assessor" in line for line in found["regress_lines"])
