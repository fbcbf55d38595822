"""Panels as users write them: files, presets, environment variables."""
