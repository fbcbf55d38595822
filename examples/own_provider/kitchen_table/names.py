"""The redactor `family-names`: a function, for what regular expressions cannot express."""

FAMILY = frozenset({"Okafor", "Lindqvist", "Tanaka"})


def without_names(text: str) -> str:
    """The text without the family's names; deterministic."""
    for name in FAMILY:
        text = text.replace(name, "[name]")
    return text
