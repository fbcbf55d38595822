"""The labels of the pages by language: every catalogue has every label, which the type checker sees to."""

from jury_events.panel import Language
from jury_judge.web.words.english import ENGLISH
from jury_judge.web.words.japanese import JAPANESE
from jury_judge.web.words.page_words import PageWords

PAGE_WORDS: dict[Language, PageWords] = {"en": ENGLISH, "ja": JAPANESE}
