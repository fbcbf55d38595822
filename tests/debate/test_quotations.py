"""Quotations are looked for in texts: exactly, and but for what may differ."""

import itertools
import re
import unicodedata
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jury_debate.rules_1 import quotations as normal_form
from jury_debate.rules_1.quotations import SearchedItems, SearchedText
from support.each_row import each_row

CODE = "def refund(order):\n    if order.paid:\n\treturn  True\r\n\r\n“Done”, said the agent."


@each_row(
    ("quote", "span"),
    [
        ("if order.paid", "if order.paid"),
        ("IF  order.PAID", "if order.paid"),
        ("if order.paid:\nreturn True", "if order.paid:\n\treturn  True"),
        ('"done", said', "Done”, said"),
        ("'Done', said the agent...", "Done”, said the agent"),
        ("… said the agent …", "said the agent"),
        ("order.paid:\u2028return\u00a0true", "order.paid:\n\treturn  True"),
    ],
)
def test_what_may_differ_in_a_normalised_quotation(quote: str, span: str) -> None:
    found = SearchedText(CODE).normalised(quote)

    assert found is not None
    assert span == CODE[found.start : found.end].strip("“")


@each_row(
    "quote",
    [
        "if order_paid",
        "if order paid",
        "refund (order))",
        "returntrue",
        "re fund",
        "ok",
        "...",
        "“”",
        "     ",
        "–",
        "a b",
    ],
)
def test_what_may_not_differ(quote: str) -> None:
    assert SearchedText(CODE).exact(quote) is None
    assert SearchedText(CODE).normalised(quote) is None


@each_row(
    ("text", "quote", "span"),
    [
        ("un café noir", unicodedata.normalize("NFD", "CAFÉ NOIR"), "café noir"),
        (unicodedata.normalize("NFD", "un café noir"), "café noir", unicodedata.normalize("NFD", "café noir")),
        ("un café noir", "cafe noir", None),
        ("un café", "cafe", None),
        ("die Straße nach", "STRASSE NACH", "Straße nach"),
        ("die Straße nach", "se nach", None),  # not the half of a letter
        ("شكرا\u200f جزيلا لك", "جزيلا لك", "جزيلا لك"),
        ("👩\u200d🔧 fixed  it", "👩\u200d🔧 fixed it", "👩\u200d🔧 fixed  it"),
        ("注文を\n返金しました。", "注文を返金しました", "注文を\n返金しました"),
        ("a\u0301\u0323bcd", "a\u0323\u0301BCD", "a\u0301\u0323bcd"),
    ],
)
def test_letters_of_all_scripts(text: str, quote: str, span: str | None) -> None:
    found = SearchedText(text).normalised(quote)

    assert span == (None if found is None else text[found.start : found.end])


@each_row(
    ("text", "quote"),
    [
        ("注文を\n返金 しました。\n次へ", "注文を返金しました。次へ"),
        ("注文を返金しました。次へ", "注文 を\n返金しました。 次へ"),
        ("本当に！\u3000（はい）", "本当に！（はい）"),
        ("カ\u3099 ス", "ガス"),
        ("คืน เงิน แล้ว", "คืนเงินแล้ว"),
        ("ຄືນ ເງິນ", "ຄືນເງິນ"),
        ("ប្រាក់ វិញ", "ប្រាក់វិញ"),
        ("ငွေ ပြန်", "ငွေပြန်"),
        ("བོད་ ཡིག", "བོད་ཡིག"),
        ("a well-\n  known case", "well-known"),
        ("a well-known case", "well-\nknown"),
        ("a well-\nknown case", "well- known"),
        ("a well- known case", "well-\nknown"),
        ("inter\u00ad\r\nnational", "inter\u00adnational"),
        ("one two", "one\u2029two"),
    ],
)
def test_white_space_and_none_are_equal(text: str, quote: str) -> None:
    assert SearchedText(text).normalised(quote) is not None


@each_row(
    ("text", "quote"),
    [
        ("The result is notable.", "is not able"),
        ("It is not able.", "notable"),
        ("a well- known case", "well-known"),
        ("a well-known case", "well- known"),
        ("a well-known case", "well -\nknown"),
        ("an inter-\nnational case", "international"),
        ("of pages 3–\n4 only", "pages 3–4"),
        ("注文 17 を返金", "注文17を"),
        ("注文id を返金", "注文 idを"),
        ("환불 완료", "환불완료"),
        ("ａｂ ｃｄ", "ａｂｃｄ"),
        ("не льзя", "нельзя"),
        ("वापस कर", "वापसकर"),
        ("l\u0301 m\u0301n", "l\u0301m\u0301n"),
    ],
)
def test_white_space_and_none_differ(text: str, quote: str) -> None:
    assert SearchedText(text).normalised(quote) is None


LATIN = st.text(alphabet="abcdé", min_size=4, max_size=12)


@given(word=LATIN, data=st.data())
def test_no_space_within_a_latin_word_may_be_added_or_left_out(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(word) - 1))
    space = data.draw(st.text(alphabet=" \n\r\t\u3000", min_size=1, max_size=3))
    apart = word[:at] + space + word[at:]

    assert SearchedText(f"0 {word} 0").normalised(apart) is None
    assert SearchedText(f"0 {apart} 0").normalised(word) is None


def pattern_of(quote: str) -> str:
    """The texts that equal a quotation of `ab漢字- ` and line feeds."""
    parts, found = [], re.compile(r"(\S)(\s*)").findall(quote)
    for (before, gap), (after, _) in itertools.pairwise((*found, ("", ""))):
        if not after:
            rest = ""
        elif before in "漢字" and after in "漢字":
            rest = r"\s*"
        elif before == "-":
            rest = r"\s*" if "\n" in gap else r"\s+" if gap else r"(?:\s*\n\s*)?"
        else:
            rest = r"\s+" if gap else ""
        parts += [re.escape(before), rest]
    return "".join(parts)


@given(text=st.text(alphabet="ab漢字- \n", max_size=40), quote=st.text(alphabet="ab漢字- \n", min_size=3, max_size=8))
@example(text="a-\n b- b", quote="a-b-\nb")
@example(text="aa- b-b", quote="- b")
def test_quotations_are_found_where_white_space_is_equal(text: str, quote: str) -> None:
    found = SearchedText(text).normalised(quote)
    expected = re.search(pattern_of(quote), text) if len("".join(quote.split())) >= 3 else None

    assert (None if expected is None else expected.span()) == found


TEXTS = st.text(alphabet=st.sampled_from('aAbß é\u0301\u0323…"“” \t\r\n\u3000漢字\u200b👩ǅǰ'), max_size=60)


@given(text=TEXTS | st.text(max_size=80), start=st.integers(0, 60), length=st.integers(3, 30))
def test_what_a_text_has_is_found_exactly(text: str, start: int, length: int) -> None:
    quote = text[start : start + length]
    found = SearchedText(text).exact(quote)

    assert (found is not None) == (len(quote) >= 3)
    assert found is None or quote == text[found.start : found.end]


@given(text=TEXTS | st.text(max_size=80), quote=TEXTS | st.text(max_size=20))
def test_every_quotation_has_a_result_whose_span_is_in_the_text(text: str, quote: str) -> None:
    exact, normalised = SearchedText(text).exact(quote), SearchedText(text).normalised(quote)

    assert (exact is not None) == (len(quote) >= 3 and quote in text)
    for found in (exact, normalised):
        assert found is None or 0 <= found.start < found.end <= len(text)
    if normalised is not None:
        within = text[normalised.start : normalised.end]
        assert (0, len(within)) == SearchedText(within).normalised(quote)


WORDS = st.lists(st.sampled_from(["refund", "Straße", "café", "漢字", "order", "xyz"]), min_size=2, max_size=12)
GAPS = st.sampled_from([" ", "  ", "\n", "\r\n\t", "\u3000"])


@given(words=WORDS, data=st.data())
def test_a_quotation_with_other_gaps_case_and_marks_is_found_whole(words: list[str], data: st.DataObject) -> None:
    text = "".join(word + data.draw(GAPS) for word in words)
    first = data.draw(st.integers(0, len(words) - 2))
    part = words[first:]
    quote = "“" + "".join(one.upper() + data.draw(GAPS) for one in part) + "”…"
    found = SearchedText(text).normalised(unicodedata.normalize(data.draw(st.sampled_from(["NFC", "NFD"])), quote))

    assert found is not None
    wanted = "".join(part).casefold()
    assert wanted == "".join(text[found.start : found.end].split()).casefold()


@each_row(
    ("text", "quote", "span"),
    [
        ("é" * 5000 + "the order was  paid" + "漢" * 5000, "THE ORDER WAS PAID", "the order was  paid"),
        ("cafe\u0301 " * 500 + "Cafe noir", "CAFE", "Cafe"),  # many places are in the middle of letters
    ],
    ids=["one line", "letters"],
)
def test_a_long_text_has_the_same_spans(text: str, quote: str, span: str) -> None:
    found = SearchedText(text).normalised(quote)

    assert found is not None
    assert span == text[found.start : found.end]


@each_row(
    ("text", "quote"),
    [
        ("ß" * 200_000, "sss"),
        ("cafe\u0301 " * 33_000, "CAFE"),
        ("a" + "\u0301" * 200_000, "\u0301" * 200),
        ("a" + "\u0301\u0316" * 100_000, "abc"),
        ("漢 " * 50_000 + "\u0301" * 50_000 + " 漢", "漢漢漢 a"),
        ("- " * 100_000, "---"),
        (" \n" * 100_000, "abc"),
    ],
    ids=["sharp s", "accents", "one mark", "two marks", "characters without spaces", "hyphens", "line ends"],
)
def test_texts_that_could_take_quadratic_time(text: str, quote: str) -> None:
    """Each took minutes or hours before places and marks had a bound."""
    assert SearchedText(text).normalised(quote) is None


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0316\u0301", "\u0f73", "\u0344\u0323"])
def test_marks_are_ordered_a_few_at_a_time(marks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To order n marks takes n² steps."""
    ordered: list[int] = []

    def counted(form: Literal["NFD"], text: str) -> str:
        runs = "".join("x" if unicodedata.combining(char) else " " for char in unicodedata.normalize("NFKD", text))
        ordered.extend(map(len, runs.split()))
        return unicodedata.normalize(form, text)

    monkeypatch.setattr(normal_form, "normalize", counted)
    text = "a" + marks * 5000

    assert SearchedText(text).normalised("abc") is None
    assert max(ordered) <= 60
    assert sum(ordered) <= 6 * len(text)


def test_a_letter_with_very_many_marks_is_no_two_letters() -> None:
    assert SearchedText("e" + "\u0301" * 100).normalised("\u0301" * 60) is None
    assert SearchedText("abe" + "\u0301" * 100).normalised("abe" + "\u0301" * 30) is None
    assert SearchedText("abe" + "\u0301" * 100).normalised("ABE" + "\u0301" * 100) == (0, 103)


ITEMS = [(1, "one order"), (2, ""), (3, "two orders"), (4, "one order"), (7, "ord")]


@each_row(
    ("quote", "but", "found"),
    [
        ("one order", 1, (4, "one order")),
        ("one order", 4, (1, "one order")),
        ("orders", 1, (3, "orders")),
        ("orderone", 0, None),  # over the end of an item
        ("ord", 1, (3, "ord")),
        ("or", 0, None),  # too short
        ("nothing", 0, None),
    ],
)
def test_a_quotation_is_looked_for_in_other_items(quote: str, but: int, found: tuple[int, str] | None) -> None:
    items = SearchedItems(ITEMS)
    elsewhere = items.exact_elsewhere(quote, but)

    shown: Any = None
    if elsewhere is not None:
        number, span = elsewhere
        shown = (number, dict(ITEMS)[number][span.start : span.end])
    assert found == shown


def test_there_is_no_item_of_another_number() -> None:
    items = SearchedItems(ITEMS)

    assert items.item(0) is None
    assert items.item(5) is None
    assert items.item(2) is not None


@each_row(
    ("text", "quote"),
    [
        (unicodedata.normalize("NFD", "un café noir"), unicodedata.normalize("NFC", "un café noir")),
        (unicodedata.normalize("NFC", "un café noir"), unicodedata.normalize("NFD", "un café noir")),
        ("ａｂｃ", "abc"),  # full width is another character, also where it is compatible
        ("𝐫𝐞𝐟𝐮𝐧𝐝", "refund"),
        ("pаid", "paid"),  # Cyrillic а
        ("שלום עליכם", "\u202bשלום עליכם\u202c"),
        ("👩\u200d🔧 fixed", "👩🔧 fixed"),
        ("👍🏽 done", "👍 done"),
        ("one\r\ntwo", "one\ntwo"),
        ("one\ttwo", "one two"),
    ],
)
def test_characters_that_only_look_the_same_are_not_exact(text: str, quote: str) -> None:
    assert SearchedText(text).exact(quote) is None


UNUSUAL = st.text(
    alphabet=st.sampled_from("aé\u0301\u0323שׁا\u200f\u202e\u200d👩👍🏽\ufe0f🇯🇵\r\n\t ß漢\u3000"),
    min_size=3,
    max_size=12,
)


@given(before=UNUSUAL, quote=UNUSUAL, between=UNUSUAL, number=st.integers(1, 3))
def test_a_quotation_that_occurs_several_times_is_found_at_its_first_place(
    before: str, quote: str, between: str, number: int
) -> None:
    text = before + (quote + between) * number
    found = SearchedText(text).exact(quote)

    assert found is not None
    assert (text.index(quote), quote) == (found.start, text[found.start : found.end])
