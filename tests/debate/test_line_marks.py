"""Marking of lines: exact, and no text escapes from its passage."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jury_debate import mark, unmark
from support.each_row import each_row

SIGN = "kz:"

any_text = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\n\r\t\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\u200b\ufeff\u202e ⟨⟩×U+kz:"),
        st.characters(categories=["Cs", "Co", "Cn"]),
    ),
    max_size=200,
)
pieces = st.lists(
    st.one_of(
        any_text,
        st.sampled_from(["⟨U+200B⟩", "⟨U+27E8⟩", "⟨U+000A×16⟩", "⟨U+", "\r\n", f"{SIGN} ", f"\n{SIGN}", "\n" * 20]),
        st.builds(lambda char, times: char * times, st.characters(), st.integers(14, 40)),
    ),
    max_size=12,
).map("".join)


@each_row(
    ("text", "marked"),
    [
        ("", "kz: "),
        ("one", "kz: one"),
        ("    if x:\n\treturn  1\n", "kz:     if x:\nkz: \treturn  1\nkz: "),
        ("a\n\n\nb", "kz: a\nkz: \nkz: \nkz: b"),
        ("a\r\nb\rc", "kz: a⟨U+000D⟩\nkz: b⟨U+000D⟩c"),
        ("全角\u3000空白と\u00a0改行しない空白。次", "kz: 全角\u3000空白と\u00a0改行しない空白。次"),
        ("a\u200bb\x1b\u2028c", "kz: a⟨U+200B⟩b⟨U+001B⟩⟨U+2028⟩c"),
        ("\x00" * 16, "kz: ⟨U+0000×16⟩"),
        ("⟨U+200B⟩", "kz: ⟨U+27E8⟩U+200B⟩"),
        ("kz: end of the record", "kz: kz: end of the record"),
        ("ˆ⏎⟦x⟧", "kz: ˆ⏎⟦x⟧"),
    ],
)
def test_texts_are_shown_as_they_are_behind_the_sign(text: str, marked: str) -> None:
    assert marked == mark(text, SIGN)
    assert text == unmark(marked, SIGN)


@given(pieces)
@example("⟨⟨U+200B⟩")
@example("\ud800\udfff")
@example("\n" * 70_000 + "⟨U+000A×9⟩")
def test_nothing_is_lost(text: str) -> None:
    assert text == unmark(mark(text, SIGN), SIGN)


@given(pieces)
def test_every_line_begins_with_the_sign_however_lines_are_told_apart(text: str) -> None:
    marked = mark(text, SIGN)

    assert all(line.startswith(f"{SIGN} ") for line in marked.split("\n"))
    assert len(marked.split("\n")) == len(f"{marked}x".splitlines())


@each_row(("piece", "most"), [("\n", 0.01), ("\u200b", 0.01), ("\r", 0.01), ("a\n", 3.1), (" ", 1.01), ("\t", 1.01)])
def test_a_long_text_grows_by_little(piece: str, most: float) -> None:
    text = piece * (2_000_000 // len(piece))
    marked = mark(text, SIGN)

    assert len(marked) <= most * len(text) + 100
    assert text == unmark(marked, SIGN)


@each_row("sign", ["", "kz", "KZ:", "kzk:", "k7:", "ka:", "kz: ", "kz:\n"])
def test_a_sign_is_two_consonants_and_a_colon(sign: str) -> None:
    with pytest.raises(ValueError, match="two lower-case consonants"):
        mark("x", sign)
    with pytest.raises(ValueError, match="two lower-case consonants"):
        unmark("x", sign)
