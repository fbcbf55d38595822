"""Probes: twins of cases that a fair juror judges as it judges the case itself."""
