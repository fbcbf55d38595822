"""The second verifier: one file, none of our code, and the same answer as ours."""

import ast
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import pytest

from jury_events import AnyEvent, LocalEvent, PartRef, Value
from jury_replay import Provenance, auditor, signing, write_cassette
from jury_store import Append, EventStore, MemoryEventStore, SealKey
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
from support.debates import DebateScript
from support.refusals import RefusalTables
from support.weak_keys import vkey, weak_keys

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


def audited(folder: Path, calls: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, str]]:
    """Exit code and output of each call, of a copy of the file that runs in the folder without our packages."""
    (folder / "auditor.py").write_bytes(SOURCE.read_bytes())
    (site := folder / "site").mkdir()
    for name in ("cryptography", "cffi", "_cffi_backend"):
        found = find_spec(name)
        if found is not None and found.origin is not None:
            place = Path(found.origin).parent if found.submodule_search_locations else Path(found.origin)
            (site / place.name).symlink_to(place)
    command = [sys.executable, "-I", "-S", "-c", _DRIVER, str(site), json.dumps([*calls.values()])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    said, ours = json.loads(done.stdout)
    assert ours == []
    return {name: (code, out) for name, (code, out) in zip(calls, said, strict=True)}


OTHER = SealKey("example.com/other", bytes([7]) * 32)
ANOTHER = SealKey("example.com/jury", bytes(31) + b"\1").public.line
MINE = ("--key", KEY.public.line)


@cache
def store() -> EventStore:
    return sealed_store()


@cache
def whole() -> bytes:
    return out_of(store())


def with_note(cassette: bytes, change: Callable[[str], str]) -> bytes:
    """A cassette with another note of its seal."""
    lines = cassette.splitlines(keepends=True)
    value = json.loads(lines[-1])
    return with_its_hash([*lines[:-1], canonical_line({**value, "note": change(value["note"])})])


def signed_by(*keys: SealKey) -> bytes:
    """The cassette with a note that these keys signed."""

    def signed(note: str) -> str:
        text = note.rpartition("\n\n")[0] + "\n"
        coded = [(key.public.name, b64encode(key.public.key_id + key.sign(text.encode())).decode()) for key in keys]
        return text + "\n" + "".join(f"\u2014 {name} {one}\n" for name, one in coded)

    return with_note(whole(), signed)


def with_the_signature_of_another_note() -> bytes:
    longer = sealed_store()
    record_debate(longer, "more", seed=9)
    seal(longer)
    theirs = longer.seals()[-1].note.decode().rpartition("\n\n")[2]
    return with_note(whole(), lambda note: f"{note.rpartition(chr(10) * 2)[0]}\n\n{theirs}")


def rewritten() -> bytes:
    log = MemoryEventStore()
    for number, name in enumerate(("other", "d", "last"), 4):
        record_debate(log, name, seed=number)
    seal(log)
    return out_of(log)


def with_the_seal_of_another_log_of_one_event() -> bytes:
    """Where the proof has no hash, the event itself is the root."""
    lines = []
    for seed in (1, 2):
        log, script = MemoryEventStore(), DebateScript("d", seed=seed)
        log.append([Append(script.stream, (script.opened(),), 0, 1)])
        seal(log)
        lines.append(out_of(log).splitlines(keepends=True))
    return with_its_hash([*lines[0][:-1], lines[1][-1]])


def with_an_erasure_after_the_seal() -> bytes:
    log = sealed_store()
    erase_text(log, "d", b"because")
    return out_of(log)


def with_lengths(key: SealKey) -> bytes:
    (history,) = store().histories(["d"])
    return write_cassette(history, Provenance(store()).seal_of(history), signing(key, lambda: 1_700_000_000_000_000))


def with_another_body(change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    lines = a_cassette().splitlines(keepends=True)
    return with_its_hash(second_call(lines, change(json.loads(json.loads(lines[7])["body"]))))


def with_a_second_message(body: dict[str, Any]) -> dict[str, Any]:
    first = body["request"][0]
    return {**body, "request": [first, {**first, "more": 1}]}


def in_usage(change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    return with_another_body(lambda body: {**body, "usage": change(body["usage"])})


def audits() -> dict[str, tuple[bytes, tuple[str, ...]]]:
    return {
        "an intact cassette": (a_cassette(), ()),
        "one that was cut": (a_cassette()[:-1], ()),
        "a store": (b"SQLite format 3\0 and more", ()),
        "a field of the usage less": (in_usage(lambda usage: {k: usage[k] for k in usage if k != "cache_writes"}), ()),
        "a field of a call less": (with_another_body(lambda body: {k: body[k] for k in body if k != "waited_ms"}), ()),
        "a field more": (with_another_body(lambda body: {**body, "settings": {**body["settings"], "more": 1}}), ()),
        "a field more in the second of a list": (with_another_body(with_a_second_message), ()),
        "too large a number": (in_usage(lambda usage: {**usage, "input_tokens": 2**63}), ()),
        "a seal, its key in a file, and a checkpoint": (whole(), ("--key", "key.pub", "--checkpoint", "note")),
        "a key among others": (whole(), ("--key", f"{ANOTHER}\n{KEY.public.line}")),
        "another key of that name": (whole(), ("--key", ANOTHER)),
        "a key that is none": (whole(), ("--key", "nonsense")),
        "a seal signed in another name": (signed_by(OTHER), ()),
        "a seal signed in both names": (signed_by(KEY, OTHER), MINE),
        "a seal signed in both names, the other key": (signed_by(KEY, OTHER), ("--key", OTHER.public.line)),
        "a signature of something else": (with_the_signature_of_another_note(), ()),
        "a signature of something else, with the key": (with_the_signature_of_another_note(), MINE),
        "a log written anew, and the checkpoint that was kept": (rewritten(), (*MINE, "--checkpoint", "note")),
        "the seal of another log of one event": (with_the_seal_of_another_log_of_one_event(), ()),
        "events after the seal": (with_an_erasure_after_the_seal(), ()),
        "events after the seal, with the key": (with_an_erasure_after_the_seal(), MINE),
        "signed lengths": (with_lengths(KEY), MINE),
        "lengths that a stranger signed": (with_lengths(OTHER), MINE),
    }


CORPUS_FILES = sorted((Path(__file__).parent.parent / "corpus").glob("*.cassette.jsonl"))


@pytest.fixture(scope="module", params=[131, pytest.param(13, marks=pytest.mark.long)])
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """What one process says of all of them; a byte of so many is flipped."""
    folder = tmp_path_factory.mktemp("audited")
    (folder / "key.pub").write_text(KEY.public.line + "\n")
    (folder / "note").write_bytes(store().seals()[-1].note)
    weak = [vkey("example.com/jury", raw) for raw in weak_keys()]
    files = {
        **{f"audit {name}": row for name, row in audits().items()},
        **{f"spoilt {one.name}": (one.bytes(), ()) for one in (*SPOILINGS, *SEAL_SPOILINGS)},
        **{f"weak {number}": (whole(), ("--key", f"{line}\n{KEY.public.line}")) for number, line in enumerate(weak)},
        **{
            f"flipped {at}": (whole()[:at] + bytes([whole()[at] ^ 2]) + whole()[at + 1 :], ())
            for at in range(0, len(whole()), request.param)
        },
    }
    calls = {f"corpus {path.name}": [str(path)] for path in CORPUS_FILES}
    for number, (name, (content, options)) in enumerate(files.items()):
        (folder / f"{number}").write_bytes(content)
        calls[name] = [f"{number}", *options]
    return audited(folder, calls)


def said_of(answers: Mapping[str, tuple[int, str]], kind: str) -> dict[str, tuple[int, str]]:
    return {name.removeprefix(f"{kind} "): one for name, one in answers.items() if name.startswith(f"{kind} ")}


def test_it_says_what_it_checked_and_what_not(answers: Mapping[str, tuple[int, str]], printed: RefusalTables) -> None:
    said = said_of(answers, "audit")

    printed.compare("audits", {name: f"exit code {code}\n{out}".rstrip() for name, (code, out) in said.items()})


def test_it_passes_the_debates_of_the_corpus(answers: Mapping[str, tuple[int, str]]) -> None:
    assert {path.name: 0 for path in CORPUS_FILES} == {
        name: code for name, (code, _) in said_of(answers, "corpus").items()
    }
    assert len(CORPUS_FILES) > 10


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("spoilt", "WRONG"),
        ("flipped", "WRONG"),
        ("weak", "WRONG the key example.com/jury has a small order, so anyo"),
    ],
)
def test_it_refuses_what_the_reader_refuses(answers: Mapping[str, tuple[int, str]], kind: str, says: str) -> None:
    said = said_of(answers, kind)

    assert len(said) > 5
    assert {} == {name: one for name, one in said.items() if one[0] != 1 or says not in one[1]}


def test_it_knows_the_fields_of_every_event_of_every_schema() -> None:
    golden = Path(__file__).parent.parent / "events" / "golden"

    for path in golden.iterdir():
        name = path.name.partition(".")[0]
        if not name.startswith(("debate_imported", "debate_quarantined", "debate_released", "scores_export")):
            auditor.check_fields(name, json.loads(path.read_bytes()), path.name)


@pytest.mark.parametrize(
    ("first", "number", "votes", "says"),
    [
        (2, 2, ["p"], None),
        (0, 2, ["p"], "draws that are not the next ones"),
        (2, 1, ["p"], "a check ends that did not begin"),
        (2, 2, ["p", "p"], "other votes than pairs"),
        (4, 2, ["p"], "draws that are not the next ones"),
    ],
)
def test_it_refuses_a_baseline_of_which_a_draw_is_used_twice(
    first: int, number: int, votes: list[str], says: str | None
) -> None:
    def check(number: int, first: int) -> dict[str, Any]:
        pairs = [{"anchor": 0, "first": first, "used": 2}]
        return {"type": "check_opened", "number": number, "pairs": pairs, "repeats": 1}

    bodies = [
        {"type": "drift_opened", "anchors": ["a"]},
        *({"type": "draws_judged", "votes": ["p"]} for _ in range(4)),
        check(1, 0),
        {"type": "check_ended", "number": 1, "votes": ["p"]},
        check(2, first),
        {"type": "check_ended", "number": number, "votes": votes},
    ]

    if says is None:
        assert 2 == auditor.check_pairs(bodies)
    else:
        with pytest.raises(auditor.Wrong, match=says):
            auditor.check_pairs(bodies)


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
    assert sum(bool(line.strip()) for line in source.splitlines()) - len(table) < 425


def values_in(annotation: Any) -> Iterator[type[Value]]:
    """The classes of values that a field may have."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        yield annotation
    for one in get_args(annotation):
        yield from values_in(one)


def collect(name: str, value: type[Value], seen: set[tuple[str, type[Value]]]) -> None:
    """Every class of values that stands in an event, with the names of its fields there."""
    if (name, value) not in seen:
        seen.add((name, value))
        for field, info in value.model_fields.items():
            for one in values_in(info.annotation):
                collect(field, one, seen)


def fields_of(value: type[Value]) -> list[str]:
    """Those that every body has, and then, with ?, those that are left out where they are None."""
    optional = {name for name, info in value.model_fields.items() if NoneType in get_args(info.annotation)}
    return [*sorted(value.model_fields.keys() - optional), *(f"{name}?" for name in sorted(optional))]


def test_its_table_of_fields_is_what_the_classes_of_the_events_say(refusals: RefusalTables) -> None:
    """Events of the streams `local/` are in no cassette."""
    seen: set[tuple[str, type[Value]]] = set()
    for event in {*get_args(AnyEvent)} - {*get_args(LocalEvent)}:
        collect(event.model_fields["type"].default, event, seen)
    lines = {" ".join([name, *fields_of(value)]) for name, value in seen if value is not PartRef}

    assert len(lines) > 60
    refusals.compare_block(SOURCE, 'FIELDS = """', '"""  # noqa: E501', sorted(lines))
