"""Cases as users have them: files, rows of other systems, artifact records, and the bundled example."""
