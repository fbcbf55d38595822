"""What users and tools of pydantic-ai send: texts and files, as content blocks.

Source: `UserContent` and `ToolReturnContent` of `pydantic_ai.messages`.
"""

from typing import Any

from jury_cases.transcripts.json_values import as_text, text_or_none

_URLS = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "document"}

_READ = frozenset(
    {
        *("kind", "url", "data", "media_type", "file_id", "content", "value", "tag", "description"),
        *("vendor_metadata", "identifier", "force_download", "provider_name"),
    }
)


def content_blocks(content: Any, *, of_tool: bool = False) -> Any:
    """The content with its files as blocks.

    Args:
        content: text, a file, or a list of both.
        of_tool: other values are the tool's JSON, and unchanged if there is no file among them.
    """
    if isinstance(content, dict):
        block = file_block(content)
        return [block] if block is not None else content
    if not isinstance(content, list) or (of_tool and not any(map(_is_content, content))):
        return content
    return [block for one in content if (block := _block(one)) is not None]


def _is_content(value: Any) -> bool:
    return file_block(value) is not None or (isinstance(value, dict) and _kind(value) in _TEXTS)


_TEXTS = ("text-content", "structured-content")


def _kind(value: dict[str, Any]) -> str:
    return as_text(value.get("kind"))


def _block(value: Any) -> Any:
    """One element; None for a mark of a cache."""
    if not isinstance(value, dict):
        return {"type": "text", "text": as_text(value)}
    kind = _kind(value)
    if kind == "cache-point":
        rest = {name: one for name, one in value.items() if name not in {"kind", "ttl"}}
        return {**rest, "type": kind} if rest else None
    if kind in _TEXTS:
        text = text_or_none(value.get("content")) or as_text(value.get("value"))
        rest = {name: one for name, one in value.items() if name not in _READ}
        return {**rest, "type": "text", "text": text}
    found = file_block(value)
    return found if found is not None else {**value, "type": kind or "unnamed"}


def file_block(value: Any) -> dict[str, Any] | None:
    """The block of a file: in base64 (of URLs' alphabet), at a URL, or by its id; None: it is no file."""
    if not isinstance(value, dict):
        return None
    kind = _kind(value)
    rest = {name: one for name, one in value.items() if name not in _READ}
    if kind == "uploaded-file":
        return {**rest, "type": "file", "file": {"file_id": value.get("file_id")}}
    what = _URLS.get(kind)
    url = value.get("url")
    if kind == "binary":
        media = as_text(value.get("media_type")) or "application/octet-stream"
        data = value["data"].translate(_ALPHABET) if isinstance(value.get("data"), str) else ""
        what, url = media.partition("/")[0], f"data:{media};base64,{data}"
    if what is None:
        return None
    if what == "image":
        return {**rest, "type": "image_url", "image_url": {"url": url}}
    if what in {"audio", "video"}:
        return {**rest, "type": what, what: url}
    return {**rest, "type": "file", "file": {"file_data" if kind == "binary" else "file_url": url}}


_ALPHABET = str.maketrans("-_", "+/")
