"""The pages over a store, asked without a network, and read as a browser's parser reads them."""

import json
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.applications import Starlette
from starlette.testclient import TestClient

from jury_events import Part, decode_digest, encode, part_digest, refs_in
from jury_judge import Service
from jury_store import Append, Appended, EventStore, MemoryEventStore
from jury_web import page_routes
from support.debate_builder import DebateBuilder, salt_of

START = 1_700_000_000_000_000


def stored(*debates: DebateBuilder) -> MemoryEventStore:
    """A store with these debates, a second between two events."""
    store = MemoryEventStore()
    _append(store, [append for debate in debates for append in _appends(debate, 0)])
    return store


def keep(store: EventStore, debate: DebateBuilder) -> None:
    """Store the events of a debate that the store does not have yet, its texts with the first.

    Events of a debate whose model calls are left out name none.
    """
    _append(store, _appends(debate, len(store.read_stream(f"debate/{debate.opened.debate_id}"))))


def _appends(debate: DebateBuilder, seen: int) -> list[Append]:
    """Of the events after so many, and of the calls."""
    name = debate.opened.debate_id
    kept = [
        one.changed(exchanges=()) if getattr(one, "exchanges", ()) and not debate.exchanges else one
        for one in debate.events
    ]
    # It begins when it opens.
    times = [START + max(0, number - 1) * 1_000_000 for number in range(len(kept))]
    events = [encode(one, recorded_at=times[number]) for number, one in enumerate(kept) if number >= seen]
    calls = tuple(encode(call, recorded_at=START) for call in debate.exchanges)
    named = {ref for one in (*events, *calls) for ref in refs_in(json.loads(one.body))}
    parts = tuple(_part(ref, content) for ref, content in debate.texts.items() if ref in named)
    events[:1] = [one._replace(parts=parts) for one in events[:1]]
    appends = [Append(f"debate/{name}", tuple(events), expected_version=seen, epoch=1)] if events else []
    return [*appends, Append(f"calls/{name}", calls)] if calls else appends


def _append(store: EventStore, appends: list[Append]) -> None:
    for answer in store.append(appends) if appends else ():
        assert isinstance(answer, Appended), answer


def _part(ref: str, content: bytes) -> Part:
    salt = salt_of(content)
    assert part_digest(salt, content) == decode_digest(ref)
    return Part(decode_digest(ref), salt, content)


class Page:
    """An answer: its status, headers, text, and the tree that a browser makes of it."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers = response.headers
        self.text: str = response.text
        self.content: bytes = response.content
        self.tree = LexborHTMLParser(self.text)

    def all(self, selector: str) -> list[str]:
        """The text of each element that fits, blanks run together."""
        return [_text(node) for node in self.tree.css(selector)]

    def one(self, selector: str) -> str:
        """The text of the only element that fits."""
        found = self.all(selector)
        assert len(found) == 1, f"{selector}: {found}"
        return found[0]

    def node(self, selector: str) -> LexborNode:
        """The first element that fits."""
        found = self.tree.css_first(selector)
        assert found is not None, selector
        return found

    def attributes(self, selector: str, name: str) -> list[str | None]:
        """An attribute of each element that fits."""
        return [node.attributes.get(name) for node in self.tree.css(selector)]

    def table(self, selector: str) -> list[list[str]]:
        """The cells of a table's body, row by row; not the lines below them that say why."""
        return [
            [_text(cell) for cell in row.css("th, td")] for row in self.tree.css(f"{selector} tbody tr:not(.why-row)")
        ]


class Site:
    """The pages over `store`."""

    def __init__(self, store: EventStore) -> None:
        self.client = TestClient(Starlette(routes=page_routes(Service(store))))

    def get(self, address: str, **headers: str) -> Page:
        """An answer, redirections not followed."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Page(self.client.get(address, headers=named, follow_redirects=False))


def _text(node: LexborNode) -> str:
    return " ".join(node.text().split())
