"""A draft of a format file for cases that no format knows, with what it would show of the first of them."""

from collections.abc import Iterator
from typing import NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_events.text import visible, visible_line
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.case_preview import CasePreview


class CaseProposal(NamedTuple):
    """A draft.

    Attributes:
        draft: of a format file, as YAML.
        shown: the first case as it would be shown; the reason if it could not be read.
        parts: of a case, for which it has expressions.
        unplaced: columns, and fields of messages, that the draft has no place for.
        guesses: what of it is to be checked, in words.
    """

    draft: str
    shown: str
    parts: tuple[str, ...]
    unplaced: tuple[str, ...]
    guesses: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """A format file: the draft, and the rest as its comments."""
        yield "# A draft of a format file: correct it, then jury cases FILE --format THIS.yaml"
        yield from self.draft.splitlines()
        yield from (f"# check: {visible_line(one, 200)}" for one in self.guesses)
        if not ({"response", "messages"} & {*self.parts} or self.guesses):
            yield "# response: EXPRESSION    no column looks like the agent's answer"
        if "question" not in self.parts and "messages" not in self.parts:
            yield "# question: EXPRESSION    no column looks like the request; or --question TEXT"
        yield ""
        placed = ", ".join(visible_line(one, 60) for one in self.unplaced)
        yield f"# could not be placed: {placed or 'nothing'}"
        yield "# the first case, as it would be shown:"
        yield from (f"#   {line}".rstrip() for line in visible(self.shown).splitlines())


def propose_format(files: CaseFiles, loaded: LoadedPanel) -> CaseProposal:
    """A draft for the rows of the first file.

    Raises:
        CaseFileError: it cannot be read.
    """
    proposal = files.proposal()
    preview = CasePreview(files.reading_as(proposal.content), loaded)
    try:
        first = next(iter(preview), None)
        shown = "" if first is None else first.text or ""
        left = list(preview.omissions.kinds)
    except CaseFileError as error:
        shown, left = f"not read: {error}", []
    unplaced = (*proposal.unplaced, *left)
    return CaseProposal(proposal.text(), shown, tuple(proposal.content), unplaced, proposal.guesses)
