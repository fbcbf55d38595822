"""Which language a page is in, and that both say everything."""

import pytest

from jury_judge.web.pages.languages import chosen_language
from jury_judge.web.words.catalogues import PAGE_WORDS
from support.hand_built import HandBuilt
from support.pages import Site, stored


@pytest.mark.parametrize(
    ("query", "cookie", "accept", "language"),
    [
        ({}, {}, "", "en"),
        ({}, {}, "ja", "ja"),
        ({}, {}, "ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ({}, {}, "en;q=0.5, ja;q=0.9", "ja"),
        ({}, {}, "fr, de;q=0.9, ja;q=0.1", "ja"),
        ({}, {}, "ja;q=0, en", "en"),
        ({}, {}, "ja;q=x", "en"),
        ({}, {}, "*;;;,,=" * 1000, "en"),
        ({}, {"jury_lang": "ja"}, "en", "ja"),
        ({"lang": "en"}, {"jury_lang": "ja"}, "ja", "en"),
        ({"lang": "xx"}, {"jury_lang": "ja"}, "en", "ja"),
        ({"lang": "JA"}, {}, "en", "ja"),
    ],
)
def test_the_address_comes_before_the_cookie_and_the_cookie_before_the_browser(query, cookie, accept, language):
    assert language == chosen_language(query, cookie, accept)


def test_a_chosen_language_is_kept_and_the_switch_leads_to_the_other():
    site = Site(stored(HandBuilt().phase_1()))

    shown = site.get("/debates/run-1~c1?at=3&lang=ja")

    assert ["/debates/run-1~c1?at=3&lang=en"] == shown.attributes(".language", "href")
    assert "ja" == site.get("/").node("html").attributes["lang"]
    assert {"httponly", "samesite=strict"} <= {one.strip().lower() for one in shown.headers["set-cookie"].split(";")}


def test_both_languages_fill_in_the_same_blanks():
    for name, english, japanese in zip(PAGE_WORDS["en"]._fields, PAGE_WORDS["en"], PAGE_WORDS["ja"], strict=True):
        if isinstance(english, str):
            assert _blanks(english) == _blanks(japanese), name


def _blanks(text: object) -> list[str]:
    return sorted(piece.partition("}")[0] for piece in str(text).split("{")[1:])


def test_japanese_is_shown_as_japanese():
    debate = HandBuilt(language="ja", prompt="返金してください。").phase_1().opened_as(case_id="返金の相談")
    site = Site(stored(debate))

    for address in ("/", "/debates/run-1~c1", "/debates/run-1~c1/events", "/debates/run-1~c1/export.html"):
        assert "返金の相談" in site.get(address).text
    assert "返金してください。" in site.get("/debates/run-1~c1").text
