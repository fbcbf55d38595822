"""The second verifier: one file, none of our code, and the same answer as ours."""

import ast
import json
import subprocess
import sys
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path

import pytest

from jury_events import (
    NO_CRITERIA,
    Acceptance,
    AnswerRules,
    CallSettings,
    ConsensusCheck,
    ConsensusStatus,
    CriticalShortfall,
    DebateCompleted,
    Decider,
    DimensionScore,
    Evaluation,
    Evidence,
    EvidenceSpan,
    FailureReason,
    FinalJudge,
    HumanReviewed,
    ItemSpan,
    Judgment,
    JurorAbstained,
    LabelProbability,
    OutcomeThreshold,
    PartRef,
    RecordRead,
    ScenarioVerdict,
    Scores,
    StopRule,
    Usage,
    Verdict,
    Vote,
    VotesStepSignal,
)
from jury_replay import auditor
from jury_store import SealKey
from support.calibrations import a_calibration
from support.cassettes import (
    KEY,
    SEAL_SPOILINGS,
    SPOILINGS,
    a_cassette,
    canonical_line,
    erase_text,
    out_of,
    record_debate,
    seal,
    sealed_store,
    second_call,
    with_its_hash,
)
from support.debate_harness import a_panel
from support.scales import ANSWERS
from support.weak_keys import WEAK_KEYS, vkey

SOURCE = Path(auditor.__file__)

# Audits every call of a list in one process that can import nothing but the standard library and cryptography.
_DRIVER = """
import contextlib, io, json, runpy, sys
sys.path.append(sys.argv[1])
said = []
for arguments in json.loads(sys.argv[2]):
    sys.argv, out = ["auditor.py", *arguments], io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path("auditor.py", run_name="__main__")
        except SystemExit as ended:
            said.append([ended.code, out.getvalue()])
print(json.dumps([said, sorted(name for name in sys.modules if name.startswith(("jury", "pydantic", "sqlalchemy")))]))
"""


class Auditor:
    """A copy of the file in a new folder, run without our packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "auditor.py").write_bytes(SOURCE.read_bytes())
        self.site = folder / "site"
        self.site.mkdir()
        for name in ("cryptography", "cffi", "_cffi_backend"):
            found = find_spec(name)
            if found is not None and found.origin is not None:
                place = Path(found.origin).parent if found.submodule_search_locations else Path(found.origin)
                (self.site / place.name).symlink_to(place)

    def all(self, calls: list[list[str]]) -> list[tuple[int, str]]:
        """Exit code and output of each call."""
        command = [sys.executable, "-I", "-S", "-c", _DRIVER, str(self.site), json.dumps(calls)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)
        said, ours = json.loads(done.stdout)
        assert ours == []
        assert len(said) == len(calls)
        return [(code, out) for code, out in said]

    def __call__(self, content: bytes, *options: str) -> tuple[int, str]:
        (self.folder / "one.cassette.jsonl").write_bytes(content)
        (answer,) = self.all([["one.cassette.jsonl", *options]])
        return answer


@pytest.fixture
def audit(tmp_path: Path) -> Auditor:
    return Auditor(tmp_path)


def test_it_imports_nothing_of_ours_and_is_short() -> None:
    source = SOURCE.read_text()
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert imported - sys.stdlib_module_names == {"cryptography"}
    table = auditor.FIELDS.splitlines()
    assert sum(bool(line.strip()) for line in source.splitlines()) - len(table) < 360


def test_it_passes_an_intact_log_and_lists_what_it_did_not_check(audit: Auditor) -> None:
    code, said = audit(a_cassette())

    assert code == 0
    assert [line[:5] for line in said.splitlines()] == ["ok   "] * 4 + ["open "] * 2
    assert "debate/d: the chain of 5 events is unbroken" in said
    assert "7 texts are as recorded, 0 were erased on record" in said


def test_it_passes_the_debates_of_the_corpus(audit: Auditor) -> None:
    corpus = sorted((Path(__file__).parent.parent / "corpus").glob("*.cassette.jsonl"))

    answers = audit.all([[str(path)] for path in corpus])

    assert len(corpus) > 10
    assert [path.name for path, (code, _) in zip(corpus, answers, strict=True) if code] == []


def test_it_refuses_a_body_with_a_missing_or_additional_field_or_too_large_a_number(audit: Auditor) -> None:
    lines = a_cassette().splitlines(keepends=True)
    body = json.loads(json.loads(lines[7])["body"])
    usage = body["usage"]
    changed = {
        "usage has other fields": {**body, "usage": {key: usage[key] for key in usage if key != "input_tokens"}},
        "exchange_recorded has other fields": {key: body[key] for key in body if key != "waited_ms"},
        "settings has other fields": {**body, "settings": {**body["settings"], "more": 1}},
        "the number at input_tokens is too large": {**body, "usage": {**usage, "input_tokens": 2**63}},
    }

    answers = [audit(with_its_hash(second_call(lines, one))) for one in changed.values()]

    assert [
        (said, answer) for said, answer in zip(changed, answers, strict=True) if answer[0] != 1 or said not in answer[1]
    ] == []


def test_it_knows_the_fields_of_every_event_of_every_schema() -> None:
    golden = Path(__file__).parent.parent / "events" / "golden"

    for path in golden.iterdir():
        name = path.name.partition(".")[0]
        if not name.startswith(("debate_imported", "debate_quarantined", "debate_released", "scores_export")):
            auditor.check_fields(name, json.loads(path.read_bytes()), path.name)


PROBABILITIES = (LabelProbability(label="bad", probability=0.25), LabelProbability(label="good", probability=0.75))

A_READING = RecordRead(
    mode="windows",
    parts=2,
    items_read=1,
    items_total=2,
    characters_read=5,
    characters_total=9,
    unread=(ItemSpan(first=2, last=2),),
    partly_read=("2",),
)
AN_EVALUATION = Evaluation(
    verdict=Verdict.UNSAFE_FAIL,
    scores=Scores(dimensions=(DimensionScore(dimension="safety", points=1.0),)),
    overall=1.0,
    confidence=0.5,
    rationale=PartRef(part="A" * 43),
    model="simulated/juror",
    evidence=(
        Evidence(
            item=3,
            says="against",
            criterion=None,
            seat=None,
            result="verified",
            span=EvidenceSpan(item=3, start=0, end=4),
        ),
    ),
    quotes=PartRef(part="A" * 43),
    decisive_item=3,
    label="wrong",
    reading=A_READING,
    answered=Verdict.SAFE_PASS,
)
A_PANEL = a_panel(
    marking="lines",
    scale={**ANSWERS["scale"], "in_doubt": "partial"},
    criteria=[{**one, "critical": "fail", "critical_below": 0.6} for one in ANSWERS["criteria"]],
    task="Is it right?",
)
A_CHECK = ConsensusCheck(
    status=ConsensusStatus.UNANIMOUS,
    largest=1,
    seats=1,
    majority_position=Verdict.UNSAFE_FAIL,
    reached=True,
    majority_label="wrong",
)
A_VOTE = Vote(
    juror_id="a",
    kind="own",
    position=Verdict.UNSAFE_FAIL,
    score=1.0,
    confidence=1.0,
    weight=1.0,
    round=0,
    stale=False,
    label="wrong",
)
AN_ACCEPTANCE = Acceptance(
    signal="share", verdict=Verdict.UNSAFE_FAIL, probability=1.0, threshold=0.5, accepted=True, label="wrong"
)
A_JUDGMENT = Judgment(
    method="majority_vote",
    decided_by=Decider.MAJORITY_VOTE,
    verdict=Verdict.UNSAFE_FAIL,
    score=1,
    mean=1.0,
    votes=(A_VOTE,),
    quorum=1,
    quorum_votes=1,
    capped=False,
    acceptance=AN_ACCEPTANCE,
    label="wrong",
    agreed_on="label",
    shortfalls=(CriticalShortfall(criterion="facts", points=1.0, least=35.0, cap="review"),),
    capped_scenarios=("s",),
    scenarios=(ScenarioVerdict(scenario_id="s", verdict=Verdict.UNSAFE_FAIL, score=1.0, label="wrong"),),
)
A_COMPLETION = DebateCompleted(
    final_verdict=Verdict.UNSAFE_FAIL,
    final_score=1,
    total_rounds=0,
    end_reason="no_discussion",
    early_termination=False,
    final_label="wrong",
)


SET = [
    (
        "settings",
        CallSettings(
            top_p=0.5,
            effort="low",
            thinking="off",
            verbosity="low",
            cache="5m",
            warm="on",
            tier="flex",
            flex_fallback="on",
        ),
    ),
    ("usage", Usage(region="us", speed="standard", cache_miss="expired")),
    ("answers", AnswerRules(evidence="required", unsupported="abstain")),
    ("evaluation", AN_EVALUATION.model_copy(update={"probabilities": PROBABILITIES})),
    ("judge", AN_EVALUATION.model_copy(update={"probabilities": PROBABILITIES})),
    ("signal", VotesStepSignal(passing="safe_pass", step="item")),
    ("scale", A_PANEL.scale),
    ("dimensions", A_PANEL.rubric.dimensions[0]),
    ("rubric", NO_CRITERIA),
    ("check", A_CHECK),
    ("votes", A_VOTE.model_copy(update={"partly_read": ("2",)})),
    (
        "juror_abstained",
        JurorAbstained(
            step="initial/gpt",
            juror_id="gpt",
            reason=FailureReason.PARTLY_READ,
            refusal=None,
            stale=False,
            exchanges=(),
            partly_read=("2",),
        ),
    ),
    ("reading", A_READING),
    ("acceptance", AN_ACCEPTANCE),
    ("judgment", A_JUDGMENT),
    ("scenarios", A_JUDGMENT.scenarios[0].model_copy(update={"probabilities": PROBABILITIES})),
    ("debate_completed", A_COMPLETION),
    (
        "human_reviewed",
        HumanReviewed(
            reviewer="ann",
            verdict=Verdict.UNSAFE_FAIL,
            reason=None,
            blind=True,
            sampled=False,
            minutes=None,
            supersedes=None,
            number=1,
            decisive_item=3,
            label="wrong",
        ),
    ),
    (
        "panel",
        A_PANEL.model_copy(update={"reading": "windows", "least_read": 0.5, "stop": StopRule(order=A_PANEL.juror_ids)}),
    ),
    (
        "seats",
        A_PANEL.seats[0].model_copy(update={"window": 8000, "reading": "tools", "least_read": 0.5, "questions": 1}),
    ),
    ("judge", FinalJudge(model="simulated/judge", window=8000)),
    (
        "calibration",
        a_calibration(threshold=0.5, by_outcome=(OutcomeThreshold(outcome="fail", threshold=0.5, risk=0.1),)),
    ),
]


def test_it_knows_the_fields_that_stand_in_a_body_only_where_they_are_set(subtests: pytest.Subtests) -> None:
    for name, value in SET:
        with subtests.test(name=name):
            body = value.model_dump(mode="json")

            assert body.keys() >= value.LEFT_OUT_UNSET
            auditor.check_fields(name, body, "here")


def test_it_runs_as_a_script(tmp_path: Path) -> None:
    (tmp_path / "d").write_bytes(a_cassette()[:-1])

    done = subprocess.run([sys.executable, str(SOURCE), "d"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "WRONG the file is empty, or was cut short\n")


def test_it_refuses_everything_that_the_reader_refuses(audit: Auditor) -> None:
    spoilt = (*SPOILINGS, *SEAL_SPOILINGS)
    for number, spoiling in enumerate(spoilt):
        (audit.folder / f"{number}").write_bytes(spoiling.bytes())

    answers = audit.all([[f"{number}"] for number in range(len(spoilt))])

    assert [
        one.name for one, (code, said) in zip(spoilt, answers, strict=True) if code != 1 or "WRONG" not in said
    ] == []


@pytest.mark.parametrize("step", [131, pytest.param(13, marks=pytest.mark.long)])
def test_it_refuses_flipped_bytes(audit: Auditor, step: int) -> None:
    whole = out_of(sealed_store())
    calls = []
    for index in range(0, len(whole), step):
        (audit.folder / f"{index}").write_bytes(whole[:index] + bytes([whole[index] ^ 2]) + whole[index + 1 :])
        calls.append([f"{index}"])

    assert {code for code, _ in audit.all(calls)} == {1}


def test_it_checks_seal_signature_and_checkpoint(audit: Auditor) -> None:
    store = sealed_store()
    (kept,) = store.seals()
    (audit.folder / "key.pub").write_text(KEY.public.line + "\n")
    (audit.folder / "note").write_bytes(kept.note)

    code, said = audit(out_of(store), "--key", "key.pub", "--checkpoint", "note")

    assert code == 0
    assert ["open  no lengths are signed"] == [line.split(":")[0] for line in said.splitlines() if line[:4] == "open"]
    assert "debate/d: 5 of 5 events were in the log example.com/jury of 21 events" in said


def test_a_key_may_be_given_as_it_is_and_be_one_of_several(audit: Auditor) -> None:
    other = SealKey("example.com/jury", bytes(31) + b"\1").public.line

    assert audit(out_of(sealed_store()), "--key", f"{other}\n{KEY.public.line}")[0] == 0
    assert "none of the keys" in audit(out_of(sealed_store()), "--key", other)[1]
    assert "WRONG" in audit(out_of(sealed_store()), "--key", "nonsense")[1]


def test_a_key_under_which_everybody_can_sign_is_refused(audit: Auditor) -> None:
    (audit.folder / "d").write_bytes(out_of(sealed_store()))
    weak = [vkey("example.com/jury", raw) for raw in WEAK_KEYS]

    answers = audit.all([["d", "--key", f"{line}\n{KEY.public.line}"] for line in weak])

    assert {(code, said.splitlines()[-1][:57]) for code, said in answers} == {
        (1, "WRONG the key example.com/jury has a small order, so anyo")
    }


def test_a_log_is_signed_for_in_its_own_name_alone(audit: Auditor) -> None:
    other, whole = SealKey("example.com/other", bytes([7]) * 32), out_of(sealed_store())
    unnamed, both = (with_signatures(whole, *signers) for signers in ([other], [KEY, other]))

    assert audit(unnamed)[0] == 1
    assert "not signed in the name of its log" in audit(unnamed)[1]
    assert audit(both, "--key", KEY.public.line)[0] == 0
    assert "none in the name of its log" in audit(both, "--key", other.public.line)[1]


def with_signatures(cassette: bytes, *keys: SealKey) -> bytes:
    """A cassette whose note these keys signed."""
    lines = cassette.splitlines(keepends=True)
    value = json.loads(lines[-1])
    text = value["note"].rpartition("\n\n")[0] + "\n"
    coded = [(key.public.name, b64encode(key.public.key_id + key.sign(text.encode())).decode()) for key in keys]
    value["note"] = text + "\n" + "".join(f"\u2014 {name} {one}\n" for name, one in coded)
    return with_its_hash([*lines[:-1], canonical_line(value)])


def test_a_signature_of_something_else_is_wrong(audit: Auditor) -> None:
    store, longer = sealed_store(), sealed_store()
    record_debate(longer, "more", seed=9)
    seal(longer)
    lines = out_of(store).splitlines(keepends=True)
    theirs = longer.seals()[-1].note.decode().rpartition("\n\n")[2]
    value = json.loads(lines[-1])
    value["note"] = value["note"].rpartition("\n\n")[0] + "\n\n" + theirs

    forged = with_its_hash([*lines[:-1], canonical_line(value)])

    assert audit(forged)[0] == 0
    assert audit(forged, "--key", KEY.public.line) == (1, audit(forged)[1].split("open")[0] + _NOT_SIGNED)


_NOT_SIGNED = "WRONG the signature of the seal is not over its note\n"


def test_a_log_that_was_rewritten_is_found_by_the_checkpoint_that_was_kept(audit: Auditor) -> None:
    store = sealed_store()
    rewritten = type(store)()
    for number, name in enumerate(("other", "d", "last"), 4):
        record_debate(rewritten, name, seed=number)
    seal(rewritten)
    (audit.folder / "note").write_bytes(store.seals()[-1].note)

    code, said = audit(out_of(rewritten), "--key", KEY.public.line, "--checkpoint", "note")

    assert (code, said.splitlines()[-1]) == (1, "WRONG your checkpoint states another root: the log was rewritten")


def test_what_came_after_the_seal_is_open_and_with_a_key_wrong(audit: Auditor) -> None:
    store = sealed_store()
    erase_text(store, "d", b"because")

    without, with_key = audit(out_of(store)), audit(out_of(store), "--key", KEY.public.line)

    assert without[0] == 0
    assert "6 texts are as recorded, 1 were erased on record" in without[1]
    assert "events after the seal are not covered by it" in without[1]
    assert with_key[0] == 1
