"""People's verdicts: recorded, queued, compared."""
