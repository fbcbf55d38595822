"""How much the answer to a part of the record may hold."""

MOST_FINDINGS = 12
LONGEST_FINDING = 600
"""Characters of a finding's text."""

MOST_FINDING_ENTRIES = 3
"""Quotations of one finding."""

MOST_DECISIVE = 5
MOST_WANTED = 8
"""Numbers of items."""
