"""Time-stamps of seals by a time-stamping authority (RFC 3161).

Encoding and the verification of signatures and certificates are done by rfc3161-client (OpenSSL).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder, VerifierBuilder, decode_timestamp_response
from rfc3161_client.errors import VerificationError

from jury_events.regular_files import read_failure, read_regular
from jury_store.errors import BadTimestamp, SealKeyFileError

_SHA256 = "2.16.840.1.101.3.4.2.1"
_GRANTED = (0, 1)
_MAX_FILE = 1024 * 1024


class TimestampQuery(NamedTuple):
    """A request to a time-stamping authority, and the nonce that the response must repeat."""

    der: bytes
    nonce: int | None


class Timestamp(NamedTuple):
    """A decoded response: the digest, and the time of the stamp."""

    digest: bytes
    at: datetime
    nonce: int | None


def timestamp_query(note: bytes) -> TimestampQuery:
    """The request for a time-stamp over the SHA-256 of a note, certificate included."""
    request = TimestampRequestBuilder().data(note).hash_algorithm(HashAlgorithm.SHA256).build()
    return TimestampQuery(request.as_bytes(), request.nonce)


def read_timestamp(answer: bytes) -> Timestamp:
    """Decode a response without verifying its signature: see `timestamp_fault`."""
    try:
        response = decode_timestamp_response(answer)
        if response.status not in _GRANTED:
            reason = ", ".join(response.status_string)
            raise BadTimestamp(f"the authority refused it (status {response.status}){': ' + reason if reason else ''}")
        found = response.tst_info
        algorithm = found.message_imprint.hash_algorithm.dotted_string
        stamp = Timestamp(found.message_imprint.message, found.gen_time.astimezone(UTC), found.nonce)
    except (ValueError, TypeError) as error:
        raise BadTimestamp(f"this is not a time-stamp (RFC 3161): {str(error)[:200]}") from None
    if algorithm != _SHA256:
        raise BadTimestamp("this time-stamp is not over SHA-256")
    return stamp


def timestamp_fault(answer: bytes, note: bytes, authorities: Sequence[x509.Certificate] = ()) -> str | None:
    """The fault of a time-stamp over a note under trusted certificates; None: it is valid.

    Without certificates only the digest is checked. They must be valid at the time of the stamp, not today.
    """
    try:
        stamp = read_timestamp(answer)
    except BadTimestamp as error:
        return str(error)
    if stamp.digest != sha256(note).digest():
        return "it is over another digest"
    if not authorities:
        return None
    try:
        VerifierBuilder(roots=list(authorities)).build().verify_message(decode_timestamp_response(answer), note)
    except (VerificationError, ValueError):
        return "it is signed by no authority whose certificate was given"
    return None


def read_certificates(path: Path) -> tuple[x509.Certificate, ...]:
    """The certificates of a PEM file."""
    try:
        return tuple(x509.load_pem_x509_certificates(read_regular(path, _MAX_FILE)))
    except OSError as error:
        raise SealKeyFileError(
            f"{path} cannot be read: {read_failure(error)}; check the path and its permissions"
        ) from None
    except ValueError:
        raise SealKeyFileError(f"{path} contains no certificate in PEM format") from None
