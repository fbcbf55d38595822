"""Messages in their detected form: declared formats (message_formats/), turns in a text, providers' messages."""

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_cases.bundled import MESSAGE_FORMATS, bundled_texts, words_at
from jury_cases.errors import CaseFileError
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import KINDS, RESULTS, read_chat, read_sharegpt
from jury_cases.transcripts.json_values import as_text
from jury_events.transcript import Item, Message, Refusal, Transcript

if TYPE_CHECKING:
    from jury_cases.transcripts.message_format import MessageFormat


def message_format_of(messages: list[dict[str, Any]]) -> "MessageFormat | None":
    """The declared format of a list of messages; None: it has none."""
    fields = frozenset[str]().union(*messages)
    lists = frozenset(name for one in messages for name, value in one.items() if type(value) is list)
    for head in _heads():
        if head.may_have(fields, lists, messages):
            from jury_cases.transcripts.message_format import bundled_message_format

            if any(map((found := bundled_message_format(head.name)).has, messages)):
                return found
    return None


class _Head(NamedTuple):
    """What is looked at first of messages: fields, fields that are lists, texts with which the content begins.

    A message of the format has one of them or more.
    """

    name: str
    marks: frozenset[str]
    lists: frozenset[str]
    begins: tuple[str, ...]

    def may_have(self, fields: frozenset[str], lists: frozenset[str], messages: list[dict[str, Any]]) -> bool:
        """Whether one of the messages may be of it: by the names of their fields, and of those that are lists."""
        if not (self.marks.isdisjoint(fields) and self.lists.isdisjoint(lists)):
            return True
        texts = (one.get("content") for one in messages) if self.begins else ()
        return any(isinstance(text, str) and text.startswith(self.begins) for text in texts)


@cache
def _heads() -> tuple[_Head, ...]:
    return tuple(
        _Head(name, frozenset(words_at(text, "marks")), frozenset(words_at(text, "lists")), words_at(text, "begins"))
        for name, text in bundled_texts(MESSAGE_FORMATS).items()
    )


def spoken_turns(value: Any, place: str, words: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The messages, with role and content, of a text or of a list of texts each of which begins with its speaker.

    A turn begins at a line such as `Human: …`, `**User:** …`, `USER: …` or `## Assistant`; where one of them follows a
    blank line, the others do too. A text may also be a conversation as a chat template writes it.
    """
    if isinstance(value, str) and (rendered := templated_turns(value)):
        return rendered
    named = [one for text in (value if isinstance(value, list) else [value]) for one in _turns(text, tuple(words))]
    if len(named) > 1 and (not isinstance(value, list) or len(named) >= len(value)):
        return named
    if isinstance(value, list):
        raise CaseFileError(
            f"{place}: is a list of texts that do not say whose they are; a format file does, as with turns: "
            "[user, agent], and jury cases FILE --propose drafts one"
        )
    raise CaseFileError(
        f"{place}: is a text without turns such as Human: … and Assistant: …; a text that only answers is read with "
        "--field response=COLUMN --question TEXT"
    )


def has_turns(text: str) -> bool:
    """Whether a text has turns of a user and of an agent, little before them, and ends with something said."""
    if templated_turns(text):
        return True
    found = _turns(text, ())
    said = {KINDS.get(one["role"].lower()) for one in found}
    title = found[0]["content"] if found and found[0]["role"] == _BEFORE else ""
    return {"user", "assistant"} <= said and len(title) <= _LONGEST_TITLE and bool(found[-1]["content"])


_TURN = re.compile(
    r"<\|im_start\|>(?P<chatml>\w+)\n|<\|start_header_id\|>(?P<llama>\w+)<\|end_header_id\|>\n+"
    r"|<start_of_turn>(?P<gemma>\w+)\n"
)
_MARKS = re.compile(r"(?:<\|(?:im_end|eot_id|end_of_text|begin_of_text)\|>|<end_of_turn>|<bos>|\s)+")


def templated_turns(text: str) -> list[dict[str, Any]]:
    """The messages of a text that is a conversation in the chat template of ChatML, Llama 3 or Gemma; [] of another.

    A last turn in which nothing is said is where the model was to answer.
    """
    if not text.lstrip().startswith("<"):
        return []
    found = list(_TURN.finditer(text))
    before = text[: found[0].start()] if found else ""
    if not found or (before and _MARKS.fullmatch(before) is None):
        return []
    ends = [*(one.start() for one in found[1:]), len(text)]
    turns = [
        {"role": next(filter(None, one.groups())), "content": _unmarked(text[one.end() : end])}
        for one, end in zip(found, ends, strict=True)
    ]
    return turns if turns[-1]["content"] else turns[:-1]


def awaits_answer(text: str) -> bool:
    """Whether a text ends where a chat template lets the model begin."""
    last = next(reversed(list(_TURN.finditer(text))), None) if text.lstrip().startswith("<") else None
    return last is not None and not text[last.end() :].strip() and last.group(last.lastgroup or 0) in _TEMPLATE_AGENTS


_TEMPLATE_AGENTS = frozenset({"assistant", "model"})


def _unmarked(said: str) -> str:
    last = next((one for one in _MARKS.finditer(said) if one.end() == len(said)), None)
    return (said if last is None else said[: last.start()]).strip()


_LONGEST_TITLE = 400
_BEFORE = "text before the first speaker"
"""The role of what stands before the first turn."""


def _turns(text: str, words: tuple[str, ...]) -> list[dict[str, Any]]:
    found = list(_labels(words).finditer(text))
    if any(text[: one.start()].endswith("\n\n") for one in found):
        found = [one for one in found if not text[: one.start()].strip() or text[: one.start()].endswith("\n\n")]
    if not found:
        return []
    ends = [*(one.start() for one in found[1:]), len(text)]
    turns = [
        {"role": one["heading"] or one["label"], "content": text[one.end() : end].strip()}
        for one, end in zip(found, ends, strict=True)
    ]
    before = text[: found[0].start()].strip()
    return [{"role": _BEFORE, "content": before}, *turns] if before else turns


def _labels(words: tuple[str, ...]) -> re.Pattern[str]:
    known = {form for word in (*KINDS, *RESULTS) for form in (word.capitalize(), word.upper())} | set(words)
    either = "|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))
    heading = rf"\#{{1,6}} +(?:\*\*)?(?P<heading>{either})(?:\*\*)?:? *$"
    return re.compile(rf"^(?:{heading}|(?:\*\*)?(?P<label>{either})(?::\*\*|\*\*:|:) *)", re.MULTILINE)


_OF_MESSAGES = frozenset({"content", "tool_calls", "function_call", "parts", "thought", "reasoning_content", "refusal"})
_OF_CASES = frozenset({"case_id", "question", "messages", "prompt", "response", "scenarios"})
_ENDS_OF_SIMULATED_USERS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""The marks of τ-bench and τ²-bench at the end of the user's last message."""

_OTEL_PARTS = frozenset({"text", "tool_call", "tool_call_response", "reasoning", "blob", "uri", "file"})


def read_messages(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """Read messages in their detected format; the default is chat messages."""
    from jury_cases.transcripts import langchain, responses

    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
        value = spoken_turns(value, place)
    elements = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    first = elements[0] if elements else {}
    if (form := message_format_of(elements)) is not None:
        form.read(value, builder, place)
    elif {"from", "value"} <= first.keys():
        read_sharegpt(value, builder, place)
    elif isinstance(first.get("parts"), list):
        from jury_cases.transcripts.gemini import read_contents
        from jury_cases.transcripts.otel import read_parts_messages

        kinds = {as_text(part.get("type")) for part in first["parts"] if isinstance(part, dict)}
        read = read_parts_messages if kinds & _OTEL_PARTS else read_contents
        read(value, builder, place)
    elif any(map(langchain.is_langchain, elements)):
        langchain.read_langchain_list(value, builder, place)
    elif any(map(responses.is_item, elements)):
        responses.read_responses(value, builder, place)
    else:
        read_chat(value, builder, place)


def is_message(value: Any) -> bool:
    """Whether a value looks like a message rather than a case."""
    if not isinstance(value, dict) or not _OF_CASES.isdisjoint(value):
        return False
    from jury_cases.transcripts.langchain import is_langchain
    from jury_cases.transcripts.responses import is_item

    has_role = (isinstance(value.get("role"), str) and not _OF_MESSAGES.isdisjoint(value)) or is_langchain(value)
    known = has_role or is_item(value) or {"from", "value"} <= value.keys()
    return known or message_format_of([value]) is not None


def first_prompt(transcript: Transcript) -> str | None:
    """The user's first messages, up to the first item of another author.

    "" if the user sent only a file, None if there is no item of the user.
    """
    texts: list[str] = []
    by_user = False
    for item in transcript.items:
        if _is_request(item):
            by_user = True
            texts += [item.text] if isinstance(item, Message) and item.text.strip() else []
        elif texts:
            break
    return "\n".join(texts) if by_user else None


def last_answer(transcript: Transcript) -> str:
    """What the agent said last after the user's last request; "" if it said nothing since, or only called tools.

    A message with which a simulated user of τ-bench ended the conversation is no request. The answer may be a refusal.
    Texts separated only by a file or a refusal are one answer. Of several agents it is the answer of the one that
    spoke last. An event, a tool's result or a file after it changes nothing.
    """
    texts: list[str] = []
    parted = False
    speaker: str | None = None
    for item in reversed(transcript.items):
        if _is_request(item) and not _is_farewell(item):
            break
        said = _said(item)
        if said is not None and said.text.strip():
            name = said.name if isinstance(said, Message) else said.speaker
            if texts and (name != speaker or not (parted or isinstance(said, Refusal))):
                break
            texts.append(said.text)
            speaker, parted = name, isinstance(said, Refusal)
        elif texts and not (item.kind in {"attachment", "not_shown"} and item.origin == "model"):
            break
        elif texts:
            parted = True
    return "\n".join(reversed(texts))


def _said(item: Item) -> Message | Refusal | None:
    if isinstance(item, Refusal):
        return item if item.origin != "unknown" else None
    return item if isinstance(item, Message) and item.kind == "assistant" else None


def _is_request(item: Item) -> bool:
    return item.origin == "user" and item.kind in {"user", "attachment", "not_shown"}


def _is_farewell(item: Item) -> bool:
    """Whether a simulated user ended the conversation with this message: the agent is not asked to answer it."""
    return isinstance(item, Message) and item.text.rstrip().endswith(_ENDS_OF_SIMULATED_USERS)


def split_system(transcript: Transcript) -> tuple[str | None, Transcript]:
    """The text of a transcript's leading system messages, and the rest."""
    items = transcript.items
    # A system message with a name is part of an example dialogue.
    count = next((i for i, m in enumerate(items) if m.kind != "system" or m.name is not None), len(items))
    policy = "\n\n".join(m.text for m in items[:count] if m.kind == "system" and m.text.strip())
    return (policy, transcript.since(count)) if policy else (None, transcript)
