"""`jury stats` of debates whose jurors were asked for evidence."""

from jury_migrations.upgrading import upgrade
from jury_store.opening import open_store
from support.command_line import CommandLine
from support.quoting_debates import CLAUDE, a_quoting_debate
from support.stored_debates import store_debate


def test_the_command_has_sections_of_items_and_quotations(jury: CommandLine) -> None:
    url = f"sqlite:///{jury.folder / 'quoted.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for number in range(12):
        store_debate(store, a_quoting_debate(), f"c{number}")
    store.close()
    ballots = jury.folder / "ballots.parquet"

    out = " ".join(jury("stats", "r1", "--store", url, "--parquet", str(ballots)).out.split())

    assert "The item that went wrong (first evaluations)" in out
    assert "48 quotations in 36 evaluations that were asked for evidence" in out
    assert f"{CLAUDE} 12 0.0%" in out
    assert 0 == jury("stats", str(ballots)).code
