"""`jury show --evidence` over a store."""

import json
from pathlib import Path

from jury_migrations import upgrade
from jury_store import open_store
from support.command_line import CommandLine
from support.evidence_debate import EvidenceDebate
from support.pages import keep


def a_store(folder: Path) -> CommandLine:
    jury = CommandLine(folder)
    upgrade(f"sqlite:///{folder / 'jury.db'}")
    store = open_store(f"sqlite:///{folder / 'jury.db'}", write=True)
    keep(store, EvidenceDebate())  # type: ignore[arg-type]
    store.close()
    return jury


def test_quotations_are_printed_and_are_json(tmp_path: Path) -> None:
    jury = a_store(tmp_path)

    printed = jury("show", "d1", "--evidence")
    data = jury("show", "d1", "--evidence", "--json")

    assert (0, 0) == (printed.code, data.code)
    assert "    ↷ item 7: elsewhere, in item 3 · context" in printed.out.splitlines()
    assert "verified" == json.loads(data.out)[0]["evidence"][0]["result"]
