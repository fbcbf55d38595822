"""Simulated models behind the providers' HTTP protocols, with faults. No model is called."""
