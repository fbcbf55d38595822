"""What a server of a store does for its clients: submissions, live feeds and runs, reviews, messages."""
