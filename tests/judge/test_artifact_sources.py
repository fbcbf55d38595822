"""Records behind a URI are read from files and allowed hosts, bounded, and from nowhere else."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from jury_cases import ArtifactSourceError, ArtifactSources, artifact_sources, parse_hosts
from jury_events import SettingError
from support.debate_harness import a_case
from support.tls import server_context

LINES = b'{"verdict": "fail"}\n{"verdict": "Pass "}\n'


class _Reports(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_address[1]}/gate.jsonl")
            self.end_headers()
        elif self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/gate.jsonl")
            self.end_headers()
        elif self.path == "/slow":
            self.server.release.wait(300)  # type: ignore[attr-defined]
        elif self.path.startswith("/gate.jsonl"):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(LINES)
        else:
            self.send_error(404)

    def log_message(self, *arguments: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Reports)
        self.asked: list[str] = []
        self.release = threading.Event()


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.release.set()
        running.shutdown()
        thread.join()


def address(server: _Server) -> str:
    return f"127.0.0.1:{server.server_address[1]}"


def verdicts(sources: ArtifactSources, uri: str) -> list[str]:
    return [record.verdict for record in sources.records(uri)]


def refusal(sources: ArtifactSources, uri: str) -> str:
    with pytest.raises(ArtifactSourceError) as caught:
        sources.records(uri)
    return str(caught.value)


@pytest.mark.parametrize("form", ["gate.jsonl", "./gate.jsonl", "{base}/gate.jsonl", "file://{base}/gate.jsonl"])
def test_a_path_or_file_uri_is_read(tmp_path, form):
    (tmp_path / "gate.jsonl").write_bytes(LINES)

    found = verdicts(ArtifactSources(tmp_path), form.format(base=tmp_path))

    assert found == ["fail", "pass"]


def test_a_json_list_is_read(tmp_path):
    (tmp_path / "gate.json").write_text('[{"verdict": "error"}]')

    assert verdicts(ArtifactSources(tmp_path), "gate.json") == ["error"]


def test_an_empty_report_has_no_records(tmp_path):
    (tmp_path / "gate.jsonl").touch()

    assert verdicts(ArtifactSources(tmp_path), "gate.jsonl") == []


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("nowhere.jsonl", "nowhere.jsonl: there is no such file; paths count from the case file's folder"),
        (".", ".: cannot be read: Is a directory"),
        ("a\0b", "a␀b: cannot be read: not a path"),
        ("file://host/x", "file://host/x: a file: URI names no host"),
        ("s3://bucket/x", "s3://bucket/x: only a path, file:, http: and https: can be read"),
        ("http://h.example/x", "http://h.example/x: the host h.example is not allowed; name it in JURY_ARTIFACT_HOSTS"),
        ("http://u:pw@h.example/x?k=1", "http://h.example/x: a user name or password in the URI is not accepted"),
        ("http:///x", "http:///x: names no host"),
        ("http://h.example:x/", "http://h.example:x/: not a valid port"),
        ("http://[h/", "http://[h/: not a URI or path"),
    ],
)
def test_an_unreadable_source_is_named_with_the_remedy(tmp_path, uri, says):
    message = refusal(ArtifactSources(tmp_path), uri)

    assert message.startswith(says)


def test_a_fault_names_the_line_of_the_report(tmp_path):
    (tmp_path / "gate.jsonl").write_bytes(LINES + b'"text"\n')

    message = refusal(ArtifactSources(tmp_path), "gate.jsonl")

    assert message.startswith("gate.jsonl:3:")


def test_a_report_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(artifact_sources, "MAX_BYTES", 10)
    (tmp_path / "gate.jsonl").write_bytes(LINES)

    assert "larger than" in refusal(ArtifactSources(tmp_path), "gate.jsonl")


def test_an_allowed_host_is_called_once(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts(f"other.example, {address(server)}"))
    uri = f"http://{address(server)}/gate.jsonl"

    found = [verdicts(sources, uri), verdicts(sources, uri)]

    assert found == [["fail", "pass"]] * 2
    assert server.asked == ["/gate.jsonl"]


def test_a_report_is_read_over_https_where_the_certificate_is_trusted(tmp_path, server, monkeypatch):
    tls, certificate = server_context(tmp_path, "reports.example")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    uri = f"https://reports.example:{server.server_address[1]}/gate.jsonl"
    hosts = parse_hosts("reports.example=127.0.0.0/8")
    sources = ArtifactSources(tmp_path, hosts, resolve=lambda _host, _port: ["127.0.0.1"])

    refused = refusal(sources, uri)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)

    assert "the server cannot be reached" in refused
    assert ["fail", "pass"] == verdicts(sources, uri)


def test_a_download_that_is_too_large_is_refused(tmp_path, server, monkeypatch):
    monkeypatch.setattr(artifact_sources, "MAX_BYTES", 10)
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"))

    assert "larger than" in refusal(sources, f"http://{address(server)}/gate.jsonl")


def test_a_host_that_is_not_allowed_is_not_called(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1:1"))

    assert "is not allowed" in refusal(sources, f"http://{address(server)}/gate.jsonl")
    assert server.asked == []


def test_a_redirect_within_the_host_is_followed(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"))

    assert verdicts(sources, f"http://{address(server)}/moved") == ["fail", "pass"]


def test_a_redirect_to_another_host_is_not_followed(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1,localhost"))

    message = refusal(sources, f"http://{address(server)}/elsewhere?token=secret")

    assert "redirects to another host" in message
    assert "secret" not in message


def test_a_silent_server_times_out(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"), timeout=0.2)

    assert "no answer within 0.2 seconds" in refusal(sources, f"http://{address(server)}/slow")


def test_an_error_status_is_reported(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"))

    assert "the server answered 404" in refusal(sources, f"http://{address(server)}/none")


def test_records_that_look_like_chat_messages_are_records(tmp_path):
    record = '{"role": "attacker", "content": "Pay me", "verdict": "fail"}'
    (tmp_path / "gate.json").write_text(f"[{record}, {record}]")

    records = ArtifactSources(tmp_path).records("gate.json")

    assert ["fail", "fail"] == [one.verdict for one in records]


# Where files may lie


@pytest.fixture
def folders(tmp_path):
    """A case file's folder, and another one, each with a report."""
    for name in ("cases", "others"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gate.jsonl").write_bytes(LINES)
    return tmp_path / "cases", tmp_path / "others"


@pytest.mark.parametrize(
    "uri", ["gate.jsonl", "../cases/gate.jsonl", "{cases}/gate.jsonl", "file://{cases}/gate.jsonl"]
)
def test_a_file_in_the_folder_is_read(folders, uri):
    cases, _ = folders

    assert ["fail", "pass"] == verdicts(ArtifactSources(cases, roots=[cases]), uri.format(cases=cases))


@pytest.mark.parametrize(
    "uri",
    [
        "../others/gate.jsonl",
        "{others}/gate.jsonl",
        "file://{others}/gate.jsonl",
        "file://{cases}/%2e%2e/others/gate.jsonl",
        "../others/none.jsonl",
        "link.jsonl",
        "linked/gate.jsonl",
        "../cases-of-others/gate.jsonl",
        "/proc/self/environ",
        "/etc/passwd",
    ],
)
def test_a_file_outside_the_folder_is_refused_whatever_the_path(folders, uri):
    cases, others = folders
    (cases / "link.jsonl").symlink_to(others / "gate.jsonl")
    (cases / "linked").symlink_to(others)
    (cases.parent / "cases-of-others").mkdir()

    message = refusal(ArtifactSources(cases, roots=[cases]), uri.format(cases=cases, others=others))

    assert "is outside the folder of its case file" in message
    assert "--artifact-root" in message


def test_a_file_in_an_allowed_other_folder_is_read(folders):
    cases, others = folders
    (cases / "link.jsonl").symlink_to(others / "gate.jsonl")
    (cases / "root").symlink_to(others)
    sources = ArtifactSources(cases, roots=[cases, cases / "root"])

    assert [["fail", "pass"]] * 2 == [verdicts(sources, uri) for uri in ("link.jsonl", f"{others}/gate.jsonl")]


# Which addresses hosts may have


class _Answers:
    """A resolver that gives one answer after another, and the last for ever."""

    def __init__(self, *answers: str) -> None:
        self.answers = [tuple(answer.split()) for answer in answers]
        self.asked = 0

    def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "93.184.215.14 127.0.0.1",
    ],
)
def test_a_name_with_a_private_address_is_not_called(tmp_path, server, address):
    sources = ArtifactSources(tmp_path, parse_hosts("reports.example"), resolve=_Answers(address))

    message = refusal(sources, f"http://reports.example:{server.server_address[1]}/gate.jsonl?k=secret")

    assert "which is not public" in message
    assert "secret" not in message
    assert [] == server.asked


@pytest.mark.parametrize("network", ["127.0.0.1", "127.0.0.0/8"])
def test_a_name_may_resolve_into_its_allowed_network(tmp_path, server, network):
    sources = ArtifactSources(tmp_path, parse_hosts(f"Reports.example={network}"), resolve=_Answers("127.0.0.1"))

    assert ["fail", "pass"] == verdicts(sources, f"http://reports.example:{server.server_address[1]}/gate.jsonl")


def test_a_name_outside_its_allowed_network_is_not_called(tmp_path, server):
    sources = ArtifactSources(tmp_path, parse_hosts("reports.example=10.0.0.0/8"), resolve=_Answers("127.0.0.1"))

    assert "not public" in refusal(sources, f"http://reports.example:{server.server_address[1]}/gate.jsonl")
    assert [] == server.asked


def test_the_connection_goes_to_the_checked_address(tmp_path, server):
    answers = _Answers("127.0.0.1", "10.0.0.1")
    sources = ArtifactSources(tmp_path, parse_hosts("reports.example=127.0.0.0/8"), resolve=answers)

    assert ["fail", "pass"] == verdicts(sources, f"http://reports.example:{server.server_address[1]}/gate.jsonl")
    assert 1 == answers.asked


def test_a_name_that_resolves_elsewhere_after_a_redirect_is_not_followed(tmp_path, server):
    answers = _Answers("127.0.0.1", "10.0.0.1")
    sources = ArtifactSources(tmp_path, parse_hosts("reports.example=127.0.0.0/8"), resolve=answers)

    assert "10.0.0.1" in refusal(sources, f"http://reports.example:{server.server_address[1]}/moved")
    assert ["/moved"] == server.asked


def test_the_next_address_is_tried_if_the_first_does_not_answer(tmp_path, server):
    sources = ArtifactSources(
        tmp_path, parse_hosts("reports.example=127.0.0.0/8"), resolve=_Answers("127.9.9.9 127.0.0.1")
    )

    assert ["fail", "pass"] == verdicts(sources, f"http://reports.example:{server.server_address[1]}/gate.jsonl")


def test_a_proxy_of_the_environment_is_not_used(tmp_path, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    sources = ArtifactSources(tmp_path, parse_hosts("127.0.0.1"))

    assert ["fail", "pass"] == verdicts(sources, f"http://{address(server)}/gate.jsonl")


@pytest.mark.parametrize("given", ["a/b", "a=b", "a=10.0.0.0/99", "http://a", "a:b", "u@h", "=10.0.0.0/8"])
def test_an_invalid_host_is_refused_by_name(given):
    with pytest.raises(SettingError, match=r"JURY_ARTIFACT_HOSTS: .* is not a host; write HOST"):
        parse_hosts(f"good.example, {given}")


@pytest.mark.parametrize("given", ["::1", "[::1]", "[::1]:8080"])
def test_an_address_of_the_sixth_version_may_be_written_with_brackets(tmp_path, given):
    sources = ArtifactSources(tmp_path, parse_hosts(given), resolve=_Answers("::2"))

    assert "the address ::2, which is not public" in refusal(sources, "http://[::1]:8080/x")


@pytest.mark.parametrize("uri", ["pipe", "file:pipe", "link"])
@pytest.mark.parametrize("roots", [None, []])
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path, uri, roots):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    sources = ArtifactSources(tmp_path, roots=None if roots is None else [tmp_path])

    with pytest.raises(ArtifactSourceError, match=f"{uri}: cannot be read: not a regular file"):
        sources.records(uri)


@pytest.mark.parametrize("kind", ["security_gate", "agent_card"])
@pytest.mark.parametrize("uri", ["", "  "])
def test_an_empty_uri_is_named_by_its_field(tmp_path, kind, uri):
    case = a_case(**{f"{kind}_uri": uri})

    with pytest.raises(
        ArtifactSourceError, match=f"^{kind}_uri: is empty; name a file or an allowed address, or leave"
    ):
        ArtifactSources(tmp_path).resolved(case)
