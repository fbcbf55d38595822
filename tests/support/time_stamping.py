"""A time-stamping authority of OpenSSL's `ts` command, with its own certificate chain."""

import subprocess
from pathlib import Path
from threading import Lock

from support.loopback import Reply

_SETTINGS = """
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.2
digests = sha256, sha512
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""
_OF_AN_ISSUER = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
_OF_A_STAMPER = (
    "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n"
)


class Authority:
    """Stamps every request; `issuer` is the PEM file of the certificate to trust."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._lock = Lock()
        self.issuer = folder / "issuer.pem"
        self.kind = ""
        (folder / "settings").write_text(_SETTINGS.format(folder=folder))
        (folder / "serial").write_text("01\n")
        (folder / "issuer.ext").write_text(_OF_AN_ISSUER)
        (folder / "stamper.ext").write_text(_OF_A_STAMPER)
        for name in ("issuer", "stamper"):
            key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key")
            self._openssl("req", "-new", *key, "-subj", f"/CN={name}", "-out", f"{name}.csr")
        signed = ("x509", "-req", "-days", "3650")
        self._openssl(
            *signed, "-in", "issuer.csr", "-signkey", "issuer.key", "-extfile", "issuer.ext", "-out", "issuer.pem"
        )
        by = ("-CA", "issuer.pem", "-CAkey", "issuer.key", "-CAcreateserial", "-extfile", "stamper.ext")
        self._openssl(*signed, "-in", "stamper.csr", *by, "-out", "stamper.pem")

    def answer(self, _path: str, kind: str, body: bytes) -> Reply:
        """One request."""
        with self._lock:
            self.kind = kind
            (self._folder / "query").write_bytes(body)
            self._openssl(
                *("ts", "-reply", "-config", "settings", "-queryfile", "query"),
                *("-inkey", "stamper.key", "-signer", "stamper.pem", "-out", "reply"),
            )
            return Reply(200, (self._folder / "reply").read_bytes(), "application/timestamp-reply")

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)
