"""`jury db roles` sets logins up, and a run, its reading, sealing and erasing work under those that they are for."""

import json
from collections.abc import Iterator

import pytest

from support.command_line import CommandLine
from support.postgres import PostgresServer, postgres_or_skip

KINDS = ["owner", "writer", "reader", "eraser"]
BY = ("--by", "dpo@example.com", "--reason", "request 17", "--yes")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Where everybody but the administrator needs a password."""
    with postgres_or_skip(passwords=True) as server:
        yield server


class Logins:
    """`jury`, called with the URL of one of the logins and the file of passwords."""

    def __init__(self, jury: CommandLine, listed: list[dict[str, str]]) -> None:
        self.jury = jury
        self.stores = {one["kind"]: one["store"] for one in listed}

    def __call__(self, kind: str, *arguments: str):
        environment = {"PGPASSFILE": str(self.jury.folder / "jury.pgpass"), "JURY_STORE_URL": self.stores[kind]}
        return self.jury(*arguments, env=environment)


@pytest.fixture
def database(server: PostgresServer) -> Iterator[str]:
    name = server.create_database()
    yield name
    server.drop_database(name)
    for kind in KINDS:
        server.execute(f"DROP ROLE IF EXISTS {name}_{kind}_login")


@pytest.fixture
def logins(jury: CommandLine, server: PostgresServer, database: str) -> Logins:
    outcome = jury("db", "roles", "--store", server.url(database), "--json")

    assert outcome.code == 0, outcome.err
    assert [one["login"] for one in outcome.json] == [f"{database}_{kind}_login" for kind in KINDS]
    return Logins(jury, outcome.json)


@pytest.mark.full
def test_everything_works_under_the_login_that_it_is_for(logins: Logins, cases: str) -> None:
    logins.jury("seal", "keygen", "key")
    results = {
        "writer runs": logins("writer", "run", "--in-process", cases, "--run", "r1", "--seal-key", "key"),
        "writer goes on": logins("writer", "run", "--in-process", cases, "--run", "r1"),
        "writer rebuilds": logins("writer", "db", "rebuild"),
        "reader lists": logins("reader", "list", "--run", "r1", "--json"),
        "reader shows": logins("reader", "show", "r1~leak"),
        "reader verifies": logins("reader", "verify", "--all", "--key", "key.pub"),
        "reader replays": logins("reader", "replay", "--all"),
        "reader exports": logins("reader", "export", "--run", "r1", "-o", "corpus"),
        "writer seals": logins("writer", "seal", "now", "--key", "key"),
        "writer imports": logins("writer", "import", "corpus"),
        "eraser erases": logins("eraser", "erase", "r1~leak", *BY),
        "owner scrubs": logins("owner", "erase", "r1~leak", *BY, "--json"),
        "owner upgrades": logins("owner", "db", "upgrade"),
        "owner checks": logins("owner", "db", "check"),
        "reader verifies again": logins("reader", "verify", "--all", "--key", "key.pub"),
    }

    assert {name: (outcome.code, outcome.err) for name, outcome in results.items() if outcome.code} == {}
    assert len(results["reader lists"].json) == 3
    assert "until their owner runs: VACUUM (FULL) parts, search_texts" in results["eraser erases"].err
    assert results["owner scrubs"].json["scrubbed"]
    assert "texts erased on record" in results["reader verifies again"].out


@pytest.mark.full
def test_a_command_that_a_login_may_not_run_names_the_login_to_use(logins: Logins, cases: str, database: str) -> None:
    logins("writer", "run", "--in-process", cases, "--run", "r1")
    before = logins("reader", "show", "r1~leak", "--events").out

    erased = logins("writer", "erase", "r1~leak", *BY)
    run = logins("reader", "run", "--in-process", cases, "--run", "r2")
    doctor = logins("reader", "doctor")

    assert erased.code == 2
    assert f"the user {database}_writer_login may not delete texts, so nothing was recorded" in erased.err
    assert "use the eraser's login" in erased.err
    assert logins("reader", "show", "r1~leak", "--events").out == before
    assert run.code == 2
    assert f"the user {database}_reader_login may read this store and not write to it; use the writer's" in run.err
    assert f"the database user {database}_reader_login may read this store" in doctor.out + doctor.err


@pytest.mark.full
def test_a_password_in_a_stores_url_is_shown_nowhere(jury: CommandLine, server: PostgresServer, database: str) -> None:
    urls = [
        f"postgresql://jury_test:hunter2@/{database}?host={server.folder}",
        f"postgresql://jury_test@/{database}?host={server.folder}&password=hunter2&sslpassword=hunter2",
    ]

    outcomes = [jury("db", "roles", "--store", url, "--json", "--passwords", "p") for url in urls]
    refused = [jury("db", "roles", "--store", url, "--prefix", "A") for url in urls]
    lost = [jury("list", "--store", url.replace(server.folder, "/nowhere")) for url in urls]

    assert [outcome.code for outcome in outcomes] == [0, 0]
    assert {outcome.code for outcome in refused + lost} == {2}
    assert "hunter2" not in json.dumps([[one.out, one.err] for one in outcomes + refused + lost])
