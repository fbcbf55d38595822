"""Runs, demonstrations and forks from what was asked for to their end, as the command judges them."""
