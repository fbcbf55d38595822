"""Numbers with nouns."""


def pluralize(number: int, noun: str, plural: str | None = None) -> str:
    """`1 debate`, `1,017 debates`; `plural` where that is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
