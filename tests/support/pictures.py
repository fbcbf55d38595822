"""Cases with pictures: a transcript with pictures as attachments, and the bytes that sighted seats are sent."""

import struct
import zlib
from hashlib import sha256
from typing import Any

from jury_events import Attachment, Case, ExecutionResult, Image, Message, QuestionSpec, Scenario, Transcript


def a_png(shade: int) -> bytes:
    """A grey picture of one pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes([0, shade]))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


PNG, OTHER_PNG = a_png(0), a_png(255)


def an_image(content: bytes, media_type: str = "image/png") -> Image:
    return Image.model_validate({"media_type": media_type, "digest": sha256(content).hexdigest(), "content": content})


def a_case_with_pictures(*contents: bytes, case_id: str = "screens", **fields: Any) -> Case:
    """The user shows these pictures (two where none are named), the agent says what it did."""
    images = tuple(map(an_image, contents or (PNG, OTHER_PNG)))
    shown = tuple(
        Attachment(origin="user", media_type=one.media_type, size=len(one.content), digest=one.digest) for one in images
    )
    said = Message(kind="assistant", origin="model", text="The total on the bill is 42 euros.")
    execution = ExecutionResult(transcript=Transcript(items=(*shown, said)))
    scenario = Scenario(scenario_id="s1", question=QuestionSpec(prompt="What is the total?"), execution=execution)
    return Case(case_id=case_id, scenarios=(scenario,), images=images, **fields)
