"""A number of things, in words."""


def counted(number: int, noun: str) -> str:
    """`1 debate`, `2 debates`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
