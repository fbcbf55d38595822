"""Simulated models: rule-based readers that play jurors and the final judge. No model is called."""
