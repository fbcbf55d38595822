"""Transcripts of agents as other systems write them, read into typed items: one module a form of messages."""
