"""Debates told while they are held, from the log alone: the documents' events, and the feed that readers follow."""
