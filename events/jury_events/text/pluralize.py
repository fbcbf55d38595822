"""Numbers with nouns."""


def pluralize(number: int, noun: str) -> str:
    """`1 debate`, `1,017 debates`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
