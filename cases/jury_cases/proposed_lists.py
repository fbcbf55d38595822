"""Lists in a row that look like messages, for a draft of a format file: where they stand, and whose each of them is."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import jmespath

from jury_cases.columns import snake_case
from jury_cases.formats.plain_rows import words_of
from jury_cases.transcripts.chat import KINDS, RESULTS
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank
from jury_cases.transcripts.reading import has_turns, message_format_of

_DEEPEST = 6
_LONGEST_WORD = 40
"""Characters of a word for a role."""
_ROLES = (
    *("role", "author", "sender", "speaker", "from", "from_", "source", "actor", "participant"),
    *("who", "agent", "type", "kind", "event", "user", "username", "id"),
)
_NUMBERS = ("agent", "id")
"""Of these the words may be any, where two speak."""
_SPEAKS = frozenset({"sender", "speaker", "author"})
"""Words of names of fields that say who speaks."""

_TEXTS = (
    *("content", "text", "message", "body", "value", "msg", "utterance", "output", "data", "parts", "response"),
    "sentences",
)
_SAID = frozenset({"conversation", "conversations", "dialog", "dialogue", "dialogs", "dialogues", "utterances", "chat"})
"""Columns of texts that two speakers say in turn."""

_TIMES = ("created_at", "createdAt", "timestamp", "ts", "time", "date")
_FOLLOWERS = ("replies", "children")
PEOPLE = {
    *("caller", "client", "customer", "end_user", "enduser", "human", "human_evaluator", "me", "patient", "prompt"),
    *("prompter", "requester", "visitor"),
}
AGENTS = {
    *("advisor", "ai_agent", "answer", "chatbot", "completion", "llm", "operator", "rep"),
    *("response", "staff", "support"),
}
TOOLS = {
    *("action_result", "api", "execution", "function_result", "result", "tool_output"),
    *("tool_use_result", "toolresult"),
}
SIDES = {
    **dict.fromkeys(("is_agent", "is_bot", "is_assistant", "is_ai", "from_bot", "from_agent"), ("agent", "user")),
    **dict.fromkeys(("is_user", "is_human", "is_customer", "from_user", "from_me"), ("user", "agent")),
}
"""Fields that say by yes or no whose a message is: of whom it is, if so and if not."""


class ListedMessages(NamedTuple):
    """A list that may be of messages.

    Attributes:
        path: an expression for it.
        cases: one for the cases around it; None: the row is one.
        messages: they.
        score: how much it looks like one.
        turns: whose its texts are, in turn; (): it is of objects.
        note: what of it is a guess.
    """

    path: str
    cases: str | None
    messages: list[dict[str, Any]]
    score: float
    turns: tuple[str, ...] = ()
    note: str = ""


def message_lists(row: dict[str, Any]) -> Iterator[ListedMessages]:
    """The lists of a row that may be messages, down to a depth, and the texts with turns."""
    waiting: list[tuple[Any, str, str | None, int]] = [(row, "", None, 0)]
    while waiting:
        value, path, cases, depth = waiting.pop()
        tree = _tree(value, path or "@")
        if tree is not None:
            yield tree._replace(cases=cases)
        elif depth <= _DEEPEST:
            for name, inner in value.items():
                at = f"{path}.{quoted(name)}" if path else quoted(name)
                decoded = decoded_json(inner)
                at = at if decoded is inner else f"json({at})"
                if isinstance(decoded, dict):
                    waiting.append((decoded, at, cases, depth + 1))
                for found in _of_value(name, at, decoded):
                    if found.score > 0:
                        yield found._replace(cases=cases or found.cases, score=found.score / (depth + 1))
                    elif found.messages and cases is None:
                        waiting.append((found.messages[0], "", at, depth + 1))


def _of_value(name: str, at: str, value: Any) -> Iterator[ListedMessages]:
    """What may be messages: a text with turns, or in a list; with the score 0 the objects of one."""
    if isinstance(value, str) and has_turns(value):
        yield ListedMessages(at, None, [], 5)
    elif isinstance(value, list):
        yield from _of_list(name, at, value)


def _of_list(name: str, at: str, listed: list[Any]) -> Iterator[ListedMessages]:
    if (
        len(listed) > 1
        and all(isinstance(one, str) and "\n" not in one for one in listed)
        and snake_case(name) in _SAID
    ):
        note = f"{at} does not say whose its texts are: the first is taken for the user's"
        yield ListedMessages(at, None, [], 2, ("user", "agent"), note)
        return
    inside = [one for one in listed if isinstance(one, list) and one and all(isinstance(each, dict) for each in one)]
    if inside and len(inside) == len(listed):
        yield from _of_lists(at, inside)
        return
    path, objects = _with_roles(at, listed)
    yield ListedMessages(path, None, objects, messages_score(objects))


def _of_lists(at: str, inside: list[list[dict[str, Any]]]) -> Iterator[ListedMessages]:
    """Lists in a list: each longer than the one before, one exchange each, or a conversation each."""
    if len(inside) > 1 and all(one[: len(before)] == before for before, one in pairwise(inside)):
        yield ListedMessages(f"{at}[-1]", None, inside[-1], messages_score(inside[-1]))
    elif len(inside) == 1 or all(len(one) <= 2 for one in inside):  # noqa: PLR2004  (a pair)
        objects = [each for one in inside for each in one]
        yield ListedMessages(f"{at}[]", None, objects, messages_score(objects))
    else:
        yield ListedMessages("@", at, inside[0], messages_score(inside[0]))


def _tree(node: Mapping[str, Any], path: str) -> ListedMessages | None:
    follow = next((one for one in _FOLLOWERS if isinstance(node.get(one), list) and node[one]), None)
    if follow is None:
        return None
    nodes: list[dict[str, Any]] = []
    waiting: list[Any] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            nodes.append({name: inner for name, inner in one.items() if name not in _FOLLOWERS})
            waiting += reversed(one.get(follow) or [])
    own = next(
        (
            name
            for name in node
            if name.lower().endswith("id") and len({as_text(n.get(name)) for n in nodes}) == len(nodes)
        ),
        None,
    )
    if own is None or not (score := messages_score(nodes)):
        return None
    note = "of several replies the last is read; the id of another branch's last message instead of null gives that"
    return ListedMessages(f"branch([{path}], null, &{quoted(own)}, &null)", None, nodes, score + 5, (), note)


def _with_roles(path: str, listed: list[Any]) -> tuple[str, list[dict[str, Any]]]:
    """The expression for what may be messages, and they: with a word for whose they are where a list has none.

    Messages may be two texts, the speaker and what is said, or have a field that says whether it is the agent's.
    """
    pairs = [one for one in listed if isinstance(one, list) and list(map(type, one)) == [str, str]]
    if pairs and len(pairs) == len(listed):
        return f"{path}[*].{{who: [0], text: [1]}}", [{"who": who, "text": text} for who, text in pairs]
    objects = [one for one in listed if isinstance(one, dict)]
    side = next((name for one in objects for name in one if snake_case(name) in SIDES), None)
    if side is None or not all(isinstance(one.get(side), bool) for one in objects):
        return path, objects
    yes, no = SIDES[snake_case(side)]
    role = f"merge(@, {{who: {quoted(side)} && '{yes}' || '{no}'}})"
    return f"{path}[*].{role}", [{**one, "who": yes if one[side] else no} for one in objects]


def in_order(path: str, messages: list[dict[str, Any]]) -> str:
    """The expression for messages, sorted by their times where the newest is first."""
    for name in _TIMES:
        times = [one[name] for one in messages if isinstance(one.get(name), str | int | float)]
        if len(times) == len(messages) > 1 and len({type(one) for one in times}) == 1 and times[0] > times[-1]:
            return f"sort_by({path}, &{quoted(name)})"
    return path


def messages_score(objects: list[dict[str, Any]]) -> float:
    """How much objects look like messages; 0: not at all."""
    role, text = role_of(objects), text_of(objects)
    if role is None or text is None:
        return 0
    words = {word_of(one, role).lower() for one in objects}
    known = sum(map(_is_known, words)) + len(words & {"user", "human"})
    numbered = (role.lower() in _NUMBERS or _SPEAKS.intersection(words_of(role))) and len(words) == 2 < len(objects)  # noqa: PLR2004  (two speakers)
    is_one = known or role.lower() in _ROLES[:6] or numbered
    return 1 + 3 * known + min(len(objects), 10) / 10 if is_one else 0


def _is_known(word: str) -> bool:
    return word.lower() in {*KINDS, *RESULTS, *PEOPLE, *AGENTS, *TOOLS}


def role_of(objects: list[dict[str, Any]]) -> str | None:
    """The path of the word that says whose a message is: of few words, repeated."""
    others = {name.lower() for one in objects for name in one if _SPEAKS.intersection(words_of(name))}
    for wanted in (*_ROLES[:-1], *sorted(others), _ROLES[-1]):
        for path in _paths(objects, wanted):
            words = {word_of(one, path) for one in objects} - {""}
            few = 0 < len(words) <= max(2, len(objects) // 2, 8) and all(len(word) < _LONGEST_WORD for word in words)
            repeated = len(words) < len(objects) or wanted != "id"
            if few and repeated and (len(words) > 1 or _is_known(next(iter(words)))):
                return path
    return None


def text_of(objects: list[dict[str, Any]]) -> str | None:
    """The path of what is said: by its name, else the field with the most text that is no word for a role."""
    for wanted in _TEXTS:
        for path in _paths(objects, wanted):
            if any(isinstance(jmespath.search(path, one), str | list) for one in objects):
                return path
    role, sizes = role_of(objects), Counter[str]()
    for one in objects:
        sizes.update({quoted(name): len(value) for name, value in one.items() if isinstance(value, str)})
    return next((path for path, _ in sizes.most_common() if path != role), None)


def _paths(objects: list[dict[str, Any]], wanted: str) -> Iterator[str]:
    found: dict[str, None] = {}
    for one in objects:
        for name, inner in one.items():
            if name.lower() == wanted:
                if isinstance(inner, dict):
                    found |= {
                        f"{quoted(name)}.{quoted(deep)}": None
                        for deep in inner
                        if deep.lower() in (*_ROLES, *_TEXTS, "name")
                    }
                else:
                    found[quoted(name)] = None
            elif isinstance(inner, dict):
                found |= {f"{quoted(name)}.{quoted(deep)}": None for deep in inner if deep.lower() == wanted}
    yield from found


def word_of(one: dict[str, Any], path: str) -> str:
    """The word for whose a message is; a number counts as one."""
    value = jmespath.search(path, one)
    return as_text(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def quoted(name: str) -> str:
    """A field's name in an expression."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[:1].isdigit()
    return name if plain else json.dumps(name)


_NAMES = ("tool_name", "toolname", "tool", "function_name", "function", "fn", "func", "name", "action")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "toolinput", "kwargs")
_RESULTS = ("result", "output", "out", "tool_output", "tooloutput", "observation", "returned", "tool_result")
_IDS = ("tool_call_id", "toolcallid", "call_id", "callid", "tool_use_id", "call", "id")
_CALLS = ("tool_calls", "toolCalls", "calls", "tools")


def proposed_steps(messages: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """The roles and the steps of messages, and what of them is a guess."""
    if message_format_of(messages) is not None:
        return {}, ""  # a form that is known
    role, text = role_of(messages) or "role", text_of(messages) or "content"
    words = Counter(word_of(one, role) for one in messages)
    roles, guessed = _meanings(words)
    steps = []
    for word in words:
        group = [one for one in messages if word_of(one, role) == word]
        step = _step(group, role, text, returned=roles.get(word.lower()) in {"tool", "environment"})
        if step.keys() != {"role", "text"}:
            written = f"`{word}`" if any(not isinstance(one.get(role, ""), str) for one in group) else f"'{word}'"
            steps.append({"when": f"{role} == {written}", **step})
    if not set(roles) - {*KINDS, *RESULTS} and text.endswith("content") and role.endswith("role"):
        inside = text.rpartition(".")[0]
        return ({"steps": [{"message": inside}]} if inside else {}), ""  # a form that is known
    return {**({"roles": roles} if roles else {}), "steps": [*steps, {"role": role, "text": text}]}, guessed


def _step(group: list[dict[str, Any]], role: str, text: str, *, returned: bool) -> dict[str, Any]:
    fields = {"id": _first(group, _IDS), "name": _first(group, _NAMES)}
    arguments, result = _first(group, _ARGUMENTS), _first(group, _RESULTS)
    calls = next((one for one in _CALLS if any(isinstance(each.get(one), list) for each in group)), None)
    step: dict[str, Any] = {"role": role}
    if returned:
        at = result if result and not any(word_of(one, text) for one in group) else text
        step["result"] = _given({**fields, "text": at})
    elif fields["name"] and arguments and not calls:
        if text not in {arguments, result}:
            step["text"] = text
        step["call"] = _given({**fields, "arguments": arguments})
        if result and result != arguments:
            step["result"] = _given({**fields, "text": result})
    else:
        step["text"] = text
    if calls:
        listed = [call for one in group for call in one.get(calls) or () if isinstance(call, dict)]
        step["parts"] = {"of": quoted(calls), "steps": _call_and_result(listed)}
    return step


def _given(found: Mapping[str, str | None]) -> dict[str, str]:
    return {key: at for key, at in found.items() if at}


def _is_dialogue_system(words: Mapping[str, int], roles: Mapping[str, str]) -> bool:
    """Whether messages named `system` are the agent's: a dialogue system that answers a user, without another agent."""
    said = [roles[word.lower()] for word in words if word]
    if "agent" in said or not {"user", "system"} <= set(said) or "system" not in roles:
        return False
    return said.index("user") < said.index("system") or sum(words[one] for one in words if one.lower() == "system") > 1


def _call_and_result(calls: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    call, result = _call_of(calls), _first(calls, _RESULTS)
    if result is None or result in call.values():
        return {"call": call}
    return {"call": call, "result": {**{key: call[key] for key in ("id", "name") if key in call}, "text": result}}


def _call_of(calls: list[dict[str, Any]]) -> dict[str, str]:
    inner = next((name for name in ("function", "tool") if any(isinstance(one.get(name), dict) for one in calls)), None)
    within = [one[inner] for one in calls if isinstance(one.get(inner), dict)] if inner else calls
    prefix = f"{quoted(inner)}." if inner else ""
    name, arguments, call_id = _first(within, _NAMES), _first(within, _ARGUMENTS), _first(calls, _IDS)
    given = f"{prefix}{arguments}" if arguments else None
    return _given({"id": call_id, "name": f"{prefix}{name or 'name'}", "arguments": given})


def _first(group: list[dict[str, Any]], wanted: tuple[str, ...]) -> str | None:
    return next(
        (
            quoted(name)
            for one in wanted
            for message in group
            for name in message
            if name.lower() == one and not is_blank(message[name])
        ),
        None,
    )


def _meanings(counted: Mapping[str, int]) -> tuple[dict[str, str], str]:
    """What words for roles mean, and which are guessed: the first unknown one is taken for the user's, the next for
    the agent's.
    """
    found: dict[str, str] = {}
    guessed: list[str] = []
    words = [word for word in counted if word]
    named = {"user": "user", "assistant": "agent", "system": "system"}
    for word in words:
        low = word.lower()
        if low in KINDS or low in RESULTS:
            found[low] = named.get(KINDS.get(low, ""), RESULTS.get(low, "tool"))
        elif low in PEOPLE or low in AGENTS or low in TOOLS:
            found[low] = "user" if low in PEOPLE else "agent" if low in AGENTS else "tool"
    plain = {word: _LETTERS.sub("", word.lower()) for word in words}
    alike = len({*plain.values()}) > 1  # else only their numbers separate them
    for word in words:
        if word.lower() not in found:
            same = next(
                (found[one.lower()] for one in words if alike and plain[one] == plain[word] and one.lower() in found),
                None,
            )
            free = same or next((who for who in ("user", "agent") if who not in found.values()), "event")
            found[word.lower()] = free
            guessed.append(f"{word} for {_AS[free]}")
    if _is_dialogue_system(counted, found):
        found["system"] = "agent"
    return found, f"it is not known who these are; taken are {', '.join(guessed)}" if guessed else ""


_LETTERS = re.compile(r"[^a-z]+")
_AS = {"user": "the user", "agent": "the agent", "event": "a note of the record"}
