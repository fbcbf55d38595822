"""A case as a simulated juror has read it."""

from typing import NamedTuple

from jury_providers.simulated.document import Document
from jury_providers.simulated.findings import Finding


class ReadCase(NamedTuple):
    """A parsed case; `digest` identifies its text."""

    digest: bytes
    document: Document
    findings: tuple[tuple[Finding, ...], ...]
