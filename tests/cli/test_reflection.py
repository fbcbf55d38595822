"""`jury probe --probe reflection`: the control of conformity, in which no seat is shown its peers."""

from contextlib import closing

from jury_store import open_store
from support.command_line import CommandLine

PANEL = """
preset: parallel-rounds
discussion: {max_rounds: 1}
final: {method: majority_vote}
seats: [{model: simulated/a, juror_id: a}, {model: simulated/b, juror_id: b}, {model: simulated/c, juror_id: c}]
"""
HEADINGS = ("# Other jurors' opinions", "You are not shown other jurors' opinions.")


def shown(jury: CommandLine, run: str) -> list[bool]:
    """Whether requests of rounds of its first debate have the peers' heading, and whether they say there is none."""
    with closing(open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)) as store:
        (row,) = store.debates(run_id=run, limit=1)
        history = store.history(row.debate_id)
    texts = {name: content.decode("utf-8", "replace") for name, content in history.texts.items()}
    asked = [
        "".join(texts[part.part] for part in message.parts)
        for exchange in history.exchanges
        if exchange.step.startswith("round-1/")
        for message in exchange.request
    ]
    return [any(heading in text for text in asked) for heading in HEADINGS]


def test_seats_are_asked_again_alone_and_both_rates_stand_side_by_side(jury: CommandLine) -> None:
    jury.write("panel.yaml", PANEL)
    cases = jury.write(
        "cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": f"At {n}."} for n in range(12))
    )
    options = ("--probe", "reflection", "--panel", "panel.yaml", "--run", "r", "--include-simulated", "--in-process")
    found = jury("probe", cases, *options)
    report = jury("probe", "--run", "r", "--include-simulated", "--json").json["reflection"]

    assert found.code in {0, 1}, found.err
    assert "Asked again, with and without the peers' opinions" in found.out
    assert {"changed_with_peers", "changed_alone", "with_peers", "alone"} == report.keys()
    assert [True, False] == shown(jury, "r")
    assert [False, True] == shown(jury, "r.reflection")
    assert 0 == jury("replay", "--run", "r.reflection").code
    refused = jury("probe", cases, "--probe", "reflection", "--panel", "independent", "--include-simulated")
    assert (2, True) == (refused.code, "the panel has no discussion, whose control this is" in refused.err)
