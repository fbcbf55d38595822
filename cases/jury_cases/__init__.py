"""Cases: files, rows of other systems' formats, artifact records, the bundled example."""
