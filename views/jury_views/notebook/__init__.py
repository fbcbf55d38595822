"""HTML of results, statistics and ballots for the cells of notebooks: self-contained, on light and on dark."""
