"""Debates live, from the log alone: the documents' events, and the feed that readers follow."""
