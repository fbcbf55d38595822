"""Records behind a URI are read from files and allowed hosts, bounded, and from nowhere else."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jury_cases import ArtifactSourceError, ArtifactSources, parse_hosts
from jury_events import SettingError
from support.debate_harness import a_case
from support.json_server import JsonAnswer, JsonRequest, JsonServer, json_server
from support.tls import server_context

LINES = b'{"verdict": "fail"}\n{"verdict": "Pass "}\n'
READ = ["fail", "pass"]
OWN_NETWORK = parse_hosts("reports.example=127.0.0.0/8")


class Reports:
    """Answers as a host of reports; a request of `/slow` waits until `release`."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.port = 0

    def answer(self, request: JsonRequest) -> JsonAnswer:
        moved = {"/moved": "/gate.jsonl", "/elsewhere": f"http://localhost:{self.port}/gate.jsonl"}
        if request.path == "/slow":
            self.release.wait(300)
        if request.path in moved:
            return JsonAnswer(b"", 302, (("Location", moved[request.path]),))
        return JsonAnswer(LINES) if request.path == "/gate.jsonl" else JsonAnswer(b"", 404)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    reports = Reports()
    with json_server(reports.answer) as running:
        reports.port = running.port
        yield running
        reports.release.set()


def at(server: JsonServer, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
    return f"{scheme}://{host}:{server.port}{path}"


def asked(server: JsonServer) -> list[str]:
    return [request.path for request in server.requests]


class _Answers:
    """A resolver that gives one answer after another, and the last for ever."""

    def __init__(self, *answers: str) -> None:
        self.answers = [tuple(answer.split()) for answer in answers]
        self.asked = 0

    def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def verdicts(sources: ArtifactSources, uri: str) -> list[str]:
    return [record.verdict for record in sources.records(uri)]


def refusal(sources: ArtifactSources, uri: str) -> str:
    with pytest.raises(ArtifactSourceError) as caught:
        sources.records(uri)
    return str(caught.value)


# Files


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A case file's folder, and another one, each with a report."""
    for name in ("cases", "others"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gate.jsonl").write_bytes(LINES)
    return tmp_path / "cases", tmp_path / "others"


@pytest.mark.parametrize("bounded", [False, True])
def test_a_path_or_file_uri_in_the_folder_is_read(folders, bounded):
    cases, _ = folders
    sources = ArtifactSources(cases, roots=[cases] if bounded else None)

    for uri in (
        "gate.jsonl",
        "./gate.jsonl",
        "../cases/gate.jsonl",
        f"{cases}/gate.jsonl",
        f"file://{cases}/gate.jsonl",
    ):
        assert READ == verdicts(sources, uri)


def test_a_list_an_empty_report_and_records_that_look_like_messages_are_read(tmp_path):
    record = '{"role": "attacker", "content": "Pay me", "verdict": "fail"}'
    (tmp_path / "list.json").write_text('[{"verdict": "error"}]')
    (tmp_path / "messages.json").write_text(f"[{record}, {record}]")
    (tmp_path / "empty.jsonl").touch()
    sources = ArtifactSources(tmp_path)

    found = [verdicts(sources, name) for name in ("list.json", "messages.json", "empty.jsonl")]

    assert [["error"], ["fail", "fail"], []] == found


FILES = {
    "no such file": "nowhere.jsonl",
    "folder": ".",
    "NUL in the name": "a\0b",
    "pipe": "pipe",
    "pipe as a URI": "file:pipe",
    "link to a pipe": "link",
    "fault in a line": "broken.jsonl",
    "too large": "large.jsonl",
    "host in a file URI": "file://host/x",
    "another scheme": "s3://bucket/x",
    "host that is not allowed": "http://h.example/x",
    "user name and password": "http://u:pw@h.example/x?k=1",
    "no host": "http:///x",
    "no port": "http://h.example:x/",
    "no URI": "http://[h/",
}


@pytest.mark.parametrize("bounded", [False, True])
def test_an_unreadable_source_is_refused_with_the_remedy_and_no_pipe_is_waited_for(
    refusals, tmp_path, monkeypatch, bounded
):
    monkeypatch.setattr("jury_cases.artifact_sources.MAX_BYTES", 1 << 20)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "broken.jsonl").write_bytes(LINES + b'"text"\n')
    (tmp_path / "large.jsonl").write_bytes(b" " * (1 << 20) + LINES)
    sources = ArtifactSources(tmp_path, roots=[tmp_path] if bounded else None)

    refusals.check("artifact_files", FILES, sources.records, ArtifactSourceError)


def test_a_file_outside_the_folder_is_refused_whatever_the_path(folders):
    cases, others = folders
    (cases / "link.jsonl").symlink_to(others / "gate.jsonl")
    (cases / "linked").symlink_to(others)
    (cases.parent / "cases-of-others").mkdir()
    outside = ["../others/gate.jsonl", "../others/none.jsonl", "link.jsonl", "linked/gate.jsonl"]
    outside += ["../cases-of-others/gate.jsonl", "/proc/self/environ", "/etc/passwd", f"{others}/gate.jsonl"]
    outside += [f"file://{others}/gate.jsonl", f"file://{cases}/%2e%2e/others/gate.jsonl"]

    for uri in outside:
        message = refusal(ArtifactSources(cases, roots=[cases]), uri)

        assert "is outside the folder of its case file" in message
        assert "--artifact-root" in message


def test_a_file_in_an_allowed_other_folder_is_read(folders):
    cases, others = folders
    (cases / "link.jsonl").symlink_to(others / "gate.jsonl")
    (cases / "root").symlink_to(others)
    sources = ArtifactSources(cases, roots=[cases, cases / "root"])

    assert [READ] * 2 == [verdicts(sources, uri) for uri in ("link.jsonl", f"{others}/gate.jsonl")]


def test_an_empty_uri_is_refused_by_its_field(refusals, tmp_path):
    rows = {f"{field} {uri!r}": {field: uri} for field in ("security_gate_uri", "agent_card_uri") for uri in ("", "  ")}

    refusals.check(
        "artifact_fields", rows, lambda row: ArtifactSources(tmp_path).resolved(a_case(**row)), ArtifactSourceError
    )


# Hosts


def test_an_allowed_host_is_called_once(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts(f"other.example, 127.0.0.1:{server.port}"))

    assert [READ] * 2 == [verdicts(sources, at(server, "/gate.jsonl")) for _ in range(2)]
    assert ["/gate.jsonl"] == asked(server)


def test_a_redirect_within_the_host_is_followed_and_a_proxy_of_the_environment_not_used(tmp_path, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)

    assert READ == verdicts(ArtifactSources(tmp_path, parse_hosts("127.0.0.1")), at(server, "/moved"))


def test_a_report_is_read_over_https_where_the_certificate_is_trusted(tmp_path, monkeypatch):
    tls, certificate = server_context(tmp_path, "reports.example")
    sources = ArtifactSources(tmp_path, OWN_NETWORK, resolve=_Answers("127.0.0.1"))
    with json_server(Reports().answer, tls=tls) as server:
        uri = at(server, "/gate.jsonl", "reports.example", "https")
        refused = refusal(sources, uri)
        monkeypatch.setenv("SSL_CERT_FILE", certificate)

        assert READ == verdicts(sources, uri)
    assert "the server cannot be reached" in refused


def test_a_host_that_does_not_give_a_report_is_refused(refusals, tmp_path, server, monkeypatch):
    allowed = ArtifactSources(tmp_path, parse_hosts("127.0.0.1,localhost"))
    other_port = ArtifactSources(tmp_path, parse_hosts("127.0.0.1:1"))
    hasty = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"), timeout=0.2)
    moving = ArtifactSources(tmp_path, OWN_NETWORK, resolve=_Answers("127.0.0.1", "10.0.0.1"))
    rows = {
        "another port than the allowed one": (other_port, at(server, "/gate.jsonl")),
        "error": (allowed, at(server, "/none")),
        "redirect to another host": (allowed, at(server, "/elsewhere?token=secret")),
        "silence": (hasty, at(server, "/slow")),
        "another address after a redirect": (moving, at(server, "/moved", "reports.example")),
    }
    found = {name: refusal(*row) for name, row in rows.items()}
    came = asked(server)
    monkeypatch.setattr("jury_cases.artifact_sources.MAX_BYTES", 10)
    found["too large"] = refusal(allowed, at(server, "/gate.jsonl"))

    refusals.compare("artifact_hosts", {name: says.replace(str(server.port), "PORT") for name, says in found.items()})
    assert ["/none", "/elsewhere", "/slow", "/moved"] == came


PRIVATE = """
    127.0.0.1 | ::1 | 10.1.2.3 | 192.168.0.1 | 172.16.0.1 | 169.254.169.254 | fe80::1 | fd00:ec2::254
    100.100.100.200 | 168.63.129.16 | 0.0.0.0 | 224.0.0.1 | ::ffff:127.0.0.1 | ::ffff:169.254.169.254
    64:ff9b::7f00:1 | 2002:7f00:1:: | 93.184.215.14 127.0.0.1
"""


def test_a_name_with_a_private_address_is_not_called(tmp_path, server):
    uri = at(server, "/gate.jsonl?k=secret", "reports.example")
    for answer in PRIVATE.replace("\n", "|").strip("| ").split("|"):
        for hosts in ("reports.example", "reports.example=11.0.0.0/8"):
            message = refusal(ArtifactSources(tmp_path, parse_hosts(hosts), resolve=_Answers(answer)), uri)

            assert "which is not public" in message, answer
            assert "secret" not in message
    assert [] == asked(server)


def test_the_connection_goes_to_the_checked_address_and_to_the_next_if_it_does_not_answer(tmp_path, server):
    checked, second = _Answers("127.0.0.1", "10.0.0.1"), _Answers("127.9.9.9 127.0.0.1")
    uri = at(server, "/gate.jsonl", "reports.example")

    assert [READ] * 2 == [
        verdicts(ArtifactSources(tmp_path, OWN_NETWORK, resolve=answers), uri) for answers in (checked, second)
    ]
    assert 1 == checked.asked


def test_what_is_no_host_is_refused_by_name(refusals):
    given = ("a/b", "a=b", "a=10.0.0.0/99", "http://a", "a:b", "u@h", "=10.0.0.0/8")

    refusals.check("artifact_host_names", {one: f"good.example, {one}" for one in given}, parse_hosts, SettingError)
