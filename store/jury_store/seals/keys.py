"""Ed25519 keys of seals.

Formats as in Go's `golang.org/x/mod/sumdb/note`: a public key is `NAME+ID+BASE64(0x01 ‖ key)`, a private one
`PRIVATE+KEY+NAME+ID+BASE64(0x01 ‖ seed)`, where ID is the first four bytes of SHA-256(name ‖ LF ‖ 0x01 ‖ public key)
in hexadecimal (C2SP signed-note, section "Signatures").

Under a point of small order one signature is valid for many messages, or for all, and can be made without a secret
(RFC 8032, section 8.9 leaves the check to the application). A non-canonical encoding would give one key a second id.
"""

import os
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Self, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from jury_events.regular_files import FileTooLarge, read_failure, read_regular
from jury_store.errors import BadSealKey, SealKeyFileError

_P: Final = 2**255 - 19
_ORDER_EIGHT: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL: Final = frozenset({0, 1, _P - 1, _ORDER_EIGHT, _P - _ORDER_EIGHT})
"""The y coordinates of the points of order 4, 1, 2 and 8; of each there is one with either sign of x."""


def point_fault(raw: bytes) -> str | None:
    """Why these 32 bytes are refused as a public key; None: no fault was found."""
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y % _P in _SMALL:
        return "it is a point of small order, under which anyone can sign"
    if y >= _P:
        return "the encoding of its point is not canonical"
    return None


KEY_BYTES = 32
_ED25519 = b"\x01"
_PRIVATE: Final = "PRIVATE+KEY+"
_MAX_NAME = 200
_MAX_FILE = 64 * 1024


class SignatureLine(NamedTuple):
    """One signature line of a note: the claimed key's name and id, and the signature."""

    name: str
    key_id: bytes
    signature: bytes


class VerifyingKey:
    """An Ed25519 public key of signed notes (C2SP signed-note), identified by `name` and `key_id` (4 bytes)."""

    kind: ClassVar[bytes]
    """The signature type: one byte before the key."""

    def __init__(self, name: str, raw: bytes) -> None:
        check_name(name)
        if (fault := point_fault(raw)) is not None:
            raise BadSealKey(f"the key {name} is refused: {fault}")
        self.name = name
        self.key_id = sha256(name.encode() + b"\n" + self.kind + raw).digest()[:4]
        self.raw = raw
        self._key = Ed25519PublicKey.from_public_bytes(raw)

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key of a line NAME+ID+KEY."""
        return cls._of(*key_fields(line, cls.kind))

    @classmethod
    def _of(cls, name: str, key_id: bytes, raw: bytes) -> Self:
        key = cls(name, raw)
        if key.key_id != key_id:
            raise BadSealKey(f"the id in the key {name} does not match the key: a character was changed")
        return key

    @property
    def line(self) -> str:
        """The key as a line of text, without LF."""
        return f"{self.name}+{self.key_id.hex()}+{b64encode(self.kind + self.raw).decode()}"

    def claims(self, signature: SignatureLine) -> bool:
        """Whether a signature line carries this key's name and id; does not verify it."""
        return (signature.name, signature.key_id) == (self.name, self.key_id)

    def verifies(self, text: bytes, signature: bytes) -> bool:
        """Whether `signature` is a valid signature of this key over `text`."""
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
    """Verifies the signatures of seals."""

    kind = _ED25519

    @classmethod
    def parse(cls, line: str) -> Self:
        if line.startswith(_PRIVATE):
            raise BadSealKey("this is a private key; the public key is needed here (the file that ends in .pub)")
        return super().parse(line)


class SealKey:
    """The private key that signs the seals of a log. Its repr contains no secret."""

    def __init__(self, name: str, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(name, self._key.public_key().public_bytes_raw())

    @classmethod
    def generate(cls, name: str) -> "SealKey":
        """A new key, from the system's entropy."""
        return cls(name, os.urandom(KEY_BYTES))

    @classmethod
    def parse(cls, line: str) -> "SealKey":
        """The key of a private key line."""
        if not line.startswith(_PRIVATE):
            raise BadSealKey(
                f"this is not a private key: those begin with {_PRIVATE}; make one with: jury seal keygen FILE"
            )
        name, key_id, seed = key_fields(line.removeprefix(_PRIVATE))
        key = cls(name, seed)
        if key.public.key_id != key_id:
            raise BadSealKey(f"the id in the private key {name} does not match the key: a character was changed")
        return key

    @property
    def secret_line(self) -> str:
        """The private key as a line of text, without LF."""
        seed = self._key.private_bytes_raw()
        return f"{_PRIVATE}{self.public.name}+{self.public.key_id.hex()}+{b64encode(_ED25519 + seed).decode()}"

    def sign(self, text: bytes) -> bytes:
        """The signature over `text`, 64 bytes (RFC 8032)."""
        return self._key.sign(text)

    def __repr__(self) -> str:
        return f"SealKey({self.public.name})"


_Key = TypeVar("_Key", bound=VerifyingKey)


def make_key_files(path: Path, name: str) -> SealKey:
    """Write a new private key to `path` (mode 0600) and its public key to `path` + `.pub`."""
    key = SealKey.generate(name)
    public, last = public_path(path), last_signed_path(path)
    if last.exists():
        raise SealKeyFileError(f"{last} exists already, and records what another key signed; name another file")
    _write_new(path, key.secret_line, 0o600)
    try:
        _write_new(public, key.public.line, 0o644)
    except SealKeyFileError:
        path.unlink()
        raise
    return key


def public_path(path: Path) -> Path:
    """The file of the public key to the private key in `path`."""
    return path.with_name(path.name + ".pub")


def last_signed_path(path: Path) -> Path:
    """The file with the last note signed by the key in `path`; see `LastSigned`."""
    return path.with_name(path.name + ".last")


def read_seal_key(path: Path) -> SealKey:
    """The private key of a file."""
    lines = _key_lines(path)
    if len(lines) != 1:
        raise BadSealKey(f"{path}: a private key is one line, this file has {len(lines)}")
    try:
        return SealKey.parse(lines[0])
    except BadSealKey as error:
        raise BadSealKey(f"{path}: {error}") from None


def read_public_keys(path: Path) -> tuple[PublicKey, ...]:
    """The public keys of a file, one a line: after a rotation the old one and the new one."""
    return read_keys(path, PublicKey)


def read_keys(path: Path, key_type: type[_Key]) -> tuple[_Key, ...]:
    """The keys of a file, one a line."""
    keys: list[_Key] = []
    for number, line in enumerate(_key_lines(path), 1):
        try:
            keys.append(key_type.parse(line))
        except BadSealKey as error:
            raise BadSealKey(f"{path}, key {number}: {error}") from None
    if not keys:
        raise BadSealKey(f"{path} contains no key")
    return tuple(keys)


def is_key_name(name: str) -> bool:
    """Whether a name is valid for a key, and so for a log's origin: no spaces, no plus, no invisible characters."""
    return 0 < len(name) <= _MAX_NAME and "+" not in name and not any(c.isspace() or not c.isprintable() for c in name)


def check_name(name: str) -> None:
    """Check the name of a key."""
    if not is_key_name(name):
        raise BadSealKey(
            f"{name[:40]!r} cannot name a key: a name has 1 to {_MAX_NAME} visible characters, no space and no plus, "
            "such as example.com/jury"
        )


def key_fields(line: str, kind: bytes = _ED25519) -> tuple[str, bytes, bytes]:
    """Name, id and the 32 bytes of a key line of the signature type `kind` (C2SP signed-note)."""
    pieces = line.split("+", 2)
    if len(pieces) != 3:  # noqa: PLR2004  (name, id, key)
        raise BadSealKey("this is not a key: a key is one line NAME+ID+KEY")
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
    raise BadSealKey("this is not an Ed25519 key: it is damaged, truncated, or of another type")


def _key_lines(path: Path) -> list[str]:
    """The lines of a key file, without empty ones."""
    try:
        text = read_regular(path, _MAX_FILE).decode()
    except FileTooLarge as error:
        raise BadSealKey(f"{path} is not a key file: it is {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSealKey(f"{path} is not a key file: it is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise SealKeyFileError(
            f"{path} cannot be read: {read_failure(error)}; check the path and its permissions"
        ) from None
    return [line.strip() for line in text.split("\n") if line.strip()]


def _write_new(path: Path, line: str, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise SealKeyFileError(f"{path} exists already, and a key is never overwritten; name another file") from None
    except OSError as error:
        raise SealKeyFileError(f"{path} cannot be written: {error.strerror}; name another file") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink()
        raise SealKeyFileError(f"{path} cannot be written: {error.strerror}; the file was removed") from None
