"""The prompts in Japanese and English: versioned data files, loaded once, filled strictly.

A released version never changes, so that recorded prompts can be rendered again. Only this module knows them all.
"""

from collections.abc import Callable, Mapping

from jury_debate import prompts_v1
from jury_debate.errors import UnknownPrompts
from jury_debate.prompts_v2 import prompts as prompts_v2
from jury_debate.turn_prompts import TurnPrompts

PROMPTS_VERSION = 2
"""New debates use it, unless another one is named."""

LANGUAGES = ("ja", "en")

PROMPTS: Mapping[int, Callable[[str], TurnPrompts]] = {
    prompts_v1.VERSION: prompts_v1.load_prompts,
    prompts_v2.VERSION: prompts_v2.load_prompts,
}
"""The versions by number."""


def load_prompts(version: int, language: str) -> TurnPrompts:
    """The prompts of one version and language.

    Raises:
        UnknownPrompts: there is no such version, or `language` is none of LANGUAGES.
    """
    load = PROMPTS.get(version)
    if load is None:
        raise UnknownPrompts(
            f"prompts version {version} is not known; this version of jury-judge has 1 to {max(PROMPTS)}: upgrade it"
        )
    if language not in LANGUAGES:
        raise UnknownPrompts(f"there are no prompts in {language!r}; the languages: {', '.join(LANGUAGES)}")
    return load(language)
