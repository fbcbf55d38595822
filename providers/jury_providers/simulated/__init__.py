"""Simulated models: rule-based jurors and final judges. No model is called."""
