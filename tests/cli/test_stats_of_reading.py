"""`jury stats` of debates in which a seat did not read the whole record."""

import pytest

from jury_events.verdict import Verdict
from jury_migrations.upgrading import upgrade
from jury_store.opening import open_store
from support.command_line import CommandLine
from support.partly_read_debates import BY_TOOLS, WHOLE, a_partly_read_debate
from support.quoting_debates import a_quoting_debate
from support.stored_debates import store_debate


@pytest.mark.parametrize("label", [Verdict.UNSAFE_FAIL, None])
def test_the_command_has_a_section_of_shares_read(jury: CommandLine, label: Verdict | None) -> None:
    url = f"sqlite:///{jury.folder / 'read.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for number in range(12):
        store_debate(store, a_partly_read_debate(label), f"c{number}")
    store_debate(store, a_quoting_debate(), "w0", run_id="whole")
    store.close()

    text = " ".join(jury("stats", "r1", "--store", url, "--parquet", "ballots.parquet").out.split())
    (panel,) = jury("stats", "r1", "--store", url, "--json").json["panels"]
    (again,) = jury("stats", "ballots.parquet", "--json").json["panels"]
    (whole,) = jury("stats", "whole", "--store", url, "--json").json["panels"]

    assert "How much was read (first evaluations)" in text
    assert f"{BY_TOOLS} 12 100.0%" in text
    assert f"{WHOLE} 12 0.0%" in text
    assert (label is not None) == ("right with the whole record" in text)
    seats = {one["seat"]: one for one in panel["reading"]["seats"]}
    assert (0.0, 1.0) == (seats[BY_TOOLS]["mean_share"]["value"], seats[WHOLE]["mean_share"]["value"])
    right = [panel["reading"]["all"][name]["value"] for name in ("accuracy_of_whole", "accuracy_of_partly_read")]
    assert right == ([1.0, 0.0] if label else [None, None])
    assert panel["reading"] == again["reading"]
    assert "reading" not in whole
