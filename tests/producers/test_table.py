"""The table of tools in docs/cases.md says what the law says."""

from producers.law import produced_files
from producers.table import DOCUMENT, table, written


def test_the_table_of_tools_is_up_to_date() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert document == written(document, table(produced_files())), (
        "run: uv run --group test python tests/producers/table.py"
    )
