"""What changed between two texts reads as sentences and words, and can be read back."""

import random

from jury_web import text_changes
from jury_web.pages.case_passages import layout
from support.each_row import each_row


def pieces_of(before: str, after: str) -> list[tuple[str, str]] | None:
    found = text_changes(before, after)
    return None if found is None else [tuple(piece) for piece in found]  # type: ignore[misc]


@each_row(
    ("before", "after", "pieces"),
    [
        ("One. Two.", "One. Two.", [("same", "One. Two.")]),
        ("One. Two.", "One. Three. Two.", [("same", "One. "), ("new", "Three. "), ("same", "Two.")]),
        (
            "The number was checked twice.",
            "The number was never checked.",
            [
                ("same", "The number was "),
                ("new", "never "),
                ("same", "checked"),
                ("gone", " twice"),
                ("same", "."),
            ],
        ),
        ("確認しました。返金は正当です。", "確認しました。返金は不当です。", None),
        ("", "New.", [("new", "New.")]),
    ],
)
def test_what_stayed_what_went_and_what_came(before, after, pieces):
    found = pieces_of(before, after)

    if pieces is None:
        pieces = [("same", "確認しました。返金は"), ("gone", "正"), ("new", "不"), ("same", "当です。")]
    assert pieces == found


def test_both_texts_can_be_read_from_the_pieces():
    chance = random.Random(7)
    words = ["safe", "unsafe ", "。", ". ", "返金", "\n", "checked ", "!", "42 ", "  "]

    for _ in range(300):
        before, after = ("".join(chance.choices(words, k=chance.randrange(30))) for _ in range(2))
        found = text_changes(before, after)

        assert found is not None
        assert after == "".join(piece.text for piece in found if piece.kind != "gone")


def test_texts_of_very_many_sentences_are_not_compared():
    assert pieces_of("a. " * 500, "b. " * 500) is None


@each_row(
    ("text", "laid"),
    [
        ('{"a":1.50,"a":[],"b":{}}', '{\n  "a": 1.50,\n  "a": [],\n  "b": {}\n}'),
        ('["\\u65e5",[true,null]]', '[\n  "日",\n  [\n    true,\n    null\n  ]\n]'),
        ('{"a":"x, [1]: \\"y\\""}', '{\n  "a": "x, [1]: \\"y\\""\n}'),
        ("[]", "[]"),
        ("12", None),
        ("{'a': 1}", None),
        ("[1, 2", None),
        ("[" * 5000 + "]" * 5000, None),
    ],
)
def test_json_is_laid_out_with_every_value_as_it_is_written(text, laid):
    found = layout(text)

    assert laid == (None if found is None else found.text)
