"""Reads transcripts of other systems into typed items: one module per message format."""
