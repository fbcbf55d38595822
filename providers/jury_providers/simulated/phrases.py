"""The sentences of simulated jurors, as data, in the language of the prompt."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jury_debate.prompts_1.texts import fill
from jury_providers.simulated.findings import Finding


class Phrases(NamedTuple):
    """One language's sentences."""

    language: str
    findings: dict[str, str]
    views: dict[str, str]
    texts: dict[str, str]

    def say(self, key: str, **values: str | int) -> str:
        """The sentence `key` with its placeholders filled."""
        return fill(self.texts[key], **values)

    def finding(self, finding: Finding, *, favourable: bool = False) -> str:
        """A finding as a sentence, with its quotation or record ids."""
        named = self.claim(finding)
        if favourable:
            lowered = named[0].lower() + named[1:] if self.language == "en" else named
            return self.say("good", finding=lowered)
        if finding.ids:
            return self.say("records", finding=named, ids=self.texts["pairs"].join(finding.ids))
        return (
            self.say("quote", finding=named, quote=finding.quote) if finding.quote else self.say("plain", finding=named)
        )

    def claim(self, finding: Finding) -> str:
        """A finding in words of its own, without a quotation."""
        return fill(self.findings[finding.name], total=finding.total)

    def join(self, sentences: list[str]) -> str:
        """Sentences as one text."""
        return (" " if self.language == "en" else "").join(sentence for sentence in sentences if sentence)

    def jurors(self, letters: Sequence[str]) -> str:
        """Peers by letter: "Juror A, Juror B and Juror C"."""
        named = [self.say("juror", letter=letter) for letter in letters]
        listed = self.texts["pairs"].join(named[:-1])
        return self.texts["both"].join(part for part in (listed, named[-1]) if part) if named else ""


@cache
def load_phrases(language: str) -> Phrases:
    """The sentences of a prompt's language."""
    path = files(__package__).joinpath("phrases", f"{language}.toml")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Phrases(language, data["findings"], data["views"], data["texts"])
