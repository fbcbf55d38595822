"""Reading of records that are longer than a model's window: pure estimates, cuts and outlines of shown texts."""
