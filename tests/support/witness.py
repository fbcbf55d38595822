"""A witness as C2SP tlog-witness describes it, with its own arithmetic: our code checks none of our proofs here."""

from base64 import b64decode, b64encode
from hashlib import sha256
from threading import Lock

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from support.loopback import Reply
from support.weak_keys import vkey


class Witness:
    """Cosigns checkpoints of the logs that it knows.

    Args:
        name: in its cosignatures.
        seed: of its key.
        logs: public keys of logs, as lines; the origin of a log is the name of its key.
    """

    def __init__(self, name: str, seed: int, *logs: str) -> None:
        self.name = name
        self._key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.vkey = vkey(name, self._key.public_key().public_bytes_raw(), b"\x04")
        self.logs: dict[str, list[bytes]] = {}
        for line in logs:
            origin, _, coded = line.split("+", 2)
            self.logs.setdefault(origin, []).append(b64decode(coded)[1:])
        self.seen: dict[str, tuple[int, bytes]] = {}
        self.now = 1_700_000_000
        self.asked: list[str] = []
        self._lock = Lock()

    def answer(self, path: str, _kind: str, body: bytes) -> Reply:
        """One request; checking and remembering are one step."""
        if path != "/add-checkpoint":
            return Reply(404)
        with self._lock:
            return self._add_checkpoint(body.decode())

    def cosign(self, text: str) -> str:
        """Its signature line over any note's text."""
        self.now += 1
        message = f"cosignature/v1\ntime {self.now}\n{text}".encode()
        signature = self.now.to_bytes(8, "big") + self._key.sign(message)
        return f"\u2014 {self.name} {b64encode(self._key_id() + signature).decode()}\n"

    def _key_id(self) -> bytes:
        raw = self._key.public_key().public_bytes_raw()
        return sha256(self.name.encode() + b"\n\x04" + raw).digest()[:4]

    def _add_checkpoint(self, body: str) -> Reply:
        head, _, note = body.partition("\n\n")
        first, *proof = head.split("\n")
        assert first.startswith("old ")
        assert len(proof) <= 63
        self.asked.append(first)
        old = int(first.removeprefix("old "))
        text, _, signed = note.rpartition("\n\n")
        text += "\n"
        origin, size, root = text.split("\n")[:3]
        if origin not in self.logs:
            return Reply(404)
        if not any(self._signed(origin, text, line) for line in signed.splitlines()):
            return Reply(403)
        if old > int(size):
            return Reply(400)
        seen, seen_root = self.seen.get(origin, (0, b""))
        if old != seen or (old == int(size) and seen and seen_root != b64decode(root)):
            return Reply(409, f"{seen}\n".encode(), "text/x.tlog.size")
        if not _consistent(old, seen_root, int(size), b64decode(root), [b64decode(one) for one in proof]):
            return Reply(422)
        self.seen[origin] = (int(size), b64decode(root))
        return Reply(200, self.cosign(text).encode())

    def _signed(self, origin: str, text: str, line: str) -> bool:
        _, name, coded = line.split(" ")
        if name != origin:
            return False
        signature = b64decode(coded)
        for raw in self.logs[origin]:
            if signature[:4] == sha256(origin.encode() + b"\n\x01" + raw).digest()[:4]:
                try:
                    Ed25519PublicKey.from_public_bytes(raw).verify(signature[4:], text.encode())
                except InvalidSignature:
                    continue
                return True
        return False


def _consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: list[bytes]) -> bool:
    """RFC 9162, section 2.1.4.2."""
    if old == 0:
        return not proof
    if old == new:
        return not proof and old_root == new_root
    if old & (old - 1) == 0:
        proof = [old_root, *proof]
    if not proof:
        return False
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = proof[0]
    for node in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = sha256(b"\1" + node + fr).digest(), sha256(b"\1" + node + sr).digest()
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = sha256(b"\1" + sr + node).digest()
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and (fr, sr) == (old_root, new_root)
