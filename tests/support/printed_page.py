"""What a reader finds on a page, as text for a table of `printed`: a line a block, links with their addresses."""

from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from jury_store import EventStore
from support.pages import Page, Site

_LINES = frozenset(
    {"article", "aside", "caption", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"}
    | {"form", "h1", "h2", "h3", "h4", "header", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table"}
    | {"tr", "ul"}
)
_UNSEEN = frozenset({"script", "style", "svg", "template"})
_STATES = ("open", "hidden", "checked", "selected")
_LONGEST = 400
"""Characters of a line."""


def printed_page(page: Page, *selectors: str) -> str:
    """The blocks of the elements that fit the selectors, in their order; without a selector all of `main`."""
    lines: list[str] = [] if page.status == 200 else [f"status {page.status}"]
    for selector in selectors or ("main",):
        found = page.tree.css(selector)
        lines += [line for node in found for line in _lines(node)] or [f"nothing at {selector}"]
    return "\n".join(lines)


def printed_pages(rows: Mapping[str, tuple[EventStore, str, str]]) -> dict[str, str]:
    """By name what stands on pages over stores: an address, and the selectors with `; ` between them ("": `main`)."""
    found = {}
    for name, (store, address, places) in rows.items():
        page = Site(store).get(address)  # a site of its own: the language of an address is kept in a cookie
        found[name] = printed_page(page, *(places.split("; ") if places else ()))
    return found


def _lines(node: LexborNode) -> Iterator[str]:
    line: list[str] = []
    for piece in (*_pieces(node, in_row=False), "\n"):
        if piece != "\n":
            line.append(piece)
            continue
        if text := " ".join("".join(line).split()):
            shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
            yield shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown)} characters)"
        line = []


def _pieces(node: LexborNode, *, in_row: bool) -> Iterator[str]:
    """Texts, and the ends of lines; a row of a table is one line."""
    if node.tag == "-text":
        yield (node.text_content or "").replace("\n", " ")
        return
    if node.tag in _UNSEEN:
        return
    end = (" " if in_row else "\n") if node.tag in _LINES else ""
    yield end
    yield "".join(f"({name}) " for name in _STATES if name in node.attributes)
    if order := node.attributes.get("aria-sort"):
        yield f"({order}) "
    if name := node.attributes.get("name"):
        yield f" [{name}={node.attributes.get('value') or ''}] "
    for child in node.iter(include_text=True):
        yield from _pieces(child, in_row=in_row or node.tag == "tr")
    if node.tag == "a":
        yield f" <{node.attributes.get('href')}>"
    if node.tag in {"td", "th"}:
        yield " | "
    yield end
