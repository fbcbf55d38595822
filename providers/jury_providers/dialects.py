"""How servers speak a protocol where they differ from its owner (`dialects.toml`), as a panel says or known."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, model_validator

from jury_events.outcome import CallOutcome
from jury_events.panel import Switch
from jury_events.value import Value

TICKS = "cost_in_usd_ticks"
COST_HEADER = "x-litellm-response-cost"

StatedCost = Literal["cost", "cost_in_usd_ticks", "x-litellm-response-cost"]
"""Where a server says what a call cost: in its usage, in dollars (with what a provider behind it charges on a key of
one's own) or in 10^-10 dollars; in a header, in dollars."""

Structured = Literal["json_schema", "json_object", "tool", "words"]
"""How JSON is asked for: by its schema, as any object, as the arguments of a tool, by the prompt's words alone."""

THINKING_BLOCKS = "thinking_blocks"
REASONING_FIELD = "reasoning_content"
LINE_BREAKS = "line_breaks"
_OF_ANSWERS = frozenset({"around", "stated_cost"})
"""Fields that say how an answer is read, not how it is asked for."""

_OTHERS = (THINKING_BLOCKS, REASONING_FIELD, LINE_BREAKS)
"""Beside the envelopes: blocks of thoughts in a list of contents; an answer in the field of the thoughts; raw line
breaks inside strings."""


class Envelope(NamedTuple):
    """What may stand around an answer; patterns as in `dialects.toml`, None where there is none."""

    name: str
    opens: re.Pattern[str] | None
    closes: re.Pattern[str] | None
    whole: re.Pattern[str] | None


class Profile(NamedTuple):
    """A known provider or server. `fields`: of `ChatDialect`. `source` and `day`: where that was read, and when."""

    base_url: str
    key_env: str | None
    fields: Mapping[str, Any]
    source: str
    day: date


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads((files("jury_providers") / "dialects.toml").read_text(encoding="utf-8"))


@cache
def profiles() -> Mapping[str, Profile]:
    """The known providers and servers, by name."""
    found: dict[str, Profile] = {}
    for name, entry in _data()["profile"].items():
        fields = dict(entry)
        base_url, key_env = fields.pop("base_url"), fields.pop("key_env", None)
        source, day = fields.pop("source"), fields.pop("day")
        found[name] = Profile(base_url, key_env, fields, source, day)
    return found


@cache
def envelopes() -> Mapping[str, Envelope]:
    """What may stand around an answer, by name."""

    def pattern(entry: Mapping[str, Any], kind: str) -> re.Pattern[str] | None:
        return re.compile(entry[kind], re.DOTALL) if kind in entry else None

    return {
        entry["name"]: Envelope(entry["name"], *(pattern(entry, kind) for kind in ("opens", "closes", "whole")))
        for entry in _data()["envelope"]
    }


@cache
def finish_outcomes() -> Mapping[str, CallOutcome]:
    """The outcomes of the words for a reply's end that OpenAI does not have."""
    return {entry["reason"]: CallOutcome(entry["outcome"]) for entry in _data()["finish"]}


def _profile_alone(written: Any) -> Any:
    return {"profile": written} if isinstance(written, str) else written


class ChatDialect(Value):
    """How a server speaks the protocol `openai`; a field without a value: as its profile has it, else as OpenAI."""

    profile: str | None = None
    """The name of a known server; `dialect: NAME` for short. By default by the provider's name, or the host of its
    address."""
    structured: Structured | None = None
    """How JSON is asked for: by schema, as an object, as the arguments of a tool named `answer`, or in words."""
    schema_bounds: Switch | None = None
    """Off: the schema has no bounds of lengths and numbers, which some servers refuse; answers are checked for them in
    any case."""
    output_limit: Literal["max_completion_tokens", "max_tokens"] | None = None
    """The name of the field; where a server passes the other over, `--max-cost` is no bound."""
    system_role: Literal["system", "developer", "user"] | None = None
    """Of the instructions; `user`: they head the first user message."""
    stream: Literal["always", "never"] | None = None
    """Answers are asked for as streams always, or never; by default where they are watched."""
    earlier_turns: Literal["whole", "plain"] | None = None
    """The model's own turns are sent back `whole`, or with text and tool calls alone (`plain`)."""
    around: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """What may stand around an answer and is taken off where one whole JSON object is left."""
    stated_cost: StatedCost | None = None
    """Where the server says what a call cost, which counts before the list of prices."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        if self.profile is not None and self.profile not in profiles():
            raise ValueError(f"profile {self.profile!r} is not known; the profiles: {', '.join(profiles())}")
        known = (*envelopes(), *_OTHERS)
        for name in self.around or ():
            if name not in known:
                raise ValueError(f"around: {name!r} is not known; the names: {', '.join(known)}")
        return self

    @property
    def said(self) -> dict[str, Any]:
        """The fields that are set, without the profile."""
        return self.model_dump(exclude_none=True, exclude={"profile"})


OF_MESSAGES = frozenset({"profile", "structured", "stream", "around", "stated_cost"})
"""Fields that the protocol `anthropic` knows, too; `structured` is `json_schema` or `words` there."""

DialectSetting = Annotated[ChatDialect, BeforeValidator(_profile_alone)]
"""In a panel file: a table, or the name of a profile."""


Ways = Mapping[str, tuple[str, ...]]
"""In which fields a call may ask for more than the plainest one, and how, the most first."""

CHAT_WAYS: Ways = {
    "structured": ("json_schema", "json_object", "tool"),
    "output_limit": ("max_completion_tokens",),
    "system_role": ("system",),
    "earlier_turns": ("whole",),
    "schema_bounds": ("on", "off"),
}
MESSAGES_WAYS: Ways = {"structured": ("json_schema",)}


class SpokenDialect(NamedTuple):
    """What a client does. `changed`: the fields in which that differs from OpenAI."""

    structured: Structured = "json_schema"
    schema_bounds: bool = True
    output_limit: str = "max_completion_tokens"
    system_role: str = "system"
    stream: Literal["always", "never"] | None = None
    earlier_turns: Literal["whole", "plain"] = "whole"
    around: frozenset[str] = frozenset()
    stated_cost: StatedCost | None = None

    @property
    def changed(self) -> dict[str, Any]:
        """The fields in which it asks otherwise than OpenAI's own API is asked."""
        return _changed(self)


@lru_cache(maxsize=256)
def _changed(dialect: SpokenDialect) -> dict[str, Any]:
    usual = SpokenDialect._field_defaults
    asked = {name: value for name, value in dialect._asdict().items() if name not in _OF_ANSWERS}
    return {name: value for name, value in asked.items() if value != usual[name]}


OPENAI = SpokenDialect()
"""Of the protocols' own hosts: nothing is taken off their answers."""


def spoken(dialect: ChatDialect | None, name: str, base_url: str | None, *, own: bool) -> SpokenDialect:
    """What is done for a provider.

    Args:
        dialect: as the panel file says.
        base_url: of its server, None: the protocol's own.
    """
    if own and dialect is None:
        return OPENAI
    profile = profile_of(dialect, name, base_url)
    fields = {**({} if profile is None else profile.fields), **({} if dialect is None else dialect.said)}
    around = fields.pop("around", (*envelopes(), *_OTHERS))
    if "schema_bounds" in fields:
        fields["schema_bounds"] = fields["schema_bounds"] == "on"
    return SpokenDialect(**fields, around=frozenset(around))


def profile_of(dialect: ChatDialect | None, name: str, base_url: str | None) -> Profile | None:
    """The known provider or server whose fields hold where a panel file says nothing; None: there is none.

    As the file names it, else by the name of the provider, else by the host of its address.
    """
    known = profiles()
    if dialect is not None and dialect.profile is not None:
        return known[dialect.profile]
    if name in known and base_url in {None, known[name].base_url}:
        return known[name]
    host = urlsplit(base_url or "").hostname
    hosted = (one for one in known.values() if one.key_env is not None)
    return next((one for one in hosted if urlsplit(one.base_url).hostname == host), None)
