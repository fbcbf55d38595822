"""The redactor `family-names`: where a regular expression is not enough, a function of a text does."""

FAMILY = frozenset({"Okafor", "Lindqvist", "Tanaka"})


def without_names(text: str) -> str:
    """The text without the names of the family; the same text always gives the same."""
    for name in FAMILY:
        text = text.replace(name, "[name]")
    return text
