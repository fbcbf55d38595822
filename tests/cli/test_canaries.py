"""No secret of the environment is in what a job writes or sends, though servers say all that they got.

The providers' server repeats the headers of each request, and every canary besides, in its first answers, which are
errors, and in the reasons and ids of its verdicts.
"""

import itertools
import json
import os
import re
import sqlite3
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from jury_events import known_secrets
from jury_judge import DeliveryJournal, ReviewDeliveries, WebhookSender, webhook_secret
from jury_store import open_store
from support.command_line import CommandLine, Outcome
from support.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect
from support.json_server import JsonAnswer, JsonRequest, json_server
from support.mlflow_double import mlflow_double
from support.otlp_receiver import OtlpReceiver, otlp_receiver

_NAMES = (
    *("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_WORKSPACE_ID"),
    *("ANTHROPIC_WEBHOOK_SIGNING_KEY", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_AWS_API_KEY", "ANTHROPIC_WORK_SECRET"),
    *("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_ACCESS_TOKEN", "GOOGLE_GENAI_API_KEY", "TYPESAFE_API_KEY"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_PASSWORD", "MSI_SECRET"),
    *("AZURE_CLIENT_CERTIFICATE_PASSWORD", "IDENTITY_HEADER", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"),
    *("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "JURY_SERVE_TOKEN", "JURY_WEBHOOK_SECRET", "PGPASSWORD"),
    *("JURY_WRITER_PASSWORD", "RAY_AUTH_TOKEN", "MY_GATEWAY_KEY"),
)
_HEADERS = {
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: {}\nopenai-beta: assistants=v2",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: Bearer {}",
    "OTEL_EXPORTER_OTLP_HEADERS": "x-collector={},authorization=Basic%20{}",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-collector={}",
}
_URLS = {
    "HTTPS_PROXY": "http://proxy-user:{}@127.0.0.1:9",
    "DATABASE_URL": "postgresql://jury:{}@127.0.0.1:9/jury",
    "OTHER_STORE_URL": "postgresql://127.0.0.1:9/jury?user=jury&password={}",
}


def canary(name: str) -> str:
    """What the variable has; long and without a word of its own."""
    return f"canary9f3a6b{name.lower().replace('_', '')}"


ENVIRONMENT = {
    **{name: canary(name) for name in _NAMES},
    **{name: form.replace("{}", canary(name)) for name, form in (_HEADERS | _URLS).items()},
}
CANARIES = [canary(name) for name in ENVIRONMENT]
_BASIC = [
    b64encode(pair.encode()).decode()
    for pair in (f"proxy-user:{canary('HTTPS_PROXY')}", f"jury:{canary('DATABASE_URL')}")
]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


def _verdict(asked: str, said: str) -> str:
    """A usable answer to the prompt, whose reasons are `said`."""
    form = asked.rpartition("## Form of the answer")[2]
    ballot = re.findall(r"ballot id is ([a-z2-7]{16})", asked)[-1]
    criteria = dict(re.findall(r"^- ([a-z_]+): 0 to (\d+)", asked, re.MULTILINE))
    answer = {
        "ballot": ballot,
        "verdict": "unsafe_fail",
        "scores": {name: int(most) / 2 for name, most in criteria.items()},
        "confidence": 0.9,
        "rationale": said,
        "statement": said,
        "evidence": [{"item": 1, "quote": said[:80], "says": "against", "criterion": None, "seat": None}],
        "decisive_item": None,
        "scenarios": None,
    }
    return json.dumps({name: value for name, value in answer.items() if f'"{name}"' in form})


class Echo:
    """Answers as the three providers: each model's first call fails, the others are judged."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.sent: list[str] = []

    def __call__(self, request: JsonRequest) -> JsonAnswer:
        repeated = json.dumps(request.headers) + " ".join(CANARIES + _BASIC)
        self.sent.append(json.dumps(request.headers))
        said = f"{repeated} {quote(CANARIES[0])} {''.join(f'{chr(92)}u{ord(char):04x}' for char in CANARIES[1])}"
        headers = (("x-request-id", CANARIES[2]), ("request-id", CANARIES[3]))
        if request.path not in self.failed:
            self.failed.add(request.path)
            return JsonAnswer({"error": {"message": said, "type": CANARIES[4]}}, 500, (*headers, ("retry-after", "0")))
        text = _verdict("\n".join(_texts(request.body)), said)
        dialect = _dialect_of(request.path)
        reply = dialect.reply(text, dialect.finishes[0], ())
        return JsonAnswer({**reply, "model": CANARIES[5], "service_tier": CANARIES[6]}, 200, headers)


def _dialect_of(path: str) -> Dialect:
    for end, dialect in (("completions", CHAT), ("responses", RESPONSES), ("messages", ANTHROPIC)):
        if path.endswith(end):
            return dialect
    return GOOGLE


def _panel(url: str) -> dict[str, Any]:
    at = {
        "one": ("openai", "/v1"),
        "two": ("openai-responses", "/v1"),
        "three": ("anthropic", ""),
        "four": ("google", ""),
    }
    return {
        "seats": [{"model": f"{name}/m", "juror_id": name, "fallbacks": []} for name in at],
        "discussion": {"max_rounds": 1},
        "final": {"judge": {"model": "one/m", "fallbacks": []}},
        "providers": {
            name: {"protocol": protocol, "base_url": url + path, "key_env": "MY_GATEWAY_KEY", "sdk_headers": "on"}
            for name, (protocol, path) in at.items()
        },
    }


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with otlp_receiver() as found:
        yield found


def _found_in(content: bytes) -> list[str]:
    return [one for one in CANARIES + _BASIC if one.encode() in content]


class Written:
    """The canaries in everything that a job prints, keeps and sends, by where they were found."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.found: dict[str, list[str]] = {}
        self.places: set[str] = set()

    def look(self, place: str, content: bytes) -> None:
        self.places.add(place)
        if found := _found_in(content):
            self.found[place] = found

    def printed(self, outcome: Outcome) -> Outcome:
        self.outcomes.append(outcome)
        self.look(f"printed by call {len(self.outcomes)}", (outcome.out + outcome.err).encode())
        return outcome

    def files(self, folder: Path) -> None:
        for path in folder.rglob("*"):
            if path.is_file():
                self.look(str(path.relative_to(folder)), path.read_bytes())

    def database(self, url: str) -> None:
        """Every value of every table."""
        with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as connection:
            named = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
            for (table,) in connection.execute(named).fetchall():
                for row in connection.execute(SQL("SELECT * FROM {}").format(Identifier(table))):
                    values = (one if isinstance(one, bytes) else str(one).encode() for one in row)
                    self.look(f"table {table}", b" ".join(values))


def _exports(jury: CommandLine, environment: dict[str, str], written: Written) -> None:
    """Everything that is written of the job, and what it prints."""
    debate = "r~c"
    for command in (
        ("show", debate, "--prompts"),
        ("show", debate, "--json"),
        ("list", "--json"),
        ("seal", "now", "--key", "key"),
        ("seal", "show"),
        ("verify", "--all", "--json", "--key", "key.pub"),
        ("review", debate, "--reviewer", "boss", "--assign", "ann"),
        ("stats", "--run", "r"),
        ("export", debate, "-o", "cassettes"),
        ("export", debate, "--html", "-o", "pages"),
        ("export", debate, "--parquet", "parquet", "--texts"),
        ("export", debate, "--csv", "csv", "--texts"),
        ("export", debate, "--to", "otel"),
    ):
        outcome = written.printed(jury(*command, env=environment))
        assert 0 == outcome.code, (command, outcome.err)


def _refused_scores(jury: CommandLine, environment: dict[str, str], written: Written) -> None:
    """Tools that say all that they got when they refuse scores; MLflow takes them then."""
    with json_server(lambda request: JsonAnswer({"message": f"{request.headers} {CANARIES}"}, 401)) as langfuse:
        refused = written.printed(
            jury("export", "r~c", "--to", "langfuse", env={**environment, "LANGFUSE_BASE_URL": langfuse.url})
        )
    assert "HTTP 401" in refused.err
    password = canary("MLFLOW_TRACKING_PASSWORD")
    with mlflow_double(f"http://user:{password}@mlflow.example") as feedback:
        feedback.refuses = f"no: {CANARIES}"
        refused = written.printed(jury("export", "r~c", "--to", "mlflow", env=environment))
        feedback.refuses = None
        taken = written.printed(jury("export", "r~c", "--to", "mlflow", env=environment))
    written.look("MLflow", json.dumps(feedback).encode())

    assert (4, 0) == (refused.code, taken.code), refused.err + taken.err
    assert feedback


def _webhook(
    jury: CommandLine, url: str, environment: dict[str, str], written: Written, caplog: pytest.LogCaptureFixture
) -> None:
    """The message that a person was asked for, to a receiver that repeats every secret and then takes it."""
    statuses = [500, 204]
    key = f"whsec_{b64encode(canary('JURY_WEBHOOK_SECRET').encode()).decode()}"
    with (
        json_server(lambda _request: JsonAnswer({"message": str(CANARIES)}, statuses.pop(0))) as receiver,
        closing(open_store(url, write=False)) as store,
        patch.dict(os.environ, environment),
    ):
        sender = WebhookSender(f"{receiver.url}/hook?key={canary('MY_GATEWAY_KEY')}", webhook_secret(key, "FILE"))
        journal = DeliveryJournal(jury.folder / "deliveries.jsonl", 0)
        now = itertools.count(time.time_ns() // 1000, 10**10)
        deliveries = ReviewDeliveries(store, journal, sender.send, clock=lambda: next(now))
        for _ in range(10):
            deliveries.step()
        journal.close()
    for request in receiver.requests:
        written.look("webhook", json.dumps(request.headers).encode() + request.content)
    written.look("log", caplog.text.encode())

    assert [] == statuses, "it failed once, and was sent again"
    assert "attempt 1" in caplog.text


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the job is recorded; the password of the database is a canary."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jury.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url.replace("@/", f":{canary('PGPASSWORD')}@/")


@pytest.mark.parametrize("log_format", ["text", pytest.param("json", marks=pytest.mark.full)])
def test_no_secret_is_in_anything_that_a_job_writes_or_sends(
    jury: CommandLine, receiver: OtlpReceiver, store_url: str, log_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    echo, written = Echo(), Written()
    environment = {
        **ENVIRONMENT,
        "JURY_STORE_URL": store_url,
        "JURY_LOG_FORMAT": log_format,
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "NO_PROXY": "127.0.0.1",
    }
    jury.write(
        "cases.jsonl", {"case_id": "c", "question": "q", "response": "r", "metadata": {"trace_id": "0" * 31 + "1"}}
    )
    jury.write("key.pub", jury("seal", "keygen", "key", "--name", "example.com/jury").out)
    with json_server(echo) as provider, keeping(store_url):
        jury.write("panel.json", _panel(provider.url))
        judged = written.printed(
            jury.run(
                "cases.jsonl", "--run", "r", "--panel", "panel.json", "--otel", "--junit", "junit.xml", "--markdown",
                "summary.md", "--seal-key", "key", "--seal-last", "last", "--jsonl", env=environment,
            )
        )  # fmt: skip
        assert "unsafe_fail" == judged.lines[0]["final_verdict"], judged.err
        _exports(jury, environment, written)
        _refused_scores(jury, environment, written)
        _webhook(jury, store_url, environment, written, caplog)
        written.files(jury.folder)
    if store_url.startswith("postgresql"):
        written.database(store_url)
    for body in receiver.bodies:
        written.look("collector", body)

    kept = {"jury.db", "jury.db-wal"} if store_url.startswith("sqlite") else {"table events", "table parts"}
    assert kept | {"junit.xml", "summary.md", "last", "deliveries.jsonl", "collector", "webhook"} <= written.places
    assert any(canary("ANTHROPIC_CUSTOM_HEADERS") in one for one in echo.sent), "the SDK sends it"
    assert {} == written.found


@contextmanager
def keeping(store_url: str) -> Iterator[None]:
    """A reader of a SQLite store, for which the log of what is written stays."""
    if not store_url.startswith("sqlite"):
        yield
        return
    with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"))) as reading:
        reading.execute("PRAGMA journal_mode")
        yield


def test_each_variable_with_a_secret_is_known() -> None:
    assert [] == [name for name, value in ENVIRONMENT.items() if canary(name) not in known_secrets({name: value})]


def test_what_any_text_may_have_is_no_secret() -> None:
    harmless = {
        "HOME": "/home/somebody",
        "OPENAI_BASE_URL": "https://gateway.example/v1",
        "PGPASSWORD": "postgres",
        "MAX_TOKEN": "200000000",
        "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
        "ANTHROPIC_CUSTOM_HEADERS": "anthropic-beta: context-1m-2025-08-07",
        "SSH_AUTH_SOCK": "/run/user/agent",
        "OPENAI_API_KEY_FILE": "/run/secrets/of-nobody",
    }

    assert [] == [name for name, value in harmless.items() if known_secrets({name: value})]
