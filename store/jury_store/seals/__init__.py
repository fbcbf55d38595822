"""Seals: signed Merkle roots over the log."""
