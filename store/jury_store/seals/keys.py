"""The keys that seal a log: Ed25519, as lines of text and as files that are kept outside the database.

Forms as in Go's `golang.org/x/mod/sumdb/note`: a public key is `NAME+ID+BASE64(0x01 ‖ key)`, a private one
`PRIVATE+KEY+NAME+ID+BASE64(0x01 ‖ seed)`, where ID is the first four bytes of SHA-256(name ‖ LF ‖ 0x01 ‖ public key)
in hexadecimal (C2SP signed-note, section "Signatures").
"""

import os
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from jury_events.regular_files import FileTooLarge, read_failure, read_regular
from jury_store.errors import BadSealKey, SealKeyFileError
from jury_store.seals.ed25519 import point_fault

KEY_BYTES = 32
_ED25519 = b"\x01"
_PRIVATE: Final = "PRIVATE+KEY+"
_MAX_NAME = 200
_MAX_FILE = 64 * 1024


class VerifyingKey:
    """An Ed25519 key as signed notes name one (C2SP signed-note): by `name` and `key_id` (4 bytes).

    Raises:
        BadSealKey: the name may not be one, or under these 32 bytes everybody could sign.
    """

    kind: ClassVar[bytes]
    """What the key signs: the one byte that stands before it."""

    def __init__(self, name: str, raw: bytes) -> None:
        check_name(name)
        if (fault := point_fault(raw)) is not None:
            raise BadSealKey(f"the key {name} is refused: {fault}")
        self.name = name
        self.key_id = sha256(name.encode() + b"\n" + self.kind + raw).digest()[:4]
        self.raw = raw
        self._key = Ed25519PublicKey.from_public_bytes(raw)

    @classmethod
    def _of(cls, name: str, key_id: bytes, raw: bytes) -> Self:
        key = cls(name, raw)
        if key.key_id != key_id:
            raise BadSealKey(f"the id in the key {name} is not the one of this key: a character of it was changed")
        return key

    @property
    def line(self) -> str:
        """The key as a line of text, without its end."""
        return f"{self.name}+{self.key_id.hex()}+{b64encode(self.kind + self.raw).decode()}"

    def signed(self, text: bytes, signature: bytes) -> bool:
        """Whether `signature` is this key's over `text`."""
        try:
            self._key.verify(signature, text)
        except InvalidSignature:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.line == other.line

    def __hash__(self) -> int:
        return hash(self.line)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.line})"


class PublicKey(VerifyingKey):
    """What a seal is checked with."""

    kind = _ED25519

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key that a line says.

        Raises:
            BadSealKey: it does not say one; the message says why and never repeats the line.
        """
        if line.startswith(_PRIVATE):
            raise BadSealKey(
                "this is a private key; what is needed here is the public one (the file that ends in .pub)"
            )
        return cls._of(*key_fields(line))


class SealKey:
    """What a log is sealed with. Shows nothing of its secret."""

    def __init__(self, name: str, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(name, self._key.public_key().public_bytes_raw())

    @classmethod
    def draw(cls, name: str) -> "SealKey":
        """A new key, from the system's randomness.

        Raises:
            BadSealKey: the name may not be one.
        """
        return cls(name, os.urandom(KEY_BYTES))

    @classmethod
    def parse(cls, line: str) -> "SealKey":
        """The key that a line says.

        Raises:
            BadSealKey: it does not say one; the message says why and never repeats the line.
        """
        if not line.startswith(_PRIVATE):
            raise BadSealKey(
                f"this is no private key: those begin with {_PRIVATE}; make one with: jury seal keygen FILE"
            )
        name, key_id, seed = key_fields(line.removeprefix(_PRIVATE))
        key = cls(name, seed)
        if key.public.key_id != key_id:
            raise BadSealKey(f"the id in the private key {name} is not the one of this key: a character was changed")
        return key

    @property
    def secret_line(self) -> str:
        """The key as a line of text, without its end. Whoever reads it can seal in this key's name."""
        seed = self._key.private_bytes_raw()
        return f"{_PRIVATE}{self.public.name}+{self.public.key_id.hex()}+{b64encode(_ED25519 + seed).decode()}"

    def sign(self, text: bytes) -> bytes:
        """The 64 bytes of a signature over `text` (RFC 8032)."""
        return self._key.sign(text)

    def __repr__(self) -> str:
        return f"SealKey({self.public.name})"


def make_key_files(path: Path, name: str) -> SealKey:
    """A new key in `path` (only its owner may read it) and its public half in `path` + `.pub`.

    Raises:
        SealKeyFileError: one of the files is there already, and stays; or it cannot be written.
        BadSealKey: the name may not be one.
    """
    key = SealKey.generate(name)
    public, last = public_path(path), last_signed_path(path)
    if last.exists():
        raise SealKeyFileError(f"{last} is there already, and tells what another key signed; name another file")
    _write_new(path, key.secret_line, 0o600)
    try:
        _write_new(public, key.public.line, 0o644)
    except SealKeyFileError:
        path.unlink()
        raise
    return key


def public_path(path: Path) -> Path:
    """Where the public half of the key in `path` is kept."""
    return path.with_name(path.name + ".pub")


def last_signed_path(path: Path) -> Path:
    """Where it is kept what the key in `path` signed last."""
    return path.with_name(path.name + ".last")


def read_seal_key(path: Path) -> SealKey:
    """The private key of a file.

    Raises:
        SealKeyFileError, BadSealKey: it cannot be read, or holds something else.
    """
    lines = key_lines(path)
    if len(lines) != 1:
        raise BadSealKey(f"{path}: a private key is one line, this file has {len(lines)}")
    try:
        return SealKey.parse(lines[0])
    except BadSealKey as error:
        raise BadSealKey(f"{path}: {error}") from None


def read_public_keys(path: Path) -> tuple[PublicKey, ...]:
    """The public keys of a file, one a line: after a rotation the old one and the new one.

    Raises:
        SealKeyFileError, BadSealKey: it cannot be read, or a line of it is no key.
    """
    keys: list[PublicKey] = []
    for number, line in enumerate(key_lines(path), 1):
        try:
            keys.append(PublicKey.parse(line))
        except BadSealKey as error:
            raise BadSealKey(f"{path}, key {number}: {error}") from None
    if not keys:
        raise BadSealKey(f"{path} holds no key")
    return tuple(keys)


def is_key_name(name: str) -> bool:
    """Whether a key, and so a log's origin, may have this name: no spaces, no plus, nothing that cannot be seen."""
    return 0 < len(name) <= _MAX_NAME and "+" not in name and not any(c.isspace() or not c.isprintable() for c in name)


def check_name(name: str) -> None:
    """See that a key may have this name.

    Raises:
        BadSealKey: it may not.
    """
    if not is_key_name(name):
        raise BadSealKey(
            f"{name[:40]!r} cannot name a key: a name has 1 to {_MAX_NAME} visible characters, no space and no plus, "
            "such as example.com/jury"
        )


def key_fields(line: str, kind: bytes = _ED25519) -> tuple[str, bytes, bytes]:
    """Name, id and the 32 bytes of a key line, of the signature type `kind` (C2SP signed-note).

    Raises:
        BadSealKey: it is no key line, or one of another type.
    """
    pieces = line.split("+", 2)
    if len(pieces) != 3:  # noqa: PLR2004  (name, id, key)
        raise BadSealKey("this is no key: a key is one line NAME+ID+KEY")
    name, key_id, encoded = pieces
    with suppress(ValueError):
        raw = b64decode(encoded, validate=True)
        if (
            b64encode(raw).decode() == encoded
            and len(raw) == 1 + KEY_BYTES
            and raw[:1] == kind
            and bytes.fromhex(key_id).hex() == key_id
        ):
            return name, bytes.fromhex(key_id), raw[1:]
    raise BadSealKey("this is no Ed25519 key: it is damaged, cut off, or of another kind")


def key_lines(path: Path) -> list[str]:
    """The lines of a key file, without empty ones.

    Raises:
        SealKeyFileError, BadSealKey: it cannot be read, or holds something else.
    """
    try:
        text = read_regular(path, _MAX_FILE).decode()
    except FileTooLarge as error:
        raise BadSealKey(f"{path} is no key file: it is {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSealKey(f"{path} is no key file: it is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise SealKeyFileError(f"{path} cannot be read: {read_failure(error)}; check the path and its rights") from None
    return [line.strip() for line in text.split("\n") if line.strip()]


def _write_new(path: Path, line: str, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise SealKeyFileError(f"{path} is there already, and a key is never overwritten; name another file") from None
    except OSError as error:
        raise SealKeyFileError(f"{path} cannot be written: {error.strerror}; name another file") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink()
        raise SealKeyFileError(f"{path} cannot be written: {error.strerror}; nothing of it was kept") from None
