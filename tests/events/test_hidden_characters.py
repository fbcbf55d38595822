from hashlib import sha256

import pytest

from jury_events import displayed_escaped, is_blank, is_hidden
from support.each_row import each_row
from support.tiers import others_full

WRITTEN = (*range(0x30000), *range(0xE0000, 0xE1000))
"""The planes of Unicode that have characters of scripts, and the tags."""
CODES = {
    "characters of scripts and tags": (WRITTEN, "228c2a2db916a920", "7d062bbac93b9000"),
    "all of Unicode": (range(0x110000), "fedee224f7e50e04", "7d062bbac93b9000"),
}


@pytest.mark.parametrize("codes", others_full(*CODES))
def test_the_table_is_frozen(codes: str) -> None:
    table, *digests = CODES[codes]
    pattern = displayed_escaped()
    hidden = ",".join(str(code) for code in table if is_hidden(chr(code)))
    displayed = ",".join(str(code) for code in table if pattern.match(chr(code)))

    assert digests == [sha256(codes.encode()).hexdigest()[:16] for codes in (hidden, displayed)]


@each_row("char", ["\u200d", "\ufe0f", "\U0001fae8", "\ue000"])
def test_joiners_and_characters_of_later_unicode_versions_are_escaped_in_prompts_only(char: str) -> None:
    assert is_hidden(char)
    assert displayed_escaped().match(char) is None


@each_row("char", ["\x1b", "\x85", "\u200b", "\u202e", "\ufeff", "\ud800", "\U000e0041"])
def test_characters_that_steer_or_mislead_are_escaped_everywhere(char: str) -> None:
    assert is_hidden(char)
    assert displayed_escaped().match(char) is not None


@each_row(("text", "expected"), [("", True), (" \n\u3000\u200b", True), ("\u200ba", False)])
def test_a_text_without_a_visible_character_is_blank(text: str, expected: bool) -> None:
    assert expected == is_blank(text)
