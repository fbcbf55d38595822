"""The steps of messages, for a draft of a format file: by the words that say whose they are, and by fields' names."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from jury_cases.proposed_lists import AGENTS, PEOPLE, TOOLS, quoted, role_of, text_of, word_of
from jury_cases.transcripts.chat import KINDS, RESULTS
from jury_cases.transcripts.json_values import is_blank
from jury_cases.transcripts.reading import dialect_of

_NAMES = ("tool_name", "toolname", "tool", "function_name", "function", "fn", "func", "name", "action")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "toolinput", "kwargs")
_RESULTS = ("result", "output", "out", "tool_output", "tooloutput", "observation", "returned", "tool_result")
_IDS = ("tool_call_id", "toolcallid", "call_id", "callid", "tool_use_id", "call", "id")
_CALLS = ("tool_calls", "toolCalls", "calls", "tools")


def proposed_steps(messages: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """The roles and the steps of messages, and what of them is a guess."""
    if dialect_of(messages) is not None:
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
    """The first of the wanted fields that an object of the group has."""
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
