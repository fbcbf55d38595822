"""Settings that belong to no panel: the URL of the store, the hosts of artifact records."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from jury_cases.artifact_hosts import parse_hosts
from jury_events.errors import SettingError
from jury_events.text import visible

STORE_URL = "JURY_STORE_URL"
ARTIFACT_HOSTS = "JURY_ARTIFACT_HOSTS"
DEFAULT_STORE_URL = "sqlite:///jury.db"

_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg", "postgres")
_FORMS = "sqlite:///PATH or postgresql://USER@HOST/DATABASE"


class Settings(NamedTuple):
    """`store_url` as SQLAlchemy writes it; `artifact_hosts` as `AllowedHosts` takes them."""

    store_url: str
    artifact_hosts: frozenset[str]


def load_settings(environ: Mapping[str, str], *, store_url: str | None = None) -> Settings:
    """Explicit arguments over the environment over the defaults; an empty variable is unset."""
    place = "--store" if store_url is not None else STORE_URL
    if not isinstance(store_url, str | None):
        raise SettingError(f"{place}: not a store's URL but a {type(store_url).__name__}; write {_FORMS}")
    url = (environ.get(STORE_URL, "") if store_url is None else store_url).strip()
    if not url and store_url is None:
        url = DEFAULT_STORE_URL
    if url.startswith("sqlite:") and set(url) & {"?", "#"}:
        raise SettingError(f"{place}: a store's path has no options; write %3F for ? and %23 for #")
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    is_store = parts.scheme in _SCHEMES and "://" in url and bool(parts.path.strip("/"))
    if not is_store or url != visible(url):
        raise SettingError(f"{place}: not a store's URL; write {_FORMS}")
    return Settings(url, parse_hosts(environ.get(ARTIFACT_HOSTS, "")))


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
        require_drift_check: an age, as `7d`: a panel whose last drift check is older, or found something, is refused.
            None: no check is needed.
    """

    artifact_roots: Iterable[str | os.PathLike[str]] | None = None
    adopt: Iterable[str] = ()
    trust: Iterable[str] = ()
    require_drift_check: str | None = None


ANY_SOURCE = Sources()
