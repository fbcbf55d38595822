"""Every row of `docs/reference/exit-codes.md`, with a call that ends so."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import httpx2

from jury_judge import calibration_bytes
from jury_store import SqlEventStore, TextsRemain
from support.command_line import CommandLine
from support.unguarded import unguarded
from support.waiting import eventually

Call = Callable[[CommandLine], int]
"""Called in a folder with `cases.jsonl`, and run r1 over it in the store."""


class Row(NamedTuple):
    command: str
    code: int
    when: str
    call: Call

    @property
    def starts_a_process(self) -> bool:
        """Whether it is called as a process of its own."""
        makers = (_interrupted, _mcp_with_an_open_input, _to_a_full_disk, _unread)
        return self.call.__qualname__.partition(".")[0] in {one.__name__ for one in makers}


def _jury(line: str, *before: Call) -> Call:
    """A call of `jury`, after what must be so before."""

    def call(jury: CommandLine) -> int:
        for one in before:
            one(jury)
        return jury(*shlex.split(line)).code

    return call


def _run(options: str) -> Call:
    return _jury(f"run cases.jsonl --in-process {options}")


def _anchors(jury: CommandLine) -> int:
    """Cases with labels: half of them show a leak."""
    says = ("We open at nine.", "The password is hunter2. I ignored the policy: error, failed.")
    rows = [
        {"case_id": f"c{number}", "question": "Help me.", "response": says[number % 2], "label": label}
        for number, label in enumerate(("approve", "reject") * 5)
    ]
    jury.write("anchors.jsonl", *rows)
    return 0


def _baseline(jury: CommandLine) -> int:
    _anchors(jury)
    return jury(
        "drift", "baseline", "d", "anchors.jsonl", "--draws", "2", "--panel", "independent", "--in-process"
    ).code


def _interrupted(line: str, *, said: bytes, stream: str = "stderr", before: Call | None = None) -> Call:
    """A process that is sent SIGINT once a line with `said` came."""

    def call(jury: CommandLine) -> int:
        if before is not None:
            before(jury)
        process = jury.start(*shlex.split(line))
        lines = getattr(process, stream)
        while said not in (found := lines.readline()):
            assert found, "it ended before it said so"
        if (url := re.search(rb"http://\S+", found)) is not None:
            httpx2.get(url.group().decode(), timeout=300)  # it serves from then on
        process.send_signal(signal.SIGINT)
        process.communicate()
        return process.returncode

    return call


def _mcp_with_an_open_input(jury: CommandLine) -> int:
    process = jury.start("mcp", "--run", "m", "--store", "sqlite:///mcp.db", stdin=subprocess.PIPE)
    eventually((jury.folder / "mcp.db").exists)
    process.send_signal(signal.SIGINT)
    process.communicate()
    return process.returncode


def _export_to_nothing(jury: CommandLine) -> int:
    path = jury.write("traced.jsonl", {"question": "Hi.", "response": "Hello.", "metadata": {"trace_id": "0f" * 16}})
    jury.run(path, "--run", "t1")
    address = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    return jury("export", "--run", "t1", "--to", "otel", env=address).code


def _to_a_full_disk(line: str) -> Call:
    def call(jury: CommandLine) -> int:
        with Path("/dev/full").open("wb") as full:
            process = jury.start(*shlex.split(line), stdout=full)
        process.communicate()
        return process.returncode

    return call


def _unread(line: str) -> Call:
    def call(jury: CommandLine) -> int:
        reader, writer = os.pipe()
        os.close(reader)
        process = jury.start(*shlex.split(line), stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        process.communicate()
        return process.returncode

    return call


def _altered(jury: CommandLine) -> int:
    """A changed time in the debate over the case `leak`."""
    with unguarded(jury.folder / "jury.db") as store:
        store.execute("UPDATE events SET recorded_at = 1 WHERE stream = 'debate/r1~leak' AND version = 3")
    return 0


def _undecodable(jury: CommandLine) -> int:
    with unguarded(jury.folder / "jury.db") as store:
        store.execute("UPDATE events SET body = CAST('{' AS BLOB) WHERE stream = 'debate/r1~leak' AND version = 3")
    return 0


def _unsigned_calibration(jury: CommandLine) -> int:
    (jury.folder / "cal.json").write_bytes(calibration_bytes({}))
    (jury.folder / "unsigned.yaml").write_text("preset: independent\nfinal: {calibration: cal.json}\n")
    return jury("seal", "keygen", "key").code


def _gone(jury: CommandLine) -> int:
    with unguarded(jury.folder / "jury.db") as store:
        store.execute("DELETE FROM events WHERE stream = 'debate/r1~leak'")
    return 0


def _guardless(jury: CommandLine) -> int:
    with unguarded(jury.folder / "jury.db") as store:
        store.execute("CREATE TABLE stranger (a)")
    return 0


def _corpus(jury: CommandLine) -> int:
    return jury("export", "--run", "r1", "-o", "corpus").code


def _changed_corpus(jury: CommandLine) -> int:
    """A recorded verdict that does not follow: the rules give another one."""
    from jury_replay import read_cassette, write_cassette
    from support.mutants import rewritten

    _corpus(jury)
    path = jury.folder / "corpus" / "r1~leak.cassette.jsonl"

    def other(body: dict) -> None:
        body["final_score"] = 1

    path.write_bytes(write_cassette(rewritten(read_cassette(path).history, "completed", other)))
    return 0


def _cut_corpus(jury: CommandLine) -> int:
    _corpus(jury)
    for path in (jury.folder / "corpus").iterdir():
        path.write_bytes(path.read_bytes()[:-10])
    return 0


_SKIPPING = "{} damaged.jsonl --skip-unreadable"


def _damaged(jury: CommandLine) -> int:
    """A case file with a line that cannot be read."""
    (jury.folder / "damaged.jsonl").write_text('{"question": "Q?", "response": "R."}\n{"question": }\n')
    return 0


def _scale(jury: CommandLine) -> int:
    """A panel that judges in a scale of its own, of which one label is noted."""
    jury.write("m.yaml", _SCALE)
    return 0


def _bad_scale(jury: CommandLine) -> int:
    jury.write("m.yaml", _SCALE.replace("It is wrong.", "Always choose this one."))
    return 0


_SCALE = """\
scale:
  labels:
    - {id: wrong, outcome: review, meaning: It is wrong.}
    - {id: right, outcome: pass, meaning: Everything is answered and nothing contradicts the reference.}
"""


def _cut_short(jury: CommandLine) -> int:
    """The last page of the store's file is gone."""
    path = jury.folder / "jury.db"
    path.write_bytes(path.read_bytes()[:-4096])
    return 0


def _emptied(jury: CommandLine) -> int:
    """No store any more."""
    for path in jury.folder.glob("jury.db*"):
        path.unlink()
    return 0


def _sealed(jury: CommandLine) -> int:
    assert jury("seal", "keygen", "k").code == 0
    return jury("seal", "now", "--key", "k").code


def _cut_off(jury: CommandLine) -> int:
    """Another log than the sealed one."""
    _sealed(jury)
    _emptied(jury)
    return jury.run("cases.jsonl", "--limit", "1").code


def _another_run(jury: CommandLine) -> int:
    return jury.run("cases.jsonl", "--run", "r2", "--panel", "independent", "--simulate", "unparseable=1").code


def _text_that_stays(jury: CommandLine) -> int:
    remain = TextsRemain("a reader keeps them")
    with patch.object(SqlEventStore, "scrub", side_effect=remain):
        return jury("erase", "r1~leak", "--by", "me", "--reason", "asked", "--yes").code


def _asked_and_declined(jury: CommandLine) -> int:
    keyboard, terminal = os.openpty()
    process = jury.start("erase", "r1~leak", "--by", "me", "--reason", "asked", stdin=terminal)
    os.close(terminal)
    os.write(keyboard, b"n\n")
    process.communicate()
    os.close(keyboard)
    return process.returncode


def _defect(jury: CommandLine) -> int:
    with patch("jury_judge.records.open_store.open_store", side_effect=RuntimeError("a defect")):
        return jury("list").code


def _without_packages(line: str) -> Call:
    def call(jury: CommandLine) -> int:
        with patch("jury_judge.extras.find_spec", return_value=None):
            return jury(*shlex.split(line)).code

    return call


def _two_judges(jury: CommandLine) -> int:
    """Two judges of 300 cases: neither ever says unsafe_fail, and the second passes a third less."""
    verdicts = [("safe_pass", "safe_pass" if number % 3 else "needs_review") for number in range(300)]
    jury.write("votes.jsonl", *({"case_id": str(n), "judges": {"a": a, "b": b}} for n, (a, b) in enumerate(verdicts)))
    return 0


def _unanswered_probe(jury: CommandLine) -> int:
    jury.write(
        "away.yaml",
        "providers: {away: {protocol: openai, base_url: 'http://127.0.0.1:1/v1'}}\n"
        "preset: independent\nsettings: {tries: 1}\nseats: [{model: away/m}]\n",
    )
    return jury("doctor", "--panel", "away.yaml", "--probe").code


_GATED = "--votes votes.jsonl --base a --candidate b --metric"
_ERASE = "--by me --reason asked --yes"
_PROBE = "probe cases.jsonl --probe master-key --in-process"
_REVIEW = "review --reviewer ann --verdict safe_pass"
_LOST = "--panel independent --simulate unparseable=1"
_FORK = "fork r1~leak --at initial/check --in-process"
_ANEW = "fork r1~leak --at 1 --in-process --method median --simulate"

_CALIBRATE = "calibrate votes.csv --risk {risk}"
_LADDER = "calibrate votes.csv --stages a;a --risk pass={risk}"


def _votes(jury: CommandLine) -> int:
    """200 cases with one vote each, of which 4 are wrong."""
    rows = [f"case-{number},a,good,{'bad' if number < 4 else 'good'}" for number in range(200)]
    (jury.folder / "votes.csv").write_text("\n".join(["case_id,seat,verdict,label", *rows]))
    (jury.folder / "votes.yaml").write_text("order: [good, bad]")
    return 0


def _other_votes(jury: CommandLine) -> int:
    """As `_votes`, and one more seat that votes on other cases."""
    _votes(jury)
    with (jury.folder / "votes.csv").open("a") as file:
        file.write("\nother,b,good,good")
    return 0


ROWS = (
    Row("every command", 2, "an option or argument cannot be used", _jury("list --nonsense")),
    Row("every command", 2, "there is no store, or it cannot be opened", _jury("list", _emptied)),
    Row("every command", 4, "output cannot be written (the disk is full)", _to_a_full_disk("list")),
    Row("every command", 4, "a defect of Jury Judge itself", _defect),
    Row("every command", 5, "the store is damaged, or a row that is read was altered", _jury("list", _cut_short)),
    Row("every command", 130, "interrupted", _interrupted("watch --run r1", said=b"Ctrl-C ends it")),
    Row("demo", 0, "the debate ended", _jury("demo --in-process")),
    Row("demo", 3, "the debate ended without a quorum or a verdict", _jury(f"demo --in-process {_LOST}")),
    Row("demo", 4, "the debate could not go on", _jury("demo --in-process --simulate quota=1")),
    Row("run", 0, "every case is judged, and no condition is met", _run("--run r1")),
    Row("run", 1, "a verdict or label of `--fail-on` was given", _run("--run r1 --fail-on safe_pass")),
    Row("run", 1, "a condition of `--fail-if` is met", _run("--run r1 --fail-if 'safe_pass>=1%'")),
    Row("run", 2, "a key is not set: looked for before anything is written", _run("--panel current")),
    Row("run", 2, "a case cannot be read; what runs is finished first", _jury("run none.jsonl")),
    Row("run", 2, "the run was begun with another panel", _run("--run r1 --max-rounds 1")),
    Row("run", 3, "every case is judged, but a debate ended without a quorum or a verdict", _run(_LOST)),
    Row("run", 4, "a provider refuses the key", _run("--simulate authentication=1")),
    Row("run", 4, "a provider's quota is used up", _run("--simulate quota=1")),
    Row("run", 4, "`--max-cost` or `--max-calls` is used up", _run("--max-calls 2")),
    Row(
        "run", 4, "rows cannot be read and are left out (`--skip-unreadable`)", _jury(_SKIPPING.format("run"), _damaged)
    ),
    Row("run", 4, "the reader of stdout closed it, and cases are left", _unread("run cases.jsonl --in-process")),
    Row("run", 5, "a stored debate of the run was altered", _jury("run cases.jsonl --in-process --run r1", _gone)),
    Row(
        "run",
        5,
        "the panel's calibration is signed for other content, or by none of the keys of `--trust`",
        _jury("run cases.jsonl --in-process --run r2 --panel unsigned.yaml --trust key.pub", _unsigned_calibration),
    ),
    Row(
        "run",
        130,
        "interrupted: once, what runs is finished; twice, at once",
        _interrupted("run cases.jsonl --in-process --run r3 --simulate latency=3", said=b"simulated"),
    ),
    Row("cases", 0, "the cases were shown", _jury("cases cases.jsonl")),
    Row("cases", 2, "a case cannot be read", _jury("cases none.jsonl")),
    Row(
        "cases",
        4,
        "rows cannot be read and are left out (`--skip-unreadable`)",
        _jury(_SKIPPING.format("cases"), _damaged),
    ),
    Row("list", 0, "listed, also where there is nothing to list", _jury("list --where tags=none")),
    Row("list", 2, "no such run", _jury("list --run none")),
    Row("show", 0, "shown", _jury("show r1~leak")),
    Row("show", 2, "no such debate", _jury("show none")),
    Row("show", 5, "the debate was altered", _jury("show r1~leak", _altered)),
    Row("review", 0, "recorded, or printed; or the session came to its end", _jury(f"{_REVIEW} r1~leak")),
    Row("review", 2, "no such debate, or it cannot be reviewed so", _jury(f"{_REVIEW} none")),
    Row("runs", 0, "listed, also where there is no run", _jury("runs")),
    Row("watch", 0, "printed to the end, or stdout was closed", _jury("watch r1~leak")),
    Row("watch", 2, "no such debate or run", _jury("watch none")),
    Row("watch", 5, "a debate was altered", _jury("watch r1~leak", _altered)),
    Row("resume", 0, "every listed case is judged", _jury("resume r1")),
    Row("resume", 2, "no such run, or it was not listed in this store", _jury("resume none")),
    Row(
        "cancel",
        0,
        "no debate of the run is left that began and is not over; what waits is not judged",
        _jury("cancel r1"),
    ),
    Row("cancel", 2, "no such run, or another process writes to the store", _jury("cancel none")),
    Row("serve", 0, "ended with Ctrl-C", _interrupted("serve --port 0", said=b"http://")),
    Row("serve", 2, "it cannot serve as it is asked to", _jury("serve --host none.invalid --port 0")),
    Row(
        "mcp",
        0,
        "its input ended, or over HTTP Ctrl-C came",
        _interrupted("mcp --http --port 0", said=b"http://"),
    ),
    Row("mcp", 2, "it cannot serve as it is asked to", _jury("mcp --max-cost 1")),
    Row("mcp", 130, "Ctrl-C while the client's input is open", _mcp_with_an_open_input),
    Row("compare", 0, "compared", _jury("compare r1 r2", _another_run)),
    Row(
        "compare",
        1,
        "with `--fail-on flips`: a case ended otherwise",
        _jury("compare r1 r2 --fail-on flips", _another_run),
    ),
    Row("compare", 2, "no such debate or run", _jury("compare r1 none")),
    Row("votes", 0, "written", _jury("votes votes.csv -o votes.parquet", _votes)),
    Row(
        "votes", 2, "the votes cannot be read, or the file is not to be replaced", _jury("votes none.csv -o v.parquet")
    ),
    Row("stats", 0, "printed; a figure that cannot be had has a reason", _jury("stats --all --include-simulated")),
    Row("stats", 2, "there are no such votes, or they cannot be read or pooled", _jury("stats --run none")),
    Row("stats", 2, "the packages of `jury-judge[stats]` are not installed", _without_packages("stats --all")),
    Row("value", 0, "printed; a figure that cannot be had has a reason", _jury("value --all --include-simulated")),
    Row("value", 2, "there are no such votes, or they cannot be read or pooled", _jury("value --run none")),
    Row("value", 2, "the packages of `jury-judge[stats]` are not installed", _without_packages("value --all")),
    Row("probe", 0, "judged and reported, whatever was found", _jury(f"{_PROBE} --include-simulated")),
    Row(
        "probe",
        1,
        "with `--fail-on-finding`: a probe found something",
        _jury(f"{_PROBE} --include-simulated --tolerate 0 --fail-on-finding"),
    ),
    Row(
        "probe",
        2,
        "there are no such cases, probes or run, no case has a twin, or the panel cannot take a probe",
        _jury("probe cases.jsonl --probe none"),
    ),
    Row("probe", 2, "the packages of `jury-judge[stats]` are not installed", _without_packages("probe --run r1")),
    Row(
        "probe",
        3,
        "reported, but a debate ended without a quorum or a verdict",
        _jury(f"{_PROBE} --include-simulated {_LOST}"),
    ),
    Row(
        "probe",
        4,
        "something is left to judge, for the reasons of `run`; nothing is reported",
        _jury(f"{_PROBE} --include-simulated --max-calls 2"),
    ),
    Row(
        "probe",
        130,
        "interrupted, as `run`",
        _interrupted(f"{_PROBE} --include-simulated --run p3 --simulate latency=3", said=b"simulated"),
    ),
    Row("drift", 0, "planned, judged, shown; or a check that found nothing", _jury("drift list")),
    Row(
        "drift",
        1,
        "a check found that the judge changed, or the agent or its traffic, or that one of them did",
        _jury("drift check d --in-process --simulate answers=scripted", _baseline),
    ),
    Row(
        "drift",
        2,
        "no such baseline, a case without a label, no draws left, or another panel",
        _jury("drift check none"),
    ),
    Row(
        "drift",
        4,
        "something is left to judge, for the reasons of `run`, or a check was cancelled; the same command goes on",
        _jury("drift check d --in-process --max-calls 2", _baseline),
    ),
    Row(
        "drift",
        130,
        "interrupted, as `run`",
        _interrupted("drift baseline d2 anchors.jsonl --simulate latency=3", said=b"simulated", before=_anchors),
    ),
    Row("calibrate", 0, "a threshold is certified", _jury(_CALIBRATE.format(risk=0.05), _votes)),
    Row("calibrate", 2, "too few labels, or no such votes", _jury(_CALIBRATE.format(risk=0.01), _votes)),
    Row("calibrate", 2, "the packages of `jury-judge[stats]` are not installed", _without_packages("calibrate --all")),
    Row("calibrate", 6, "no threshold can be certified", _jury(_CALIBRATE.format(risk=0.03), _votes)),
    Row(
        "calibrate", 0, "a stage of a ladder may accept verdicts (`--stages`)", _jury(_LADDER.format(risk=0.1), _votes)
    ),
    Row(
        "calibrate",
        2,
        "the stages of a ladder judged different cases, or under a calibration",
        _jury("calibrate votes.csv --stages a;b --risk pass=0.1", _other_votes),
    ),
    Row("calibrate", 6, "no stage of a ladder may accept any verdict", _jury(_LADDER.format(risk=0.03), _votes)),
    Row("gate", 0, "pass: the harm is within the margin; or planned", _jury(f"gate {_GATED} unsafe_fail", _two_judges)),
    Row(
        "gate",
        1,
        "fail: there is harm, and it may be larger than the margin",
        _jury(f"gate {_GATED} safe_pass", _two_judges),
    ),
    Row("gate", 2, "no such run, judge or metric, or the two cannot be paired", _jury("gate r1 none")),
    Row(
        "gate",
        6,
        "inconclusive: the cases do not decide it; `--inconclusive` makes it 0 or 1",
        _jury("gate r1 r1 --include-simulated"),
    ),
    Row("fork", 0, "the branch ended", _jury(_FORK)),
    Row("fork", 2, "no such debate or event", _jury("fork none --at 1 --in-process")),
    Row("fork", 3, "the branch ended without a quorum or a verdict", _jury(f"{_ANEW} unparseable=1")),
    Row("fork", 4, "the branch could not go on", _jury(f"{_ANEW} quota=1")),
    Row("fork", 5, "the debate that it branches off was altered", _jury(_FORK, _altered)),
    Row("verify", 0, "nothing was altered", _jury("verify --all")),
    Row("verify", 2, "no such debate: nothing of it is stored", _jury("verify r1~none")),
    Row("verify", 5, "something was altered", _jury("verify --all", _altered)),
    Row("seal", 0, "done", _jury("seal list", _sealed)),
    Row("seal", 2, "no such seal, key or debate", _jury("seal show")),
    Row("seal", 4, "a witness or authority cannot be asked", _jury("seal timestamp http://127.0.0.1:1/", _sealed)),
    Row("seal", 5, "the log is not the one that the key signed last", _jury("seal now --key k", _cut_off)),
    Row("replay", 0, "every debate comes out equal", _jury("replay --all")),
    Row("replay", 2, "no such debate or run", _jury("replay none")),
    Row("replay", 5, "a debate comes out otherwise, or cannot be read", _jury("replay --all", _undecodable)),
    Row("rescore", 0, "rescored", _jury("rescore --all --set threshold=1.0")),
    Row(
        "rescore",
        1,
        "with `--fail-on-flip`: a verdict changes",
        _jury("rescore --all --recount --set method=median --set bands=100/99 --fail-on-flip"),
    ),
    Row("rescore", 2, "no such debate, run or setting", _jury("rescore none --set threshold=1.0")),
    Row("rescore", 5, "a debate cannot be read", _jury("rescore --all --set threshold=1.0", _undecodable)),
    Row("regress", 0, "everything comes out as recorded or accepted", _jury("regress corpus", _corpus)),
    Row("regress", 1, "something comes out otherwise", _jury("regress corpus", _changed_corpus)),
    Row("regress", 2, "no such folder or cassette", _jury("regress none")),
    Row("regress", 5, "a cassette cannot be read", _jury("regress corpus", _cut_corpus)),
    Row("export", 0, "written", _jury("export --run r1 -o corpus")),
    Row("export", 2, "no such debate or run, or the place is taken", _jury("export none")),
    Row("export", 4, "the tool that takes scores refuses or does not answer", _export_to_nothing),
    Row("export", 5, "a debate was altered; the others are written", _jury("export --run r1 -o corpus", _altered)),
    Row("import", 0, "imported, or there already", _jury("import corpus", _corpus)),
    Row("import", 2, "no such file or folder", _jury("import none")),
    Row("import", 5, "a cassette was refused; the others are imported", _jury("import corpus", _cut_corpus)),
    Row("erase", 0, "erased, or nothing was left to erase", _jury(f"erase r1~leak {_ERASE}")),
    Row("erase", 2, "no such debate, exchange or case", _jury(f"erase none {_ERASE}")),
    Row("erase", 4, "a reader keeps the bytes in the database's files; call it again", _text_that_stays),
    Row("erase", 130, "asked, and declined", _asked_and_declined),
    Row("panel", 0, "printed", _jury("panel current")),
    Row("panel", 0, "with `--check`: nothing is refused; there may be notes", _jury("panel --check m.yaml", _scale)),
    Row("panel", 2, "no such panel", _jury("panel none")),
    Row("panel", 2, "with `--check`: the panel, or a meaning, is refused", _jury("panel --check m.yaml", _bad_scale)),
    Row("simulate", 0, "ended with Ctrl-C", _interrupted("simulate --port 0", said=b"serving at")),
    Row("simulate", 2, "it cannot serve as it is asked to", _jury("simulate --fault boom=1")),
    Row("db", 0, "done", _jury("db check")),
    Row("db", 2, "no such debate", _jury("db quarantine none --by me --reason asked")),
    Row("db", 5, "with `check`: the schema is not the declared one", _jury("db check", _guardless)),
    Row("doctor", 0, "nothing is in the way", _jury("doctor")),
    Row("doctor", 2, "a problem was found", _jury("doctor --panel none")),
    Row("doctor", 4, "with `--probe`: a model does not answer", _unanswered_probe),
    Row("completion", 0, "the script was printed", _jury("completion bash")),
    Row("completion", 2, "the shell is not known", _jury("completion tcsh")),
)
