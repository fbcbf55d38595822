"""Reports of judged cases for CI: counts, conditions, and files."""
