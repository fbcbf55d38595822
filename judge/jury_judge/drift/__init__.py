"""Drift of a jury: anchors judged again, and what that says."""
