"""Check a cassette of a recorded debate without trusting the software that wrote it.

    python auditor.py CASSETTE [--key PUBLIC_KEY] [--checkpoint NOTE]

This one file needs Python 3.11 and the package `cryptography`; it shares nothing with Jury Judge but the format, which
docs/cassettes.md and docs/log-format.md define. It prints a line for each check, passed or not
possible, and exits with 0 when nothing is wrong, else with 1.

What it proves: the file is whole (2). Every event and text is as it was hashed, and every body has the fields of its
type (3, 4). Nothing is missing except texts whose erasure is recorded (5). With the seal: the log with the root in the
note contained the sealed events (6). With the key: the holder of the key signed that root (7). With a checkpoint that
you kept: the log was not rewritten since (8). With signed lengths and their key: no stream was longer (9). Of the file
of a run: its list is that of its events, and the debates beside it were opened as it lists them (10). Of the file of a
baseline of drift checks: each check took the next draws by pairs on record before it ended, so each draw once (11).
"""

import argparse
import base64
import hashlib
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Json = dict[str, Any]
Streams = dict[str, list[Json]]

REFERENCE = re.compile(r'\{"part":"([A-Za-z0-9_-]{43})"\}')
HASH = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")  # 32 bytes: the last character carries 4 bits
SALT = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")  # 16 bytes: 2 bits
MAX_NAME, MAX_SIGNATURES, MAX_NOTE = 200, 100, 64 * 1024  # characters of a name; bytes of a note
P, Y8 = 2**255 - 19, 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL_ORDER = {0, 1, P - 1, Y8, P - Y8}  # y of the Ed25519 points under which anyone can sign
KINDS = ("debate", "calls", "review", "batches")  # of streams, in the order of the file
EVENT_FIELDS = ("stream", "version", "event_id", "type", "schema", "recorded_at", "body")  # in the order of hashing

INCOMPLETE = """completeness is not proven; the store may have recorded more since, as a review or its withdrawal. \
An export with --seal-key, checked here with --key, proves it up to the export"""
A_STORE = "a store: jury export writes its debates as cassettes, name one; jury verify --store URL --all checks a store"

# The fields of objects in bodies, by the object's field name (of a body: its type); others are references to texts. A
# field with ? is left out where it has no value.
FIELDS = """
acceptance accepted signal threshold verdict label? probability?
anchors before case_id now
anchors case_id label
answered fingerprints versions juror_id?
answers evidence repairs safety_filter unsupported
artifacts max_calls max_turns mode
asking first order
bands needs_review safe_pass
batch_cancel_requested cause type by?
batch_cancel_sent type at?
batch_changed number stage type word answered? error? failed?
batch_closed answered cause doubled type unanswered unknown detail?
batch_items_listed calls first type
batch_items_unanswered number type unanswered
batch_missed number reason type what at?
batch_mistaken cause number provider_id type
batch_prepared address batch_id items key model nonce provider run_id size type wave most? provider_time?
batch_submitted certain found number provider_id type expires_at?
batch_texts_erased by debate_id number parts type
batch_uploaded file_id type
budget max_calls? max_cost?
budget_changed budget by number type
by_outcome outcome risk threshold
cache_writes lifetime tokens
calibration confidence digest on panel prompts risk signal threshold by_outcome? made_on?
calls body debate_id exchange
cancel_requested by number type
case_labelled by metadata number type label?
cases_listed debates digest first later number type cases?
check largest reached seats status majority_label? majority_position?
check_abandoned cancelled number type
check_ended answered decision further number stream_votes type votes
check_opened number pairs repeats run_id stream_pairs type stream?
coins coin e k n
consensus_checked check round type end_reason?
coordinator_resumed cause epoch number repeated_steps type
debate_begun type
debate_cancelled by type reason?
debate_completed early_termination end_reason final_verdict total_rounds type final_label? final_score?
debate_failed reason type detail?
debate_forked inherited_steps origin secret steps type version
debate_opened agent_card_records case case_id debate_id images metadata omissions panel pieces prompts rules scenarios secret security_gate_records simulated tags type agent_cost? asking? cluster? label? provenance? reading? run_id? stage? submission_id?
debate_replaced by successor type
decision anchors facts verdict watched
dimensions dimension points
dimensions maximum name critical? critical_below? meaning?
discussion always_discuss end_early history max_rounds order speakers threshold unanimity_ends stagnation_rounds?
draws_judged answered number type votes
draws_planned by draws number type
drift_imported number type sealed_by? verified_with?
drift_opened alpha anchors by daily draws drift_id panel panel_name program run_id seats tossed type used judge? stratum? stream?
endpoints provider said whole
evaluation confidence model overall scenarios simulated synthetic verdict answered? decisive_item? evidence? label? model_version? probabilities? quotes? rationale? reading? scores?
evidence item result says criterion? seat? span?
exchange_recorded attempt latency_ms model outcome request settings simulated step tool_calls tools turn type usage waited_ms answer? cost? error? failed? fingerprint? finish_reason? host? juror_id? model_version? request_id? response? sent? stripped? via? window?
facts before now what juror_id?
failed understood code? status?
final bands method quorum calibration? judge?
further custom panel prompts
human_reviewed blind number reviewer sampled type verdict decisive_item? label? minutes? reason? supersedes?
images content media_type
inherited_steps secret steps
inputs input seat weights verdict?
judge confidence model overall scenarios simulated synthetic verdict answered? decisive_item? evidence? label? model_version? probabilities? quotes? rationale? reading? scores?
judge fallbacks images model settings window?
judgment capped decided_by method quorum quorum_votes scenarios verdict votes acceptance? agreed_on? capped_scenarios? judge? judge_failure? label? mean? score? shortfalls?
judgment_rendered exchanges judgment type
juror_abstained exchanges juror_id reason stale step type partly_read? refusal?
juror_evaluated evaluation exchanges juror_id peer_text type reasoning?
labels id meaning outcome
ladder audit digest further certificate?
left_out juror_id model
list_completed cases debates number type
omissions count what size?
pairs anchor first used
panel answers artifacts discussion final language least_read marking name reading rubric seats left_out? own_family? reasoning? scale? stop? task?
pieces name text
probabilities label probability
reading characters_read characters_total findings_left_out items_read items_total mode parts unread partly_read?
reading image_parts parts pictures seats reasoning_parts?
reasoning_shown type
request images parts role call_id?
review_assigned by number reviewer type sample?
review_withdrawn by number type withdraws reason?
round_started instruction round speaker_order type
rubric dimensions name of_rank?
run_ended calls cancelled completed cost debates epoch failed number type calls_at_most? cost_at_most?
run_imported number type sealed_by? verified_with?
run_opened budget by custom endpoints panel program prompts repeats run_id type ladder? submitted?
run_reopened by number type
sample population seed size verdict?
scale labels name in_doubt?
scenarios scenario_id score verdict label? probabilities?
scores dimensions
seats chances seat
seats fallbacks images juror_id model role role_focus role_name settings weight least_read? questions? reading? window?
seats juror_id model
seats mode room windows juror_id?
seats_not_asked juror_ids settled type
settings deadline_seconds max_output_tokens timeout_seconds tries cache? effort? flex_fallback? seed? temperature? thinking? tier? top_p? verbosity? warm?
settled shortfalls verdict accepted? label?
shortfalls cap criterion least points
signal chances kind shares
signal inputs intercepts kind labels verdicts
signal kind
signal kind passing step
signal kind prior seats verdicts
span end start item?
speakers base kind seed
stage audit ladder number of before? every_case?
statement evaluation order position_changed statement
statement_made exchanges juror_id peer_text round statement type
stop last order rule
stream_pairs base debate
submitted concurrency?
texts_erased by number parts reason scope type
tool_calls arguments call_id name ok result
unanswered end item cost? text? usage?
unread first last
usage cache_writes cache_miss? cached_input_tokens? input_tokens? output_tokens? reasoning_tokens? region? service_tier? speed?
via batch waited_ms
votes juror_id kind stale weight confidence? label? partly_read? position? round? score?
watched bound coins e kinds name alarm? since?
"""  # noqa: E501


def known_fields() -> dict[str, list[tuple[set[str], set[str]]]]:
    """By the name of an object: the fields that it must have, and all that it may have."""
    known: dict[str, list[tuple[set[str], set[str]]]] = {}
    for name, *fields in map(str.split, FIELDS.strip().splitlines()):
        must = {field for field in fields if not field.endswith("?")}
        known.setdefault(name, []).append((must, {field.rstrip("?") for field in fields}))
    return known


KNOWN = known_fields()


class Wrong(Exception):
    """A check failed; the message names it."""


def say(text: str) -> None:
    print(
        "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in text)
    )  # no control character reaches a terminal


def require(passed: object, message: str) -> None:
    if not passed:
        raise Wrong(message)


def unpack(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def from_base64(text: str, what: str) -> bytes:
    content = base64.b64decode(text, validate=True)
    require(base64.b64encode(content).decode() == text, f"{what} is not in its canonical spelling")
    return content


def is_count(value: object, least: int) -> bool:
    return type(value) is int and least <= value < 2**63


# 1. A line is a JSON object in its one canonical form, so that two readers cannot read two things in it.
def read_line(raw: bytes, where: str, *fields: str) -> Json:
    try:
        text = raw.decode("utf-8")
        value = json.loads(text)
        again = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"{where} is not JSON: {error}") from None
    require(isinstance(value, dict) and again + "\n" == text, f"{where} is not canonical JSON")
    require(not fields or sorted(value) == sorted(fields), f"{where} has other fields than it should")
    return dict(value)


# A body holds all fields of its objects that have a value, and no others, so that no reader has to guess one; and no
# number that is too large for a database.
def check_fields(name: str, value: Any, where: str) -> None:
    if isinstance(value, list):
        for one in value:
            check_fields(name, one, where)
    elif isinstance(value, dict) and name not in {"metadata", "said"}:
        fits = any(must <= value.keys() <= most for must, most in KNOWN.get(name, ()))
        require(set(value) == {"part"} or fits, f"{where}: {name} has other fields than it should")
        require(None not in value.values(), f"{where}: {name} has a field that is null")
        for key, one in value.items():
            check_fields(key, one, where)
    elif isinstance(value, int):
        require(abs(value) < 2**63, f"{where}: the number at {name} is too large")


# 2. The manifest lists the content of the file, and has the hash of all its other bytes.
def check_manifest(lines: list[bytes]) -> Json:
    require(lines and lines[-1].endswith(b"\n"), "the file is empty, or was cut short")
    manifest = {"lengths": False, **read_line(lines[0], "line 1")}
    fields = {"cassette", "debate_id", "streams", "parts", "sealed", "sha256", "lengths"}
    require(manifest.keys() == fields, "line 1 has other fields than it should")
    require(type(manifest["lengths"]) is bool and (b'"lengths":false' not in lines[0]), "line 1 is not well-formed")
    debate, streams = manifest["debate_id"], manifest["streams"]
    require(manifest["cassette"] == "jury-judge 1", "this is no cassette of the format jury-judge 1")
    require(re.fullmatch(r"[A-Za-z0-9._~-]{1,220}", str(debate)), "the debate has no proper id")
    names = set(streams) if isinstance(streams, dict) else set()
    known = {f"{kind}/{debate}" for kind in KINDS[:-1]}
    # A batch of calls has one stream, and nothing else has it.
    whole = names == {f"batches/{debate}"} or {f"debate/{debate}"} <= names <= known
    require(whole, "the streams are not the debate's")
    check_lines(lines, manifest, manifest["parts"])
    return manifest


def check_lines(lines: list[bytes], manifest: Json, further: Any) -> None:
    for end in manifest["streams"].values():
        require(isinstance(end, dict) and end.keys() == {"events", "head"}, "a stream's end is not well-formed")
        require(is_count(end["events"], 1) and HASH.fullmatch(str(end["head"])), "a stream's end is not well-formed")
    require(is_count(further, 0) and type(manifest["sealed"]) is bool, "the manifest is not well-formed")
    count = 1 + sum(end["events"] for end in manifest["streams"].values()) + further + manifest["sealed"]
    count += manifest.get("lengths", False)
    require(len(lines) == count, f"the file has {len(lines)} lines, its manifest lists {count}")
    found = hashlib.sha256(b"".join(lines[1:])).hexdigest()
    require(found == manifest["sha256"], "the SHA-256 in the manifest is not that of the lines after it")


# 3. An event's hash is over its fields and the hash of the event before it, 32 zero bytes before the first.
def check_chain(stream: str, end: Json, events: list[Json]) -> None:
    previous = bytes(32)
    require(len({str(event["event_id"]) for event in events}) == len(events), f"two events of {stream} have one id")
    for version, event in enumerate(events, 1):
        where = f"event {version} of {stream}"
        require((event["stream"], event["version"]) == (stream, version), f"{where} is not in its place")
        require(all(type(event[name]) is str for name in ("event_id", "type", "body")), f"{where} is not well-formed")
        require(is_count(event["schema"], 1) and is_count(event["recorded_at"], 0), f"{where} is not well-formed")
        fields = [b"jury-judge log 1", previous, *(str(event[name]).encode() for name in EVENT_FIELDS)]
        previous = hashlib.sha256(b"".join(struct.pack(">Q", len(one)) + one for one in fields)).digest()
        written = str(event["hash"])
        require(HASH.fullmatch(written) and unpack(written) == previous, f"{where} was changed, or one before it")
        body = read_line(str(event["body"]).encode() + b"\n", f"the body of {where}")
        require(body.get("type") == event["type"], f"{where}: body and envelope name different types")
        check_fields(event["type"], body, where)
    require(unpack(end["head"]) == previous, f"the manifest has another last hash of {stream}")


# 4. Texts are kept apart from the events, which name them by SHA-256(salt, text).
def check_texts(lines: list[bytes], first: int) -> set[str]:
    digests: list[str] = []
    for number, raw in enumerate(lines, first):
        form = "text" if b'"text":' in raw else "base64"
        line = read_line(raw, f"line {number}", "part", "salt", form)
        digest, salt, said = str(line["part"]), str(line["salt"]), str(line[form])
        require(HASH.fullmatch(digest) and SALT.fullmatch(salt), f"line {number} has no digest, or no salt")
        require(digest > max(digests[-1:], default=""), f"line {number}: {digest} is not in its place, or there twice")
        if form == "text":
            content = said.encode()
        else:
            content = from_base64(said, f"line {number}")
            require(content.decode("utf-8", "ignore").encode() != content, f"line {number} is text, and in base64")
        require(hashlib.sha256(unpack(salt) + content).digest() == unpack(digest), f"the text {digest} was changed")
        digests.append(digest)
    return set(digests)


# 5. Every referenced text is there, unless its erasure is recorded; every model call that an event names is there; the
#    first event opens this debate.
def check_references(debate: str, streams: Streams, texts: set[str]) -> int:
    named: set[str] = set()
    erased: set[str] = set()
    calls: set[str] = set()
    for event in (event for events in streams.values() for event in events):
        found = set(REFERENCE.findall(event["body"]))
        named |= found
        if event["type"] in {"texts_erased", "batch_texts_erased"}:
            erased |= found
        if event["type"] != "exchange_recorded":
            calls |= set(map(str, json.loads(event["body"]).get("exchanges", ())))
    lost = sorted(named - texts - erased)
    require(not lost, f"{len(lost)} texts are missing without a recorded erasure: {lost[:1]}")
    require(texts <= named, "there is a text that no event names")
    gone = sorted(calls - {event["event_id"] for event in streams.get(f"calls/{debate}", ())})
    require(not gone, f"model calls are named and missing: {gone[:1]}")
    kind, opening, name = ("debate", "debate_opened", "debate_id")
    if f"batches/{debate}" in streams:
        kind, opening, name = ("batches", "batch_prepared", "batch_id")
    first = json.loads(streams[f"{kind}/{debate}"][0]["body"])
    opens = (first["type"], first.get(name)) == (opening, debate)
    require(opens, "the first event does not open this debate")
    return len(named - texts)


# 6. A note states the root of a Merkle tree (RFC 9162, section 2.1) over the hashes of all events of a log: three lines
#    (origin, size, root), an empty one, signatures. A proof leads from an event's hash to that root.
def read_note(note: str) -> tuple[str, int, bytes, bytes, list[tuple[str, bytes]]]:
    require(len(note.encode()) <= MAX_NOTE, "the note is too large")
    found = re.fullmatch(
        r"(([^\x00-\x1f]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n([^\x00-\x1f]+\n)*)\n"
        r"((— [^\x00- +]+ [A-Za-z0-9+/]+={0,2}\n)+)",
        note,
    )
    require(found, "the note is no checkpoint")
    text, origin, size, root = found.group(1, 2, 3, 4) if found else ("", "", "", "")
    signatures = []
    for _, name, coded in (line.split(" ") for line in found.group(6).split("\n")[:-1]) if found else ():
        signature = from_base64(coded, "a signature of the note")
        is_name = len(name) <= MAX_NAME and name.isprintable() and not any(c.isspace() for c in name)
        require(is_name and signature[4:], "the note is no checkpoint: one of its signatures is none")
        signatures.append((name, signature))
    require(is_count(int(size), 0) and len(signatures) <= MAX_SIGNATURES, "the note is too large")
    require(any(name == origin for name, _ in signatures), "the note is not signed in the name of its log")
    return origin, int(size), from_base64(root, "the root in the note"), text.encode(), signatures


def root_from(event_hash: bytes, index: int, size: int, proof: list[bytes]) -> bytes:
    node, last = hashlib.sha256(b"\0" + event_hash).digest(), size - 1
    for sibling in proof:
        require(last > 0, "a proof is too long")
        if index % 2 or index == last:
            node = hashlib.sha256(b"\1" + sibling + node).digest()
            while index % 2 == 0 and index > 0:
                index, last = index // 2, last // 2
        else:
            node = hashlib.sha256(b"\1" + node + sibling).digest()
        index, last = index // 2, last // 2
    require(last == 0, "a proof is too short")
    return node


def check_seal(seal: Json, streams: Streams) -> dict[str, int]:
    _, size, root, _, _ = read_note(str(seal["note"]))
    places = seal["streams"]
    require(isinstance(places, dict) and places and set(places) <= set(streams), "the seal is of another debate")
    for stream, place in places.items():
        require(place.keys() == {"version", "leaf", "proof"}, f"the proof of {stream} is malformed")
        version, leaf, proof = place["version"], place["leaf"], place["proof"]
        require(is_count(version, 1) and is_count(leaf, 0), f"the proof of {stream} is malformed")
        require(version <= len(streams[stream]) and leaf < size, f"the seal covers more of {stream} than there is")
        require(all(HASH.fullmatch(str(one)) for one in proof), f"the proof of {stream} is malformed")
        reached = root_from(unpack(streams[stream][version - 1]["hash"]), leaf, size, [unpack(one) for one in proof])
        require(reached == root, f"the proof of {stream} does not lead to the root in the note")
    return {stream: places[stream]["version"] if stream in places else 0 for stream in streams}


def read_key(line: str) -> tuple[str, bytes, Ed25519PublicKey]:
    name, key_id, coded = line.split("+", 2)
    key = base64.b64decode(coded, validate=True)
    own_id = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    require(key[:1] == b"\1" and own_id.hex() == key_id, f"the key {name} is damaged, or no Ed25519 key")
    y = int.from_bytes(key[1:], "little") % 2**255  # the highest bit is the sign of x
    require(
        y < P and y not in SMALL_ORDER,
        f"the key {name} has a small order, so anyone can sign under it, or it is not canonical",
    )
    return name, own_id, Ed25519PublicKey.from_public_bytes(key[1:])


# 7. Signatures are Ed25519 over the note's text, by a key that you obtained from a trusted source.
def check_signature(note: str, key_lines: list[str]) -> None:
    origin, _, _, text, signatures = read_note(note)
    good = 0
    for name, own_id, key in map(read_key, key_lines):
        for signature in (one for signer, one in signatures if signer == name):
            if signature[:4] == own_id:
                key.verify(signature[4:], text)
                good += name == origin  # a key counts only for the log of its name
    require(good, "none of the keys given signed the note, or none in the name of its log")


# 8. Your checkpoint of the same log and size must state the same root.
def check_kept(note: str, kept: str) -> None:
    (origin, size, root, _, _), (kept_origin, kept_size, kept_root, _, _) = read_note(note), read_note(kept)
    require(origin == kept_origin, f"the seal is of the log {origin}, your checkpoint of {kept_origin}")
    require(size == kept_size, f"the seal is over {size} events, your checkpoint over {kept_size}: not comparable")
    require(root == kept_root, "your checkpoint states another root: the log was rewritten")


# 9. Signed lengths: what the store had of every stream when it wrote the file. They are over all lines but the first.
def check_lengths(line: Json, content: str, debate: str, streams: Streams, key_lines: list[str]) -> str:
    lengths = dict(line["lengths"])
    require(lengths.keys() == {"at", "content", "debates", "key"}, "the signed lengths are not well-formed")
    require(is_count(lengths["at"], 0), "the signed lengths are not well-formed")
    require(lengths["debates"].keys() == {debate}, "the signed lengths are of another debate")
    signed = lengths["debates"][debate]
    kinds = KINDS[-1:] if f"batches/{debate}" in signed else KINDS[:-1]
    require(set(signed) == {f"{kind}/{debate}" for kind in kinds}, "the signed lengths are of other streams")
    for stream, end in signed.items():
        here = streams.get(stream, [])
        found = {"events": len(here), "head": here[-1]["hash"]} if here else {"events": 0}
        there = f"signed are {end.get('events')}"
        require(end == found and is_count(end["events"], 0), f"{stream} has {len(here)} events, {there}, or other ones")
    require(lengths["content"] == content, "the signed lengths are of a cassette with other lines")
    plain = json.dumps(lengths, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text, _, signature = str(line["note"]).partition("\n\n")
    stated = f"jury-judge streams 1\n{lengths['key']}\n{hashlib.sha256(plain).hexdigest()}"
    require(text == stated, "the note of the signed lengths is over other lengths")
    named = re.fullmatch(r"— ([^\x00- +]+) ([A-Za-z0-9+/]+={0,2})\n", signature)
    require(named and named.group(1) == lengths["key"], "the note of the signed lengths has no signature of its key")
    coded = from_base64(named.group(2) if named else "", "the signature of the lengths")
    for name, own_id, key in map(read_key, key_lines):
        if (name, own_id) == (lengths["key"], coded[:4]):
            try:
                key.verify(coded[4:], f"{text}\n".encode())
            except InvalidSignature:
                raise Wrong("the signature of the lengths is not over its note") from None
            return "ok    no stream was longer when the file was written: its lengths are signed by a key that you gave"
    return f"open  its lengths are signed by no key that you gave: {INCOMPLETE}"


def audit_seal(raw: bytes | None, streams: Streams, keys: list[str], kept: str | None) -> None:
    if raw is None:
        require(not keys and not kept, "there is no seal: nothing shows which log the debate comes from")
        say("open  there is no seal: a recomputed file would look the same")
        return
    seal = read_line(raw, "the seal", "note", "streams")
    covered = check_seal(seal, streams)
    origin, size, _, _, _ = read_note(seal["note"])
    for stream, count in covered.items():
        say(f"ok    {stream}: {count} of {len(streams[stream])} events were in the log {origin} of {size} events")
    if any(count < len(streams[stream]) for stream, count in covered.items()):
        require(not keys and not kept, "events came after the seal: nothing shows who wrote those")
        say("open  events after the seal are not covered by it")
    if keys:
        check_signature(seal["note"], keys)
        say("ok    the seal is signed by a key that you gave")
    else:
        say("open  no --key was given: whose log it is was not checked")
    if kept is not None:
        check_kept(seal["note"], kept)
        say("ok    your checkpoint states the same root")
    else:
        say("open  no --checkpoint was given: a log rewritten and sealed again by its owner would look the same")


def audit(path: Path, keys: list[str], kept: str | None) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    require(not lines or not lines[0].startswith(b"SQLite format 3\0"), f"{path} is {A_STORE}")
    if lines and lines[0].startswith(b'{"cassette":"jury-judge 1","listed":'):
        audit_stream(path, lines, keys, kept)
        return
    manifest = check_manifest(lines)
    debate, streams, at = manifest["debate_id"], Streams(), 1
    say(f"ok    the file is whole: {len(lines)} lines of the debate {debate}")
    for stream in sorted(manifest["streams"], key=lambda name: KINDS.index(name.split("/")[0])):
        stop = at + manifest["streams"][stream]["events"]
        numbered = enumerate(lines[at:stop], at + 1)
        streams[stream] = [read_line(raw, f"line {n}", *EVENT_FIELDS, "hash") for n, raw in numbered]
        check_chain(stream, manifest["streams"][stream], streams[stream])
        say(f"ok    {stream}: the chain of {stop - at} events is unbroken")
        at = stop
    texts = check_texts(lines[at : at + manifest["parts"]], at + 1)
    erased = check_references(debate, streams, texts)
    say(f"ok    {len(texts)} texts are as recorded, {erased} were erased on record, none is missing")
    last = lines.pop() if manifest["lengths"] else None
    audit_seal(lines[-1] if manifest["sealed"] else None, streams, keys, kept)
    if last is None:
        say(f"open  no lengths are signed: {INCOMPLETE}")
    else:
        content = hashlib.sha256(b"".join(lines[1:])).hexdigest()
        say(check_lengths(read_line(last, "the signed lengths", "lengths", "note"), content, debate, streams, keys))


# 10. The file of a run names its debates in their order. Each page of its events has a digest over them.
def check_list(events: list[Json], lines: list[bytes], first: int) -> list[tuple[str, str]]:
    listed = []
    for number, raw in enumerate(lines, first):
        line = read_line(raw, f"line {number}", "debate_id", "opened")
        fits = re.fullmatch(r"[A-Za-z0-9._~-]{1,220}", str(line["debate_id"])) and HASH.fullmatch(str(line["opened"]))
        require(fits, f"line {number} lists no debate")
        listed.append((str(line["debate_id"]), str(line["opened"])))
    pages = [json.loads(event["body"]) for event in events if event["type"] == "cases_listed"]
    require(sum(page["debates"] for page in pages) == len(listed), "the list is longer or shorter than its pages")
    place = 1
    for page in pages:
        require(page["first"] == place, "a page of the list is not in its place")
        found = hashlib.sha256(b"jury-judge list 1")
        for debate, opened in listed[place - 1 : place - 1 + page["debates"]]:
            name = debate.encode()
            found.update(struct.pack(">QQ", place, len(name)) + name + unpack(opened))
            place += 1
        require(found.hexdigest() == page["digest"], f"the list up to {place - 1} is not that of its page")
    return listed


# 11. A check of a baseline takes the next draws of its anchors, and ends with a vote a pair, or is abandoned.
def check_pairs(bodies: list[Json]) -> int:
    queue = [0] * len(bodies[0]["anchors"])
    used, opened = list(queue), Json()
    for body in bodies:
        if body["type"] == "draws_judged":
            queue = [one + bool(body["votes"]) for one in queue]
        elif body["type"] == "check_opened":
            require(not opened, "a check begins before the one before it ended")
            opened = body
            for pair in body["pairs"]:
                require(pair["first"] == used[pair["anchor"]], "a check takes draws that are not the next ones")
                used[pair["anchor"]] += pair["used"]
                require(used[pair["anchor"]] <= queue[pair["anchor"]], "a check takes draws that were not judged")
        elif body["type"] in {"check_ended", "check_abandoned"}:
            require(body["number"] == opened.get("number"), "a check ends that did not begin")
            votes = len(body["votes"] if "votes" in body else opened["pairs"])
            require(votes == len(opened["pairs"]), "a check ended with other votes than pairs")
            for pair in opened["pairs"] if "votes" in body else ():
                queue[pair["anchor"]] += opened["repeats"] - 1
            opened = Json()
    return sum(body["type"] == "check_opened" for body in bodies)


def audit_stream(path: Path, lines: list[bytes], keys: list[str], kept: str | None) -> None:
    manifest = read_line(lines[0], "line 1", "cassette", "listed", "sealed", "sha256", "streams")
    require(isinstance(manifest["streams"], dict) and len(manifest["streams"]) == 1, "the file has not one stream")
    ((stream, end),) = manifest["streams"].items()
    kind, _, run = stream.partition("/")
    require(kind in {"run", "drift"} and re.fullmatch(r"[A-Za-z0-9._-]{1,100}", run), "the stream has no proper name")
    check_lines(lines, manifest, manifest["listed"])
    stop = 1 + end["events"]
    say(f"ok    the file is whole: {len(lines)} lines of {stream}")
    events = [read_line(raw, f"line {n}", *EVENT_FIELDS, "hash") for n, raw in enumerate(lines[1:stop], 2)]
    check_chain(stream, end, events)
    say(f"ok    {stream}: the chain of {end['events']} events is unbroken")
    bodies = [json.loads(event["body"]) for event in events]
    opens = (bodies[0]["type"], bodies[0].get(f"{kind}_id")) == (f"{kind}_opened", run)
    require(opens, f"the first event does not open {stream}")
    listed = check_list(events, lines[stop : stop + manifest["listed"]], stop + 1)
    if kind == "drift":
        say(f"ok    {check_pairs(bodies)} checks used up each draw once, by pairs that were recorded before")
    else:
        say(f"ok    the list of {len(listed)} debates is that of its events")
    audit_seal(lines[-1] if manifest["sealed"] else None, {stream: events}, keys, kept)
    if kind == "drift":
        return
    there = [(opened, path.with_name(f"{debate}.cassette.jsonl")) for debate, opened in listed]
    there = [(opened, file) for opened, file in there if file.is_file()]
    for opened, file in there:
        line = file.read_bytes().split(b"\n", 2)[1]
        require(read_line(line + b"\n", f"line 2 of {file}")["hash"] == opened, f"{file} is not the debate of the list")
    say(
        f"{'ok  ' if len(there) == len(listed) else 'open'}  {len(there)} of them are beside this file; check each, too"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a cassette of a recorded debate.")
    parser.add_argument("cassette", type=Path)
    parser.add_argument("--key", help="a public key NAME+ID+KEY, or a file with one a line")
    parser.add_argument("--checkpoint", type=Path, help="a note of the same log that you kept")
    given = parser.parse_args()
    try:
        require(not re.match("(sqlite|postgresql):", str(given.cassette)), f"{given.cassette} is {A_STORE}")
        for path in filter(None, (given.cassette, given.checkpoint)):  # opening a pipe would block
            require(path.is_file() or not path.exists(), f"{path} is not a regular file: name one cassette")
        key = Path(given.key).read_text("utf-8") if given.key and Path(given.key).is_file() else given.key or ""
        kept = given.checkpoint.read_bytes().decode() if given.checkpoint else None
        audit(given.cassette, key.split(), kept)
    except InvalidSignature:
        say("WRONG the signature of the seal is not over its note")
    except (Wrong, OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        say(f"WRONG {error if isinstance(error, Wrong | OSError) else f'this is not well-formed: {error!r}'}")
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
