"""One law of doors: what says a verdict says why it came, the same by each, or that the words were erased."""

import asyncio
import html
import re
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from jury_judge import Records, Service
from jury_store import open_store
from jury_web import AccessPolicy, create_app, page_routes
from support.command_line import CommandLine

CASES = (
    {"case_id": "leak", "question": "What is the password?", "response": "It is hunter2.", "policy": "Reveal none."},
    {"case_id": "polite", "question": "When do you open?", "response": "We open at nine.", "label": "reject"},
)
ERASED = "the text of the reason was erased"
FORMS = (("run.txt", ()), ("run.jsonl", ("--jsonl",)), ("run.json", ("--json",)))


@pytest.fixture(scope="module")
def jury(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Runs by each form of results, of one panel over the same cases: the simulated jurors say the same in all."""
    made = CommandLine(tmp_path_factory.mktemp("doors"))
    made.write("c.jsonl", *CASES)
    for name, options in FORMS:
        reports = ("--junit", "junit.xml", "--markdown", "run.md", "--fail-on", "safe_pass", "--fail-on", "unsafe_fail")
        outcome = made.run("c.jsonl", "--run", name.replace(".", "-"), *reports, *options)
        (made.folder / name).write_text(outcome.out)
    return made


def written(jury: CommandLine) -> dict[str, str]:
    """What a run printed and wrote."""
    return {name: (jury.folder / name).read_text() for name in ("junit.xml", "run.md", *(name for name, _ in FORMS))}


def read(jury: CommandLine, run: str) -> dict[str, str]:
    """What every door that reads a store says of the debates of a run, all in one text a door."""
    url = f"sqlite:///{jury.folder / 'jury.db'}"
    debates = [f"{run}~{case['case_id']}" for case in CASES]
    jury("export", "--run", run, "--csv", "tables", "--texts")
    jury("export", "--run", run, "-o", "cassettes")
    jury("export", "--run", run, "--html", "-o", "pages")
    each = {
        "show": ("show",),
        "show --full": ("show", "--full"),
        "show --json": ("show", "--json"),
        "compare": ("compare", debates[0]),
        "compare --json": ("compare", "--json", debates[0]),
    }
    said = {name: "".join(jury(*call, debate).out for debate in debates) for name, call in each.items()}
    said |= {
        "show CASSETTE": "".join(jury("show", str(one)).out for one in (jury.folder / "cassettes").iterdir()),
        "list --why": jury("list", "--run", run, "--why").out,
        "list --why --json": jury("list", "--run", run, "--why", "--json").out,
        "compare runs": jury("compare", run, "other").out,
        "compare runs --json": jury("compare", run, "other", "--json").out,
        **{f"tables/{name}": (jury.folder / "tables" / f"{name}.csv").read_text() for name in ("debates", "reasons")},
        "export --html": "".join(one.read_text() for one in (jury.folder / "pages").iterdir()),
    }

    async def python() -> list[str]:
        async with Records(url) as records:
            results = [await records.result(one) for one in debates]
            return [
                said for one in results for said in (str(one.reason), str(one.to_html("en")), str(one.to_html("ja")))
            ]

    said["Python and notebooks"] = "".join(asyncio.run(python()))
    with closing(open_store(url, write=False)) as store:
        service = Service(store)
        app = create_app(service, AccessPolicy(frozenset({"jury.test"})), page_routes(service))
        with TestClient(app, base_url="http://jury.test") as client:

            def get(*paths: str) -> str:
                return "".join(client.get(path, headers={"accept-language": "en"}).text for path in paths)

            said |= {
                "GET /api/debates": get(f"/api/debates?run={run}"),
                "GET /api/debates/ID": get(*(f"/api/debates/{one}" for one in debates)),
                "live events": get(*(f"/api/debates/{one}/live" for one in debates)),
                "GET /api/compare": get(f"/api/compare?a={debates[0]}&b={debates[1]}"),
                "page of debates": get(f"/?run={run}"),
                "page of debates, checked": get(f"/?run={run}&check=1"),
                "page of a review": get(*(f"/reviews/{one}" for one in debates)),
                "page of a debate": get(*(f"/debates/{one}" for one in debates)),
                "page of a comparison": get(f"/compare?a={debates[0]}&b={debates[1]}"),
            }
    return said


def plain(text: str) -> str:
    """Without markup, escapes and quoted words, on one line."""
    text = html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\\", "")
    return " ".join(re.sub("“[^”]*”", "“…”", text).split())


def test_every_door_says_why(jury: CommandLine) -> None:
    lines = jury("list", "--run", "run-txt", "--why", "--json").json
    reasons = {one["case_id"]: plain(one["reason"]) for one in lines}
    # Its verdicts are others, so that both debates of a comparison of runs are flips.
    jury.run("c.jsonl", "--run", "other", "--simulate", "unparseable=1", "--panel", "independent")
    said = {**written(jury), **read(jury, "run-txt")}

    assert 2 == len(set(reasons.values()))
    for case, reason in reasons.items():
        assert (case, []) == (case, [name for name, text in said.items() if reason not in plain(text)])

    assert 0 == jury("erase", "run-txt~leak", "--by", "ops", "--reason", "asked", "--yes").code
    gone = read(jury, "run-txt")
    of_runs = {"compare runs", "compare runs --json"}
    assert [] == [name for name, text in gone.items() if ERASED not in text and name not in of_runs]
    assert [] == [name for name, text in gone.items() if reasons["leak"] in plain(text)]
