"""The windows of models of Ollama and LM Studio, whose OpenAI-compatible paths do not name them.

Sources: docs.ollama.com/api/ps and /api/show; lmstudio.ai/docs/developer/rest/endpoints.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from jury_providers.sdk.reply_parsing import count_at, object_at, objects, text_at

SaidAt = Callable[[str, dict[str, Any] | None], Awaitable[dict[str, Any]]]
"""The JSON object at a URL, {} where there is none; a body is posted."""

_NUM_CTX = re.compile(r"^num_ctx\s+([0-9]{1,9})\s*$", re.MULTILINE)


async def local_window(root: str, model: str, said_at: SaidAt) -> int | None:
    """The window of a model, as it is loaded now where the server says that, else the longest; None: neither is said.

    Args:
        model: as it is called.
    """
    studio = await said_at(f"{root}/api/v0/models/{quote(model)}", None)
    if found := count_at(studio, "loaded_context_length") or count_at(studio, "max_context_length"):
        return found
    running = objects((await said_at(f"{root}/api/ps", None)).get("models"))
    names = {model, f"{model}:latest"}
    loaded = (count_at(one, "context_length") for one in running if text_at(one, "model") in names)
    if found := next(filter(None, loaded), None):
        return found
    shown = await said_at(f"{root}/api/show", {"model": model})
    if given := _NUM_CTX.search(text_at(shown, "parameters") or ""):
        return int(given[1])
    info = object_at(shown, "model_info")
    return next((count_at(info, name) for name in info if name.endswith(".context_length")), None)
