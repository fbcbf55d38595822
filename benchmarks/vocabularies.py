"""Public tokenizers for benchmarks: the vocabularies that the package `litellm` ships, read without a network."""

import json
from base64 import b64decode
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

REMEDY = "needs two packages: uv run --with tiktoken --with litellm python benchmarks/…"

_O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
_CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Both patterns: tiktoken's `openai_public` (MIT licence)."""

Count = Callable[[str], int]


def counters() -> dict[str, Count]:
    """Functions that count the tokens of a text, by vocabulary: o200k, cl100k, deepseek, and an older Claude's.

    Raises:
        SystemExit: a package is missing.
    """
    return {
        "o200k": _tiktoken("o200k", _O200K, _O200K_PATTERN),
        "cl100k": _tiktoken("cl100k", _CL100K, _CL100K_PATTERN),
        "deepseek": _tokenizers("deepseek_tokenizer.json"),
        "claude (older)": _tokenizers("anthropic_tokenizer.json"),
    }


def o200k() -> Count:
    """The counter of OpenAI's o200k alone."""
    return _tiktoken("o200k", _O200K, _O200K_PATTERN)


def _folder() -> Path:
    found = find_spec("litellm")
    if found is None or found.origin is None:
        raise SystemExit(REMEDY)
    return Path(found.origin).parent / "litellm_core_utils" / "tokenizers"


def _tiktoken(name: str, file: str, pattern: str) -> Count:
    try:
        import tiktoken
    except ImportError:
        raise SystemExit(REMEDY) from None
    lines = (_folder() / file).read_bytes().splitlines()
    ranks = {b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    @lru_cache(maxsize=4096)
    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count


def _tokenizers(file: str) -> Count:
    from tokenizers import Tokenizer

    text = (_folder() / file).read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(json.dumps(json.loads(text)))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
