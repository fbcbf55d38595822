"""A jury of servers that each speak another dialect of Chat Completions, and what `doctor` finds out of them."""
# ruff: noqa: E501  (one row is one line)

import pytest

from support.dialect_servers import DIALECT_SERVERS, dialect_answer
from support.json_server import JsonAnswer, JsonRequest, json_server

PANEL = "preset: independent\nsettings: {tries: 1, timeout_seconds: 5}\nproviders: {a: {protocol: openai, base_url: 'URL'}}\nseats: [{model: a/m}]\n"


@pytest.fixture
def panel():
    """Writes a panel of all twelve: a text, with the settings of each provider where they are asked for."""
    with json_server(dialect_answer) as server:

        def written(*, known: bool) -> str:
            lines = ["# twelve servers", "preset: independent", "settings: {tries: 1}", "providers:"]
            for name, one in DIALECT_SERVERS.items():
                words = ", ".join(f"{field}: {value}" for field, value in one.dialect.items())
                said = f", dialect: {{{words}}}" if known and words else ""
                lines.append(f"  {name}: {{protocol: openai, base_url: '{server.url}/{name}/v1'{said}}}  # {name}")
            lines += ["seats:", *(f"  - {{model: {name}/m, juror_id: {name}}}" for name in DIALECT_SERVERS), ""]
            return "\n".join(lines)

        yield written


def test_twelve_dialects_judge_one_case_and_the_record_says_what_was_asked_and_taken_off(jury, panel):
    jury.write("panel.yaml", panel(known=True))
    name = jury.write("c.jsonl", {"case_id": "a", "question": "Refund order 17.", "response": "</think> Refunded."})

    ran = jury.run(name, "--panel", "panel.yaml", "--run", "r", "--jsonl")
    shown = jury("show", "r~a", "--full").out

    (line,) = ran.lines
    assert (0, "safe_pass") == (ran.code, line["final_verdict"])
    assert dict.fromkeys(DIALECT_SERVERS, "safe_pass") == line["votes"]
    for one, server in DIALECT_SERVERS.items():
        assert bool(server.stripped) == (f"taken off the answers of {one}/m: " in shown)
        for taken in server.stripped:
            assert f"{taken} (1)" in shown
    assert jury("replay", "r~a").code == 0


@pytest.mark.full
def test_doctor_writes_the_settings_that_each_server_needs(jury, panel):
    jury.write("panel.yaml", panel(known=False))
    found = jury("doctor", "--panel", "panel.yaml", "--probe")
    unchanged = (jury.folder / "panel.yaml").read_text()
    wrote = jury("doctor", "--panel", "panel.yaml", "--probe", "--write")
    again = jury("doctor", "--panel", "panel.yaml", "--probe")

    assert (panel(known=False), panel(known=True)) == (unchanged, (jury.folder / "panel.yaml").read_text())
    assert (4, 0, 0) == (found.code, wrote.code, again.code)
    problems = [line for line in found.out.splitlines() if line.startswith("problem")]
    assert sum(bool(server.dialect) for server in DIALECT_SERVERS.values()) == len(problems)
    assert (
        "problem  providers.objects: its server refuses calls as they are made; write dialect: {structured: json_object} "
        "there, or let --write do it"
    ) in problems
    assert "note     thinks/m: its answer stood in: think; that is taken off and recorded" in found.out
    assert "is not one JSON object" not in again.out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("preset: independent\nproviders:\n  a:\n    protocol: openai\n    base_url: 'URL'\n", "preset: independent\nproviders:\n  a:\n    dialect: {structured: json_object}\n    protocol: openai\n    base_url: 'URL'\n"),
        ("preset: independent\nproviders: {a: {protocol: openai, base_url: 'URL', dialect: vllm}}\n", "preset: independent\nproviders: {a: {protocol: openai, base_url: 'URL', dialect: {profile: vllm, structured: json_object}}}\n"),
        ('{"preset": "independent", "providers": {"a": {"protocol": "openai", "base_url": "URL"}}, "seats": [{"model": "a/m"}]}', '{"preset": "independent", "providers": {"a": {"protocol": "openai", "base_url": "URL", "dialect": {"structured": "json_object"}}}, "seats": [{"model": "a/m"}]}'),
    ],
)  # fmt: skip
def test_a_panel_file_keeps_its_form(jury, before, after):
    name = "panel.json" if before.startswith("{") else "panel.yaml"
    with json_server(dialect_answer) as server:
        seats = "" if before.startswith("{") else "seats: [{model: a/m}]\n"
        (jury.folder / name).write_text(before.replace("URL", f"{server.url}/objects/v1") + seats)

        assert jury("doctor", "--panel", name, "--probe", "--write").code == 0
        assert after.replace("URL", f"{server.url}/objects/v1") + seats == (jury.folder / name).read_text()


def test_what_a_server_of_anthropics_protocol_takes_is_found_too(jury):
    def answer(request: JsonRequest) -> JsonAnswer:
        if "output_config" in request.body:
            return JsonAnswer({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}, 400)
        text = {"type": "text", "text": '{"ready": true}'}
        usage = {"input_tokens": 9, "output_tokens": 9}
        said = {"type": "message", "role": "assistant", "content": [text], "stop_reason": "end_turn", "usage": usage}
        return JsonAnswer({"id": "m", "model": "m", **said})

    with json_server(answer) as server:
        before = f"preset: independent\nproviders:\n  a:\n    protocol: anthropic\n    base_url: '{server.url}'\n"
        seats = "seats: [{model: a/m}]\n"
        jury.write("panel.yaml", before + seats)
        found = jury("doctor", "--panel", "panel.yaml", "--probe", "--write")

        assert 0 == found.code, found.out
        assert "dialect: {structured: words}" in (jury.folder / "panel.yaml").read_text()


def test_what_is_found_is_written_into_a_panel_file_alone(jury):
    assert jury("doctor", "--panel", "current", "--write").code == 2
    outcome = jury("doctor", "--probe", "--write")

    assert (2, "jury: what is found out can be written into a panel file only; name one with --panel\n") == (
        outcome.code,
        outcome.err,
    )


@pytest.mark.parametrize(
    ("environ", "url", "said"),
    [
        ({"ALL_PROXY": "socks5://127.0.0.1:9"}, "URL", "the environment names a SOCKS proxy (ALL_PROXY, HTTPS_PROXY)"),
        ({"SSL_CERT_FILE": "/nope.pem"}, "URL", "look at the variables SSL_CERT_FILE of the environment"),
        ({}, "https://no-such-host.invalid/v1", "connection"),
        ({}, "URL/login", "a web page came instead of an answer; look at the base URL, and whether a proxy or a login"),
    ],
)
def test_a_probe_that_reaches_no_interface_is_a_problem(jury, environ, url, said):
    with json_server(lambda _request: JsonAnswer(b"<!doctype html><title>Log in</title>")) as server:
        jury.write("panel.yaml", PANEL.replace("URL", url.replace("URL", server.url)))
        outcome = jury("doctor", "--panel", "panel.yaml", "--probe", env={"SSL_CERT_DIR": "", **environ})

    assert 4 == outcome.code
    (problem,) = [line for line in outcome.out.splitlines() if line.startswith("problem")]
    assert said in problem
