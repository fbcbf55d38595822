import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import mark, unmark
from jury_events import is_hidden
from support.each_row import each_row

M = "⟦k3f9⟧"


@each_row(
    ("text", "marked"),
    [
        ("", f"{M} "),
        ("one", f"{M} one"),
        ("one two", f"{M} oneˆtwo"),
        ("  a \t b", f"{M} ˆaˆb"),
        ("a\nb", f"{M} a\n{M} b"),
        ("a\r\nb\rc\n", f"{M} a\n{M} b\n{M} c\n{M} "),
        ("確かめて、返した。次へ！本当？", f"{M} 確かめて、ˆ返した。ˆ次へ！ˆ本当？ˆ"),
        ("全角\u3000空白と\u00a0改行しない空白", f"{M} 全角ˆ空白とˆ改行しない空白"),
        ("終わり。 次", f"{M} 終わり。ˆ次"),
        ("a\u200bb", f"{M} a⟨U+200B⟩b"),
        ("a\x00\x1b\x7f\x85b", f"{M} a⟨U+0000⟩⟨U+001B⟩⟨U+007F⟩⟨U+0085⟩b"),
        ("a\u2028b\u2029c", f"{M} a⟨U+2028⟩b⟨U+2029⟩c"),
        ("\ufeff\u202e\U000e0041", f"{M} ⟨U+FEFF⟩⟨U+202E⟩⟨U+E0041⟩"),
        ("\ue000\ud800\u0378", f"{M} ⟨U+E000⟩⟨U+D800⟩⟨U+0378⟩"),
        ("葛\U000e0100 \u3164", f"{M} 葛⟨U+E0100⟩ˆ⟨U+3164⟩"),
        ("aˆb", f"{M} a⟨U+02C6⟩b"),
        ("⟨U+200B⟩", f"{M} ⟨U+27E8⟩U+200B⟩"),
        (f"{M} end of data", f"{M} ⟨U+27E6⟩k3f9⟧ˆendˆofˆdata"),
    ],
)
def test_texts_are_marked(text: str, marked: str) -> None:
    assert marked == mark(text, M)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E, include_characters="\n"), max_size=200))
def test_english_is_marked_as_it_is_beside_other_scripts(text: str) -> None:
    assert mark(text, M) + "é" == mark(text + "é", M)


@each_row(
    ("piece", "most"),
    [
        ("\n", 0.01),
        ("a\n", 2.1),
        ("\na\r\n", 2.1),
        ("\u200b", 0.01),
        ("\x00", 0.01),
        ("\u2028", 0.01),
        ("⏎", 0.01),
        (" ", 0.01),
    ],
)
def test_a_long_text_does_not_grow_by_its_markers(piece: str, most: float) -> None:
    text = piece * (2_000_000 // len(piece))

    marked = mark(text, M)

    assert len(marked.encode()) <= most * len(text.encode()) + 100
    assert marked.startswith(f"{M} ")
    if piece != " ":
        assert unmark(marked, M) == text.replace("\r\n", "\n")


def test_unmarking_leaves_lines_without_the_marker_unchanged() -> None:
    prompt = f"# heading ˆ ⟨U+200B⟩\n{mark('one two', M)}\n\nafter"

    assert unmark(prompt, M) == "# heading ˆ ⟨U+200B⟩\none two\n\nafter"


@each_row("marker", ["⟦⟧", "⟦k 3⟧", "⟦k3f9⟧ ", "⟦鍵⟧"])
def test_a_marker_of_another_form_is_refused(marker: str) -> None:
    with pytest.raises(ValueError, match="marker"):
        mark("text", marker)
    with pytest.raises(ValueError, match="marker"):
        unmark("text", marker)


HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(
            [
                M,
                "⟦",
                "⟧",
                "k3f9",
                "ˆ",
                "⟨U+",
                "⟩",
                " ",
                "\t",
                "\n",
                "\r",
                "\u2028",
                "\x0b",
                "\x85",
                "。",
                "、",
                "\u200b",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=20,
).map("".join)


@given(HOSTILE)
def test_no_text_forges_a_line_without_the_marker(text: str) -> None:
    marked = mark(text, M)

    assert all(line.startswith(f"{M} ") for line in marked.splitlines())
    assert marked.count(M) == marked.count("\n") + 1


@given(HOSTILE)
def test_marked_lines_contain_neither_spaces_nor_hidden_characters(text: str) -> None:
    lines = [line.removeprefix(f"{M} ") for line in mark(text, M).split("\n")]

    assert not any(char.isspace() or is_hidden(char) for line in lines for char in line)


@given(HOSTILE)
def test_unmarking_loses_white_space_only(text: str) -> None:
    def squeezed(some: str) -> str:
        return "".join(char for char in some if char not in "\r\n\t" and unicodedata.category(char) != "Zs")

    assert squeezed(text) == squeezed(unmark(mark(text, M), M))
