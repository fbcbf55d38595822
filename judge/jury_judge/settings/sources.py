"""What a Jury may read, besides the cases that it is given."""

import os
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Files of records, and debates of other stores.

    Attributes:
        artifact_roots: folders from which the records of `…_uri` may be read, besides that of a case file. None: any
            folder for cases and rows, which the caller wrote; for case files no other folder.
        adopt: public keys (lines, as `jury seal keygen` writes them): an imported debate counts as judged if its seal
            is signed by one of them.
    """

    artifact_roots: Iterable[str | os.PathLike[str]] | None = None
    adopt: Iterable[str] = ()


ANY_SOURCE = Sources()
