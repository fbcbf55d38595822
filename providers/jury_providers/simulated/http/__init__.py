"""Simulated models behind the providers' own HTTP protocols, faults included. No model is called."""
