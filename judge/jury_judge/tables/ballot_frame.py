"""The table of ballots for notebooks: shown, and converted by what pyarrow and polars have for it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from jury_events.panel import Language
from jury_judge.extras import check_package
from jury_views.notebook.cells import CellHtml, ShownAsCell, ballots_html

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

MOST_ROWS = 20
"""Rows that a cell shows."""

SHOWN = ("case_id", "round", "role", "seat", "kind", "verdict", "score", "confidence", "label", "final_verdict")
"""Columns that a cell shows."""


@dataclass(frozen=True, eq=False)
class BallotFrame(ShownAsCell):
    """Every vote of some debates, a row each (docs/reference/tables.md)."""

    arrow: pa.Table
    """The columns of `jury_analysis.ballots.SCHEMA`; DuckDB takes it as it is."""

    def to_pandas(self) -> "pd.DataFrame":
        """A data frame of pandas, by pyarrow's `Table.to_pandas`.

        Raises:
            ExtraMissing: pandas is not installed.
        """
        check_package("to_pandas()", "pandas")
        return self.arrow.to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """A data frame of polars, by its own conversion; it shares the memory of `arrow` where it can.

        Raises:
            ExtraMissing: polars is not installed.
        """
        check_package("to_polars()", "polars")
        import polars as pl  # noqa: PLC0415  (of who has it)

        return pl.DataFrame(self.arrow)

    def to_html(self, lang: Language = "en") -> CellHtml:
        """The first rows, as a cell of a notebook shows them.

        Raises:
            SettingError: there is no such language.
        """
        rows = self.arrow.select(SHOWN).slice(0, MOST_ROWS).to_pylist()
        simulated = pc.sum(self.arrow["simulated"]).as_py() or 0
        return ballots_html(rows, lang, total=self.arrow.num_rows, simulated=simulated)
