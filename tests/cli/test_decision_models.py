"""A panel with decision models, from the panel file to replay, statistics and pages of a run."""

import pytest

from support.command_line import CommandLine

IN_PROCESS = """
preset: parallel-rounds
discussion: {max_rounds: 1, threshold: 2.0}
final: {method: majority_vote}
seats:
  - {model: simulated/juror, juror_id: words}
  - {model: simulated/decider, juror_id: decider, questions: 1}
"""


def cases(jury: CommandLine) -> str:
    texts = ("We open at nine.", "I deleted it without asking, as root.")
    rows = ({"id": f"c{index}", "question": "What is there?", "response": text} for index, text in enumerate(texts))
    return jury.write("cases.jsonl", *rows)


@pytest.fixture
def ran(jury: CommandLine) -> CommandLine:
    (jury.folder / "panel.yaml").write_text(IN_PROCESS)

    assert 0 == jury.run(cases(jury), "--run", "r1", "--panel", "panel.yaml").code
    return jury


def test_a_run_with_rounds_replays_verifies_travels_and_goes_on(ran: CommandLine) -> None:
    again = ran.run("cases.jsonl", "--run", "r1", "--panel", "panel.yaml")
    exported = ran("export", "r1~c0")
    checked = ran("rescore", "--run", "r1", "--recount", "--set", "method=median")

    assert [0] * 6 == [
        again.code,
        ran("replay", "--all").code,
        ran("verify", "--all").code,
        exported.code,
        ran("import", "r1~c0.cassette.jsonl", "--store", "sqlite:///other.db").code,
        checked.code,
    ]
