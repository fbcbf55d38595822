"""Families of models, from their names."""

import re

AGENT_MODEL = "agent_model"
"""The key of a case's metadata that names the model of the judged agent."""

_FAMILIES = {
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
_OF_WORD = {word: family for family, words in _FAMILIES.items() for word in words}
_WORD = re.compile(rf"(?<![a-z0-9])({'|'.join(sorted(_OF_WORD, key=len, reverse=True))})(?![a-z])")


def model_family(model: str) -> str | None:
    """The family of a model: `gpt` for `openai/gpt-5.2`; None if the name has no word that is known.

    Of several words the first counts: `deepseek-r1-distill-llama-70b` is `deepseek`. A provider's name before the last
    slash says nothing of the model.
    """
    found = _WORD.search(model.rpartition("/")[2].lower())
    return None if found is None else _OF_WORD[found[1]]
