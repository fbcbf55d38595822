"""The page of tools says what the law says."""

from producers.law import produced_files
from producers.table import DOCUMENT, table
from support.refusals import RefusalTables


def test_the_page_of_tools_is_up_to_date(printed: RefusalTables) -> None:
    printed.compare_file(DOCUMENT, table(produced_files()))
