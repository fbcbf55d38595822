"""Spans of recorded debates, exported by OTLP."""
