"""The redactor `customer-names`: a function, for what regular expressions cannot express."""

CUSTOMERS = frozenset({"Okafor", "Lindqvist", "Tanaka"})


def without_names(text: str) -> str:
    """The text without the customers' names; deterministic."""
    for name in CUSTOMERS:
        text = text.replace(name, "[name]")
    return text
