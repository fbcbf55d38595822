"""Charts of runs and their statistics: values and geometry, which templates draw."""
