"""Fetches the records of `security_gate_uri` and `agent_card_uri`: a path, `file:`, or an allowed host."""

import time
from collections import OrderedDict
from collections.abc import Iterable
from http.client import HTTPException
from io import BytesIO
from os.path import realpath
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import Request

from jury_cases.artifact_hosts import AllowedHosts, Resolve, checked_opener, resolved
from jury_cases.case_of_row import artifact_record
from jury_cases.containers.json_rows import read_rows
from jury_cases.containers.row import RowSource
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_events.case import ArtifactRecord, Case
from jury_events.named_files import read_named, refuse_secrets
from jury_events.regular_files import FileTooLarge, read_failure
from jury_events.text import visible_line, visible_url

MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
"""For the connection and each read; the whole download may take twice as long."""
_CACHED = 4
_CHUNK = 1 << 16


class ArtifactSources:
    """Records by URI for the case files of one folder, with a cache of the last few URIs.

    Args:
        allowed_hosts: hosts of `http(s):` records, in the syntax of `AllowedHosts`.
        roots: allowed folders, symbolic links resolved; None: any.
        timeout: seconds, as `TIMEOUT_SECONDS`.
    """

    def __init__(
        self,
        base: Path,
        allowed_hosts: frozenset[str] = frozenset(),
        *,
        roots: Iterable[Path] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        resolve: Resolve = resolved,
    ) -> None:
        self._base = base
        self._hosts = AllowedHosts(allowed_hosts)
        self._roots = None if roots is None else tuple(Path(realpath(root)) for root in roots)
        self._timeout = timeout
        self._opener = checked_opener(self._hosts, resolve)
        self._cache: OrderedDict[str, tuple[ArtifactRecord, ...]] = OrderedDict()

    def resolved(self, case: Case) -> Case:
        """The case with the records that its URIs refer to."""
        uris = {"security_gate": case.security_gate_uri, "agent_card": case.agent_card_uri}
        for kind, uri in uris.items():
            if uri is not None and not uri.strip():
                raise ArtifactSourceError(f"{kind}_uri: is empty; name a file or an allowed address, or leave it out")
        found = {f"{kind}_records": self.records(uri) for kind, uri in uris.items() if uri is not None}
        return case.changed(**found) if found else case

    def records(self, uri: str) -> tuple[ArtifactRecord, ...]:
        """The records at `uri` (JSONL, or a JSON list of objects), in order."""
        if uri not in self._cache:
            self._cache[uri] = self._read(uri)
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(uri)
        return self._cache[uri]

    def _read(self, uri: str) -> tuple[ArtifactRecord, ...]:
        name = visible_url(uri)
        content = self._fetch(uri, name)
        if not content.strip():
            return ()
        try:
            rows = read_rows(BytesIO(content), RowSource(name))
            # A list of records that look like chat messages is one row.
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
            return self._read_file(self._base / unquote(parts.path), name)
        if "://" in uri:
            raise ArtifactSourceError(f"{name}: only a path, file:, http: and https: can be read")
        return self._read_file(self._base / uri, name)

    def _download(self, uri: str, parts: SplitResult, name: str) -> bytes:
        host, port = _host(parts, name)
        if not self._hosts.find(host, port):
            shown = visible_line(host if parts.port is None else f"{host}:{port}")
            raise ArtifactSourceError(
                f"{name}: the host {shown} is not allowed; name it in JURY_ARTIFACT_HOSTS to read from it"
            )
        deadline = time.monotonic() + 2 * self._timeout
        request = Request(uri, headers={"Accept": "*/*"})  # noqa: S310  (http: and https: only)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                content = _bounded(response, name, deadline)
        except ArtifactSourceError as error:
            at_place = str(error).startswith(name)
            raise ArtifactSourceError(str(error) if at_place else f"{name}: {error}") from error
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
        try:
            refuse_secrets(content, uri)
        except OSError as error:
            raise ArtifactSourceError(f"{name}: cannot be shown to jurors: {read_failure(error)}") from error
        return content

    def _read_file(self, path: Path, name: str) -> bytes:
        try:
            # The checked path is opened: a link created in the meantime is not followed.
            real = Path(realpath(path))
            if self._roots is not None and not any(real.is_relative_to(root) for root in self._roots):
                raise ArtifactSourceError(
                    f"{name}: is outside the folder of its case file; move it there, or allow its folder with "
                    "--artifact-root (artifact_roots in Python)"
                )
            return read_named(real, MAX_BYTES, follow=False)
        except FileNotFoundError as error:
            raise ArtifactSourceError(
                f"{name}: there is no such file; paths count from the case file's folder"
            ) from error
        except FileTooLarge as error:
            raise ArtifactSourceError(f"{name}: {error.strerror}; split the report") from error
        except (OSError, ValueError) as error:
            raise ArtifactSourceError(f"{name}: cannot be read: {read_failure(error)}") from error


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


def _host(parts: SplitResult, name: str) -> tuple[str, int]:
    try:
        port = parts.port
    except ValueError as error:
        raise ArtifactSourceError(f"{name}: not a valid port") from error
    if not parts.hostname:
        raise ArtifactSourceError(f"{name}: names no host")
    if "@" in parts.netloc:
        raise ArtifactSourceError(f"{name}: a user name or password in the URI is not accepted")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)
