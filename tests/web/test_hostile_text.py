"""Text of models, cases and callers is shown as text on every page, never as markup, link or script."""

import re
from importlib.resources import files

import pytest

from support.debate_builder import DebateBuilder
from support.pages import Page, Site, stored

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "[click](javascript:alert(1)) javascript:alert(1)",
    "</div></li></ol></main><h1>forged</h1>",
    '"><style>*{display:none}</style>',
    "<!-- <plaintext>",
    "&lt;b&gt; &amp;",
    "https://evil.example/?steal",
)
UNSEEN = ("\u202egnp.exe", "\x1b[31mred", "\x00", "\u200bzero", "\ufeff", "\U000e0041", "\x85", "\r\nid: 9\r\n")


def debate_with(text: str) -> DebateBuilder:
    """A debate in which every free text is `text`."""
    debate = DebateBuilder(prompt=text).phase_1().round_1().judged()
    refs = {ref: content for ref, content in debate.texts.items() if content != debate.texts[debate.opened.case.part]}
    new = debate.text(text)
    for number, event in enumerate(debate.events[1:], 1):
        body = event.model_dump_json()
        for ref in refs:
            body = body.replace(ref, new.part)
        debate.events[number] = type(event).model_validate_json(body)
    for ref in refs:
        if ref not in {debate.opened.secret.part, new.part}:
            del debate.texts[ref]
    return debate


def pages(debate: DebateBuilder) -> list[Page]:
    site = Site(stored(debate))
    addresses = (
        "/debates/run-1~c1",
        "/debates/run-1~c1?lang=ja",
        "/debates/run-1~c1/events",
        "/debates/run-1~c1/export.html",
        "/",
        "/compare?a=run-1~c1&b=run-1~c1",
    )
    return [site.get(address) for address in addresses]


def elements(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """The tree without its texts: tags in document order, and the names of their attributes."""
    return [(node.tag, tuple(sorted(node.attributes))) for node in page.tree.css("*")]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_changes_no_element_of_any_page(text):
    harmless = pages(debate_with("a harmless text"))

    for page, other in zip(pages(debate_with(text)), harmless, strict=True):
        assert elements(other) == elements(page)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_statements_are_shown_character_by_character(text):
    shown = pages(debate_with(text))[0]

    assert text in shown.node("[role=log] article > .prose").text()


@pytest.mark.parametrize("text", UNSEEN)
def test_invisible_characters_are_written_out(text):
    for page in pages(debate_with(text)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\ufeff\U000e0041]", page.text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_and_searches_are_text_too(text):
    label = text[:200]
    debate = DebateBuilder().phase_1().opened_as(case_id=label, roles={"juror-gpt": label})
    site = Site(stored(debate))

    shown = site.get("/debates/run-1~c1")
    listed = Page(site.client.get("/", params={"search": label[:100]}))

    assert label == shown.node("h1").text()
    assert label == shown.node(".evaluations h3").text()
    assert label[:100] == listed.node("#q").attributes["value"]
    for page in (shown, listed):
        assert not page.tree.css("main script, main img, main style, [onload], [onerror]")


def test_every_link_of_a_page_stays_on_the_server():
    for text in HOSTILE:
        for page in pages(debate_with(text)):
            for address in (*page.attributes("[href]", "href"), *page.attributes("[src]", "src")):
                assert address is not None
                assert address.startswith(("/", "#", "?"))


def test_no_template_switches_escaping_off():
    views = files("jury_views")
    folders = (files("jury_web") / "templates", views / "charts", views / "notebook" / "templates")
    found = [one for folder in folders for one in folder.iterdir() if one.name.endswith((".html", ".css"))]

    assert {"charts.html", "debate.html", "result.html"} <= {one.name for one in found}
    for template in found:
        source = template.read_text("utf-8")
        for way in (
            "|safe",
            "| safe",
            "autoescape",
            "Markup",
            "|tojson",
            "| tojson",
            "xmlattr",
            "<script>",
            "style=",
            "onclick",
        ):
            assert way not in source, f"{template.name}: {way}"


def test_no_code_of_the_web_marks_text_as_safe():
    for folder in ("", "pages"):
        for module in (files("jury_web") / folder).iterdir():
            if module.name.endswith(".py"):
                source = module.read_text("utf-8")
                assert "Markup" not in source, module.name
                assert "Environment(" not in source or module.name == "rendering.py"


def test_the_script_never_parses_text_as_markup():
    source = (files("jury_web") / "static" / "page.js").read_text("utf-8")

    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function("):
        assert way not in source
