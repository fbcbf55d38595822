"""Debates over HTTP: pages, an API and live events."""
