"""Blocks with files in OpenAI's format: pictures, audio, files."""

from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, text_or_none
from jury_cases.transcripts.speaker import Speaker


def read_image(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's format: a URL, in an object or not, or an uploaded file's id."""
    image = block.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if url is None and block.get("file_id"):
        builder.not_shown("image by its id", speaker.origin, place)
    else:
        builder.url(url, "image", speaker.origin, place, call_id=speaker.call_id)
    if isinstance(image, dict):
        builder.unread(image, {"url", "detail"}, speaker.origin, f"{place}.image_url")


def read_audio(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `input_audio`, Inspect's `audio` and `video`."""
    kind = block["type"]
    audio = block.get(kind)
    if isinstance(audio, str):
        builder.url(audio, kind, speaker.origin, place, call_id=speaker.call_id)
    elif isinstance(audio, dict):
        media = f"audio/{as_text(audio.get('format')) or 'unknown'}"
        builder.base64_file(audio.get("data"), media, speaker.origin, place, call_id=speaker.call_id)
        builder.unread(audio, {"data", "format"}, speaker.origin, f"{place}.{kind}")
    else:
        builder.not_shown(kind, speaker.origin, place, block)


def read_file(block: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    """OpenAI's `file` and `input_file`."""
    inner = block.get("file")
    file = inner if isinstance(inner, dict) else block
    name, data = text_or_none(file.get("filename")), file.get("file_data")
    if isinstance(data, str) and data.startswith("data:"):
        builder.url(data, "file", speaker.origin, place, name=name, call_id=speaker.call_id)
    elif isinstance(data, str):
        builder.base64_file(data, None, speaker.origin, place, name=name, call_id=speaker.call_id)
    else:
        builder.not_shown("file at a URL" if file.get("file_url") else "file by its id", speaker.origin, place)
    if isinstance(inner, dict):
        builder.unread(inner, {"filename", "file_data", "file_id", "file_url"}, speaker.origin, f"{place}.file")
