"""Where `security_gate_uri` and `agent_card_uri` lead: a path beside the case file, `file:`, or an allowed host."""

import stat
import time
from collections import OrderedDict
from http.client import HTTPException, HTTPMessage
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from jury_events.case import ArtifactRecord, Case
from jury_judge.cases.containers.json_rows import read_rows
from jury_judge.cases.containers.row import Origin
from jury_judge.cases.rows import artifact_record
from jury_judge.errors import ArtifactSourceError, CaseFileError
from jury_judge.views.visible_text import visible_line

MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
"""For the connection and each read, and twice that for the whole."""
_KEPT = 4
_CHUNK = 1 << 16


def parse_hosts(value: str) -> frozenset[str]:
    """`JURY_ARTIFACT_HOSTS`: hosts, or host:port, separated by commas."""
    return frozenset(host.strip().lower() for host in value.split(",") if host.strip())


class ArtifactSources:
    """Records by URI, for the case files of one folder (`base`); the last few URIs are read once."""

    def __init__(
        self, base: Path, allowed_hosts: frozenset[str] = frozenset(), *, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self._base = base
        self._hosts = allowed_hosts
        self._timeout = timeout
        self._kept: OrderedDict[str, tuple[ArtifactRecord, ...]] = OrderedDict()

    def resolved(self, case: Case) -> Case:
        """The case with the records that its URIs lead to.

        Raises:
            ArtifactSourceError: as `records`.
        """
        found = {
            f"{kind}_records": self.records(uri)
            for kind, uri in (("security_gate", case.security_gate_uri), ("agent_card", case.agent_card_uri))
            if uri is not None
        }
        return case.changed(**found) if found else case

    def records(self, uri: str) -> tuple[ArtifactRecord, ...]:
        """The records behind `uri` (JSONL, or a JSON list of objects), in order.

        Raises:
            ArtifactSourceError: it leads nowhere, or where it may not, or the records cannot be read.
        """
        if uri not in self._kept:
            self._kept[uri] = self._read(uri)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(uri)
        return self._kept[uri]

    def _read(self, uri: str) -> tuple[ArtifactRecord, ...]:
        name = _shown(uri)
        content = self._fetch(uri, name)
        if not content.strip():
            return ()
        try:
            rows = read_rows(BytesIO(content), Origin(name))
            # Records that look like chat messages come as one list of them.
            return tuple(
                artifact_record(record, row.place)
                for row in rows
                for record in (row.data if isinstance(row.data, list) else [row.data])
            )
        except CaseFileError as error:
            raise ArtifactSourceError(str(error)) from error

    def _fetch(self, uri: str, name: str) -> bytes:
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise ArtifactSourceError(f"{name}: not a URI or path") from error
        if parts.scheme in {"http", "https"}:
            return self._download(uri, parts, name)
        if parts.scheme == "file":
            if parts.netloc not in {"", "localhost"}:
                raise ArtifactSourceError(f"{name}: a file: URI names no host; write file:///path")
            return _read_file(self._base / unquote(parts.path), name)
        if "://" in uri:
            raise ArtifactSourceError(f"{name}: only a path, file:, http: and https: can be read")
        return _read_file(self._base / uri, name)

    def _download(self, uri: str, parts: SplitResult, name: str) -> bytes:
        host = _host(parts, name)
        if host not in self._hosts and parts.hostname not in self._hosts:
            raise ArtifactSourceError(
                f"{name}: the host {visible_line(host)} is not allowed; name it in JURY_ARTIFACT_HOSTS to read from it"
            )
        deadline = time.monotonic() + 2 * self._timeout
        opener = build_opener(_SameHostRedirects(name))
        try:
            with opener.open(Request(uri, headers={"Accept": "*/*"}), timeout=self._timeout) as response:  # noqa: S310
                return _bounded(response, name, deadline)
        except HTTPError as error:
            error.close()
            raise ArtifactSourceError(f"{name}: the server answered {error.code}") from error
        except TimeoutError as error:
            raise ArtifactSourceError(f"{name}: no answer within {self._timeout:g} seconds") from error
        except URLError as error:
            late = isinstance(error.reason, TimeoutError)
            cause = f"no answer within {self._timeout:g} seconds" if late else "the server cannot be reached"
            raise ArtifactSourceError(f"{name}: {cause}") from error
        except (HTTPException, OSError, ValueError) as error:
            raise ArtifactSourceError(f"{name}: the download failed ({type(error).__name__})") from error


class _SameHostRedirects(HTTPRedirectHandler):
    """A redirect may change the path, never the host, and never fall back from https."""

    def __init__(self, name: str) -> None:
        self._name = name

    def redirect_request(  # noqa: PLR0917  (as urllib calls it)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (old.scheme, old.netloc.lower()) != (new.scheme, new.netloc.lower()):
            fp.close()
            raise ArtifactSourceError(f"{self._name}: redirects to another host, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _bounded(response: Any, name: str, deadline: float) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := response.read1(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise ArtifactSourceError(f"{name}: larger than {MAX_BYTES >> 20} MiB; split the report")
        if time.monotonic() > deadline:
            raise ArtifactSourceError(f"{name}: the download takes too long; fetch it and name the file instead")
    return b"".join(chunks)


def _read_file(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as stream:
            if not stat.S_ISREG(path.stat().st_mode):
                raise ArtifactSourceError(f"{name}: not a regular file")
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ArtifactSourceError(f"{name}: there is no such file; paths count from the case file's folder") from error
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise ArtifactSourceError(f"{name}: cannot be read: {cause}") from error
    if len(content) > MAX_BYTES:
        raise ArtifactSourceError(f"{name}: larger than {MAX_BYTES >> 20} MiB; split the report")
    return content


def _host(parts: SplitResult, name: str) -> str:
    try:
        port = parts.port
    except ValueError as error:
        raise ArtifactSourceError(f"{name}: not a valid port") from error
    if not parts.hostname:
        raise ArtifactSourceError(f"{name}: names no host")
    if "@" in parts.netloc:
        raise ArtifactSourceError(f"{name}: a user name or password in the URI is not accepted")
    return f"{parts.hostname}:{port}" if port else parts.hostname


def _shown(uri: str) -> str:
    """The URI for a message: without user, password, query and fragment, which may be secret."""
    head, mark, rest = uri.partition("://")
    if not mark:
        return visible_line(uri)
    authority, slash, path = rest.partition("/")
    path = path.partition("?")[0].partition("#")[0]
    return visible_line(f"{head}://{authority.rpartition('@')[2].partition('?')[0]}{slash}{path}")
