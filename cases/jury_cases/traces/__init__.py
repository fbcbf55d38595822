"""Traces: the spans that a tracing tool recorded, as one transcript. `timeline` has the rule of repeats."""
