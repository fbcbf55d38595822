"""The prompts in Japanese and English: versioned data files, loaded once, filled strictly.

A released version never changes, so that recorded prompts can be rendered again. Only this module knows them all.
"""

from collections.abc import Callable, Mapping
from typing import get_args

from jury_debate.errors import UnknownPrompts
from jury_debate.prompts_1 import prompts as prompts_1
from jury_debate.prompts_1.prompts import Prompts
from jury_events.panel import Language

PROMPTS: Mapping[int, Callable[[Language], Prompts]] = {prompts_1.VERSION: prompts_1.load_prompts}
"""The versions by number."""

PROMPTS_VERSION = max(PROMPTS)
"""New debates use it, unless another one is named."""

LANGUAGES: tuple[Language, ...] = get_args(Language)


def load_prompts(version: int, language: Language) -> Prompts:
    """The prompts of one version and language."""
    load = PROMPTS.get(version)
    if load is None:
        raise UnknownPrompts(
            f"prompts version {version} is not known; this version of jury-judge has 1 to {max(PROMPTS)}: upgrade it"
        )
    if language not in LANGUAGES:
        raise UnknownPrompts(f"there are no prompts in {language!r}; the languages: {', '.join(LANGUAGES)}")
    return load(language)
