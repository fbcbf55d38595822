"""A run: planned, compared with the store, listed, executed, watched, cancelled."""
