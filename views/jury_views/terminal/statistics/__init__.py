"""Statistics as sections of a terminal page."""
