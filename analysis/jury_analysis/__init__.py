"""Statistics over ballots and labels: pure functions over Arrow tables. No database, no Ray, no files."""
