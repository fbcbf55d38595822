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
        trust: public keys likewise: the calibration of a panel file must be signed by one of them. (): signatures of
            calibrations are not verified.
    """

    artifact_roots: Iterable[str | os.PathLike[str]] | None = None
    adopt: Iterable[str] = ()
    trust: Iterable[str] = ()


ANY_SOURCE = Sources()
