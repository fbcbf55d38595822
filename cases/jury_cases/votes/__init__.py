"""Votes and labels of other systems, read from files as tables of ballots and labels."""
