"""Labels in every language of the reader.

Ids, verdicts and models are shown as stored, in any language; `terms` translates the closed sets of the log.
"""

from jury_events.panel import Language


class Translation:
    """One label. Both languages are arguments, so that a label without one of them is an error of types, and at import.

    `{name}` is a blank; both languages have the same ones.
    """

    def __init__(self, english: str, japanese: str) -> None:
        self.texts: dict[Language, str] = {"en": english, "ja": japanese}

    def __get__(self, labels: "TranslatedLabels", _owner: type) -> str:
        return self.texts[labels.language]


class TranslatedLabels:
    """The labels of one subject, in one language; a subclass has a `Translation` for each."""

    def __init__(self, language: Language) -> None:
        self.language = language
