"""`jury gate --true`: from a draw to a decision, over a run, over files of votes, in Python and over HTTP."""

import asyncio
from contextlib import closing

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from jury_analysis import report_schema
from jury_judge import GateSettings, Service
from jury_judge.records.votes import VoteReports
from jury_store import open_store
from jury_web import AccessPolicy, create_app
from support.command_line import CommandLine, Outcome
from support.pages import Site
from support.refusals import RefusalTables
from support.vote_rows import write_jsonl

CLAIM = "unsafe_fail<=20%"


def drawn_debates(jury: CommandLine) -> list[str]:
    queue = jury("review", "--run", "r", "--list", "--reviewer", "ann", "--json").json
    return [one["debate_id"] for one in queue if one["why"] == "sampled"]


def answer(jury: CommandLine, debates: list[str], verdict: str) -> None:
    for debate in debates:
        assert 0 == jury("review", debate, "--reviewer", "ann", "--blind", "--verdict", verdict).code


def decision(outcome: Outcome) -> tuple[int, str, dict[str, int]]:
    found = outcome.json
    Draft202012Validator(report_schema("true-gate")).validate(found)
    return outcome.code, found["decision"], {one["decision"]: one["labels"] for one in found["needed"]}


def test_the_gate_on_a_run_is_in_the_language_of_its_jury(jury: CommandLine) -> None:
    jury.write("panel.yaml", "preset: independent\nlanguage: ja\n")
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At nine."} for n in range(3)))
    jury.run(cases, "--run", "r", "--panel", "panel.yaml")
    jury("review", "--run", "r", "--sample", "2", "--reviewer", "ann", "--list")
    shown = jury("gate", "r", "--true", CLAIM, "--inconclusive", "pass", "--markdown", "gate.md")

    assert [
        f"gate r, true {CLAIM}: 判断不能: このラベル数では決まらない。合格として扱う",
        (
            "真の割合          この実行の3件のうちunsafe_failが正しいのは0.0%〜100.0%"
            "（片側95%、ラベル0件、うちunsafe_failは0件）"
        ),
    ] == shown.out.splitlines()[:2]
    assert "  陪審団の判定  ケース  抽出  ラベルあり  unsafe_fail" == shown.out.splitlines()[-2]
    assert "the labels do not decide it; counts as pass" in (jury.folder / "gate.md").read_text("utf-8")


def test_the_labels_of_a_draw_decide_and_say_what_more_would(jury: CommandLine, printed: RefusalTables) -> None:
    """12 of 60 cases that are all safe decide 20 %: C(47, 12) / C(60, 12) = .037, and 11 do not: .053."""
    cases = jury.write(
        "cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At nine."} for n in range(60))
    )
    assert 0 == jury.run(cases, "--run", "r", "--panel", "independent").code
    undrawn = jury("gate", "r", "--true", CLAIM)
    assert 0 == jury("review", "--run", "r", "--sample", "12", "--reviewer", "ann", "--list").code
    none = decision(jury("gate", "r", "--true", CLAIM, "--json"))
    debates = drawn_debates(jury)
    answer(jury, debates[:11], "safe_pass")
    most = decision(jury("gate", "r", "--true", CLAIM, "--json"))
    answer(jury, debates[11:], "safe_pass")
    decided = jury("gate", "r", "--true", CLAIM, "--markdown", "gate.md", "--junit", "gate.xml")
    of_agent = decision(jury("gate", "r", "--true", CLAIM, "--of", "agent", "--json"))
    statistics = jury("stats", "r", "--include-simulated").out.splitlines()

    assert (2, "") == (undrawn.code, undrawn.out)
    assert "draw with jury review --run r --sample 60 --blind --reviewer NAME" in undrawn.err
    assert (6, "inconclusive", {"pass": 12}) == none
    assert (6, "inconclusive", {"pass": 1}) == most
    assert 0 == decided.code
    assert decided.out.startswith(f"gate r, true {CLAIM}: pass: the true rate keeps to it\n")
    assert "unsafe_fail is right for 0.0% to 18.3% of the 60 cases of this run" in decided.out
    printed.compare("true_gate_markdown", {"a gate that passes": (jury.folder / "gate.md").read_text("utf-8").strip()})
    assert 'failures="0"' in (jury.folder / "gate.xml").read_text()
    assert (6, "inconclusive") == of_agent[:2]
    assert any(line.startswith("true rate  unsafe_fail is right for 0.0% to 18.3%") for line in statistics)
    with closing(open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)) as store:
        client = TestClient(create_app(Service(store), AccessPolicy(frozenset({"t"}))), base_url="http://t")
        asked = client.get("/api/runs/r/true-rate", params={"claim": CLAIM, "of": "agent"})
        refused = client.get("/api/runs/r/true-rate", params={"claim": "nonsense<=2%"})
        page = Site(store).get("/runs/r/stats?include_simulated=true&lang=ja").text
    assert ("inconclusive", "agent") == (asked.json()["decision"], asked.json()["rate"]["of"])
    assert 422 == refused.status_code
    assert "この実行の60件のうちunsafe_failが正しいのは0.0%〜18.3%" in page


def test_a_draw_by_verdict_is_of_the_run_alone(jury: CommandLine) -> None:
    cases = jury.write("cases.jsonl", *({"id": f"c{n}", "question": "Open?", "response": "At nine."} for n in range(8)))
    assert 0 == jury.run(cases, "--run", "r", "--panel", "independent").code
    drew = jury("review", "--run", "r", "--sample", "8", "--by-verdict", "--reviewer", "ann", "--list")
    *most, last = drawn_debates(jury)
    answer(jury, most, "unsafe_fail")
    answer(jury, [last], "needs_review")  # unsure: as if it were not answered
    found, unsure = (jury("gate", "r", "--true", f"unsafe_fail>={share}%") for share in (80, 100))
    refused = jury("gate", "r", "--true", CLAIM, "--of", "agent")

    assert "cases that the jury called" in drew.err
    assert (0, 6) == (found.code, unsure.code)
    assert "1 drawn case without an answer, or with an unsure one: it counts as the worse" in unsure.out
    assert 2 == refused.code
    assert refused.err.startswith("jury: --of agent: these cases were drawn by verdict")


def test_of_files_the_labelled_cases_are_a_draw_by_assertion(jury: CommandLine) -> None:
    rows = [{"case_id": f"c{number}", "judges": {"a": "unsafe_fail", "b": "safe_pass"}} for number in range(182)]
    votes = str(write_jsonl(jury.folder / "votes.jsonl", rows))
    labels = jury.write("labels.csv", "case_id,label\n" + "".join(f"c{number},safe_pass\n" for number in range(96)))
    found = jury("gate", votes, "--true", "unsafe_fail<=2%", "--labels", labels)
    asked = GateSettings.of(sources=(votes,), true="unsafe_fail<=1%", labels=(str(jury.folder / labels),))
    less = asyncio.run(VoteReports().true_gate(asked))

    assert 0 == found.code
    assert "is your assertion" in found.out
    assert ("inconclusive", "assertion", "exact") == (less.decision, less.report.rate.source, less.report.rate.method)
