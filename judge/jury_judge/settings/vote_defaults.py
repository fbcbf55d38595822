"""Defaults of reports over votes, as in `jury_analysis`, whose modules import numpy; help imports this file alone."""

SEED = 20260927
RESAMPLES = 2000
"""Of the bootstrap."""
EPSILON = 0.1
"""Of the alternative-annotator test."""
ORDERS = 2000
"""Of the seats, drawn for the values of many seats."""
RISK = 0.05
CONFIDENCE = 0.9
"""Of a calibration."""
TOLERATED = 0.05
"""Of answers without content, which a juror may pass before that is a finding."""
ALPHA = 0.05
DRAWS = 10
"""Of a baseline of drift checks."""
