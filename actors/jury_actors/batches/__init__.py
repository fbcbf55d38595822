"""Calls that go through the batches of providers: planned from the log, recorded before they are sent."""
