"""Row formats of other systems: one module per format, with its detection and its reader."""
