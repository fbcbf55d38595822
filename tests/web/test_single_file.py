"""A debate exported as one HTML file."""

import re
from base64 import b64encode
from hashlib import sha256

from support.debate_builder import DebateBuilder
from support.pages import Page, Site, stored


def exported(debate: DebateBuilder, query: str = "") -> Page:
    return Site(stored(debate)).get(f"/debates/run-1~c1/export.html{query}")


def test_the_file_loads_nothing_and_has_no_script():
    page = exported(DebateBuilder().phase_1().round_1().judged())

    assert not page.tree.css("script, link, img, iframe, form, [src], [onload]")
    assert all(str(address).startswith("#") for address in page.attributes("[href]", "href"))


def test_its_policy_allows_only_its_own_style_sheet():
    page = exported(DebateBuilder().phase_1().judged())
    style = re.search("<style>(.*)</style>", page.text, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style.group(1).encode()).digest()).decode()

    policy = page.node("meta[http-equiv=Content-Security-Policy]").attributes["content"]

    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" == policy


def test_its_file_name_is_the_debate_id():
    assert 'attachment; filename="run-1~c1.html"' == exported(DebateBuilder().phase_1()).headers["content-disposition"]


def test_every_event_has_an_anchor_on_the_page_and_in_the_file():
    debate = DebateBuilder().phase_1().round_1().judged()
    every = {f"e-{number}" for number in range(1, 14)}

    for page in (Site(stored(debate)).get("/debates/run-1~c1"), exported(debate)):
        assert every == set(page.attributes("[id^=e-]", "id"))
