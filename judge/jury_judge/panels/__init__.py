"""Panels: files, presets, environment variables, redaction rules."""
