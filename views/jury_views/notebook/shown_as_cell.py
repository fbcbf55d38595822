"""Values that a notebook shows as HTML. Imports no template engine, so that results are made without it."""

from abc import abstractmethod

from jury_events.panel import Language


class CellHtml(str):
    """HTML that a notebook shows as it is, and that can be written to a file."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


class ShownAsCell:
    """A value with HTML for a cell of a notebook: in English where it is the last value, in a language by `to_html`."""

    __slots__ = ()

    @abstractmethod
    def to_html(self, lang: Language = "en") -> CellHtml:
        """The HTML of a cell, in a language."""

    def _repr_html_(self) -> str:
        return self.to_html()
