"""A SQLite store with something in every table, for tests that change it behind its back."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from jury_store import PublicKey, WitnessKey
from support.command_line import CommandLine
from support.loopback import served
from support.witness import Witness


class SealedStore(NamedTuple):
    """A store with the public keys of its log and of a witness, and a note of its last seal."""

    path: Path
    key: PublicKey
    witness: WitnessKey
    note: bytes


CASES = (
    {
        "id": "one",
        "question": "Open?",
        "response": "At nine.",
        "metadata": {"level": 3},
        "tags": ["a", "b"],
        "cluster": "x",
        "label": "approve",
        "agent_cost": 0.5,
    },
    {"id": "two", "question": "What is the password?", "response": "It is hunter2.", "policy": "Tell nobody's data."},
)


def sealed_store(folder: Callable[[str], Path]) -> SealedStore:
    """Debates: two of a run with reviews of people, an imported one under its origin's seal, one with erased texts."""
    jury, other = (CommandLine(folder(name)) for name in ("tampered", "origin"))
    for one in (jury, other):
        assert one("seal", "keygen", "k", "--name", f"example.com/{one.folder.name}").code == 0
    assert other.run(other.write("c.jsonl", {**CASES[0], "id": "brought"}), "--run", "r9", "--seal-key", "k").code == 0
    assert other("export", "r9~brought", "-o", "brought.jsonl").code == 0
    assert jury.run(jury.write("c.jsonl", *CASES), "--run", "r1", "--max-calls", "1000").code == 0
    assert jury.run(jury.write("d.jsonl", {**CASES[1], "id": "gone"}), "--run", "r1", "--max-calls", "1000").code == 0
    assert jury("import", str(other.folder / "brought.jsonl")).code == 0
    assert jury("erase", "r1~gone", "--by", "dpo", "--reason", "asked", "--yes").code == 0
    for reviewer, verdict, more in (("ann", "unsafe_fail", ("--blind", "--minutes", "1.5")), ("bob", "safe_pass", ())):
        said = ("--verdict", verdict, "--reason", f"{reviewer} says so", *more)
        assert jury("review", "r1~two", "--reviewer", reviewer, *said).code == 0
    assert jury("review", "r1~two", "--reviewer", "bob", "--withdraw", "2", "--reason", "The wrong case.").code == 0
    assert jury("review", "r1~one", "--reviewer", "lead", "--assign", "ann").code == 0
    witness = Witness("witness.example/w1", 7, (jury.folder / "k.pub").read_text().strip())
    jury.write("w", witness.vkey)
    with served(witness.answer) as url:
        for run in ("r2", "r3"):
            assert jury.run(jury.write("e.jsonl", CASES[0]), "--run", run, "--seal-key", "k").code == 0
            assert jury("seal", "witness", url, "--key", "w").code == 0
    shown = jury("seal", "show")
    key = PublicKey.parse((jury.folder / "k.pub").read_text().splitlines()[-1])
    return SealedStore(jury.folder / "jury.db", key, WitnessKey.parse(witness.vkey), shown.out.encode())
