"""Ladders of stages: thresholds by stage and outcome that are certified together, from votes of every stage."""
