"""Time-stamps: somebody else's word on when a seal was there (RFC 3161).

The form of requests and answers, and the check of signatures and certificates, are the library's (OpenSSL below it).
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


class Query(NamedTuple):
    """A request to a time-stamping authority, and the nonce that its answer must repeat."""

    der: bytes
    nonce: int | None


class Timestamp(NamedTuple):
    """What an answer says: the digest that was stamped, and when."""

    digest: bytes
    at: datetime
    nonce: int | None


def timestamp_query(note: bytes) -> Query:
    """The request for a time-stamp over the SHA-256 of a note, certificate included."""
    request = TimestampRequestBuilder().data(note).hash_algorithm(HashAlgorithm.SHA256).build()
    return Query(request.as_bytes(), request.nonce)


def read_timestamp(answer: bytes) -> Timestamp:
    """What an answer says, whoever signed it: see `timestamp_fault`.

    Raises:
        BadTimestamp: it is no answer (TimeStampResp, DER), or one that refuses, or is over no SHA-256.
    """
    try:
        response = decode_timestamp_response(answer)
        if response.status not in _GRANTED:
            said = ", ".join(response.status_string)
            raise BadTimestamp(f"the authority refused it (status {response.status}){': ' + said if said else ''}")
        found = response.tst_info
        algorithm = found.message_imprint.hash_algorithm.dotted_string
        stamp = Timestamp(found.message_imprint.message, found.gen_time.astimezone(UTC), found.nonce)
    except (ValueError, TypeError) as error:
        raise BadTimestamp(f"this is no time-stamp (RFC 3161): {str(error)[:200]}") from None
    if algorithm != _SHA256:
        raise BadTimestamp("this time-stamp is over no SHA-256")
    return stamp


def timestamp_fault(answer: bytes, note: bytes, authorities: Sequence[x509.Certificate] = ()) -> str | None:
    """Why a time-stamp is not one over a note, for somebody who trusts these certificates; None: it is.

    Without certificates only that it names this note is checked. They need to be valid at the time of the stamp, not
    today.
    """
    try:
        stamp = read_timestamp(answer)
    except BadTimestamp as error:
        return str(error)
    if stamp.digest != sha256(note).digest():
        return "it is over something else"
    if not authorities:
        return None
    try:
        VerifierBuilder(roots=list(authorities)).build().verify_message(decode_timestamp_response(answer), note)
    except (VerificationError, ValueError):
        return "it is signed by no authority whose certificate was given"
    return None


def read_certificates(path: Path) -> tuple[x509.Certificate, ...]:
    """The certificates of a PEM file.

    Raises:
        SealKeyFileError: it cannot be read, or holds none.
    """
    try:
        return tuple(x509.load_pem_x509_certificates(read_regular(path, _MAX_FILE)))
    except OSError as error:
        raise SealKeyFileError(f"{path} cannot be read: {read_failure(error)}; check the path and its rights") from None
    except ValueError:
        raise SealKeyFileError(f"{path} holds no certificate in PEM form") from None
