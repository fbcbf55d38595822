"""What a model is called: at clouds, as a snapshot, an alias, a deployment; whether two names are of one model.

Providers reroute names without an error, and answer by other names than they were asked by without rerouting. Sources
(November 2026): the ids in the SDKs openai 3.52 and anthropic 2.11, the clouds' pages on models, OpenRouter's and
Ollama's lists.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

_BEDROCK = re.compile(
    r"^(?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia"
    r"|openai|qwen|writer|zai)\.(.+?)(?:-v\d+)?(?::\d+)*$"
)
_ARN = re.compile(r"^arn:aws[a-z-]*:bedrock:[^/]*/")
_VERTEX = re.compile(r"@(?:20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|default)$")
_DATED = re.compile(r"[-@](?:20[0-9]{2}-[0-9]{2}-[0-9]{2}|20[0-9]{6})$")
_SNAPSHOT = re.compile(r"(?:-(?:preview|exp))?-(\d{2}-\d{4}|\d{2}-\d{2})$|-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3})$")
_WEIGHTS = re.compile(
    r"\.gguf$|[-_.](?:i?q\d(?:_[a-z0-9]+)*|b?f16|fp16|fp8|awq|gptq|int[48]|mxfp4|nvfp4|[48]bit)$", re.IGNORECASE
)
_FIRST_VERSION = re.compile(r"(?<=\d)-0$")
_WORD = re.compile(r"[a-z]+|[0-9][0-9a-z.]*")

_FAMILIES = frozenset(
    re.findall(
        r"\w+",
        """
        chatgpt claude codestral command deepseek devstral ernie falcon gemini gemma glm gpt granite grok hunyuan
        jamba kimi llama magistral minimax ministral mistral mixtral moonshot nemotron nova o olmo phi pixtral
        qwen qwq sonar titan
        """,
    )
)
_KINDS = frozenset(
    re.findall(
        r"\w+",
        """
        air astra base chat code coder exp fable fast flash haiku instant instruct it large lite luna max medium
        micro mini mythos nano opus oss plus preview pro reasoner reasoning small sol sonnet thinking turbo ultra
        vision vl
        """,
    )
)


class _Name(NamedTuple):
    """`gpt-4o-2024-08-06:free` is the model `gpt-4o`, the snapshot `20240806`, the tag `free`; "" is unknown."""

    model: str
    snapshot: str
    tag: str

    @property
    def words(self) -> list[str]:
        """What the model's name is made of: `gemini`, `2.5`, `flash`."""
        return _WORD.findall(self.model)


def own_id(model: str) -> str:
    """The provider's own id of a model: without Bedrock's region, provider and version, and without Vertex's date.

    `us.anthropic.claude-haiku-4-5-20251001-v1:0` is `claude-haiku-4-5-20251001`, and `claude-haiku-4-5@20251001` is
    `claude-haiku-4-5`. Any other id is returned as it is.
    """
    return _VERTEX.sub("", _BEDROCK.sub(r"\1", _ARN.sub("", model)))


def listed_ids(model: str) -> Collection[str]:
    """The ids under which something may be listed of a model: its provider's own, and that without the snapshot."""
    own = own_id(model)
    return {own, _DATED.sub("", own)}


@lru_cache(maxsize=1024)
def is_other_model(asked: str, answered: str | None) -> bool:
    """Whether `answered`, as the provider named it, is a different model from `asked` (`provider/model`).

    The same model: its dated snapshots (`-2024-08-06`, `-20240307`, `@20240307`, `-001`, `-preview-09-2025`), its tags
    (`:free`, `-latest`), its name at a cloud, behind a path (`models/…`), with its weights' format (`-q4_k_m.gguf`), in
    other letter case or with its version written otherwise (`4.5`, `4-5`; `4-0`, `4`). Two different snapshots, or two
    different tags, are different models.

    A name without a version (`gemini-flash-latest`) may be answered by any version of that model, and a name that
    was given (a deployment, an alias) by any model that it does not contradict: `judges` by every one, `gpt-4o-eu`
    by no Claude. None, where the provider names no model, counts as the same.
    """
    if answered is None:
        return False
    one, other = _name(asked), _name(answered)
    if one.snapshot and other.snapshot and one.snapshot != other.snapshot:
        return True
    if one.tag and other.tag and not _is_part(one.tag, other.tag):
        return True
    return one.model != other.model and not _may_name(one.words, other.words)


def _may_name(asked: list[str], answered: list[str]) -> bool:
    if _FAMILIES.isdisjoint(answered):
        return False
    if _FAMILIES.isdisjoint(asked) or not _FAMILIES.union(_KINDS, answered).issuperset(_letters(asked)):
        known = [word for word in asked if word in _FAMILIES or word in _KINDS or word[0].isdigit()]
        return set(known).issubset(answered) if not _FAMILIES.isdisjoint(known) else True
    return _letters(asked) == asked and asked == [word for word in _letters(answered) if word not in {"preview", "exp"}]


def _letters(words: list[str]) -> list[str]:
    return [word for word in words if word[0].isalpha()]


def _name(written: str) -> _Name:
    last = own_id(written.lower().rpartition("/")[2])
    if last.startswith("ft:"):
        base, _, rest = last.removeprefix("ft:").partition(":")
        tuned = _name(base)
        return _Name(f"ft:{tuned.model}", tuned.snapshot, rest)
    model, at, version = last.partition("@")
    if at and version.replace("-", "").isdigit():
        return _Name(_spelt(model), version.replace("-", ""), "")
    tag = version
    if not at:
        model, _, tag = last.partition(":")
    while (shorter := _WEIGHTS.sub("", model)) != model:
        model = shorter
    model, tag = model.removesuffix("-latest"), "" if tag == "latest" else tag
    found = _SNAPSHOT.search(model)
    if found is None:
        return _Name(_spelt(model), "", tag)
    return _Name(_spelt(model[: found.start()]), (found[1] or found[2]).replace("-", ""), tag)


def _spelt(model: str) -> str:
    """A version as `4-5`, without the 0 of a first one; Azure's `gpt-35` too."""
    model = re.sub(r"(?<=\d)\.(?=\d)", "-", model)
    return _FIRST_VERSION.sub("", re.sub(r"^gpt-35(?=-|$)", "gpt-3-5", model))


def _is_part(one: str, other: str) -> bool:
    """Whether a tag says the same as the other, or less (`7b`, `7b-instruct`)."""
    return one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-")


_WORDS_OF_FAMILIES = {
    "claude": ("claude",),
    "command": ("command", "c4ai"),
    "deepseek": ("deepseek",),
    "gemini": ("gemini", "palm"),
    "gemma": ("gemma",),
    "glm": ("glm", "chatglm"),
    "gpt": ("gpt", "chatgpt", "davinci", "o1", "o3", "o4"),
    "grok": ("grok",),
    "kimi": ("kimi", "moonshot"),
    "llama": ("llama", "codellama"),
    "mistral": ("mistral", "mixtral", "ministral", "codestral", "magistral"),
    "nova": ("nova",),
    "phi": ("phi",),
    "qwen": ("qwen", "qwq"),
}
_OF_WORD = {word: family for family, words in _WORDS_OF_FAMILIES.items() for word in words}
_FAMILY_WORD = re.compile(rf"(?<![a-z0-9])({'|'.join(sorted(_OF_WORD, key=len, reverse=True))})(?![a-z])")


def model_family(model: str) -> str | None:
    """The family of a model: `gpt` for `openai/gpt-5.2`; None if the name has no word that is known.

    Of several words the first counts: `deepseek-r1-distill-llama-70b` is `deepseek`. A provider's name before the last
    slash says nothing of the model.
    """
    found = _FAMILY_WORD.search(model.rpartition("/")[2].lower())
    return None if found is None else _OF_WORD[found[1]]
