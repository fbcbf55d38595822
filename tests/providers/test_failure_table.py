"""What providers' errors mean, each read by the adapters over loopback with the real SDKs.

The rows of `REPORTED` are what users report to have received, named by the thread in which it stands.
"""

import json
from collections.abc import Sequence
from typing import Any

from jury_events import CallOutcome
from jury_providers import (
    FailureRow,
    ModelMessage,
    ModelReply,
    OnChunk,
    known_failures,
)
from support.canned_server import Canned
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, Dialect, a_request
from support.each_row import each_row

O = CallOutcome  # noqa: E741

GOOGLE_KEY = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
    }
}


def a_quota(name: str) -> dict[str, Any]:
    details = [{"violations": [{"quotaId": name}]}]
    return {"error": {"code": 429, "message": "You exceeded it.", "status": "RESOURCE_EXHAUSTED", "details": details}}


def of_openai(message: str, type_: str | None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def of_anthropic(message: str, type_: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_1"}


def of_google(code: int, message: str, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


def of_vllm(message: str) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def of_openrouter(code: int, message: str, **metadata: Any) -> dict[str, Any]:
    return {"error": {"message": message, "code": code, "metadata": metadata}, "user_id": "user_1"}


FAILURES = [
    (401, of_openai("Incorrect API key", "invalid_request_error", "invalid_api_key"), O.AUTHENTICATION),
    (403, of_openai("Country not supported", "request_forbidden", "unsupported_country"), O.AUTHENTICATION),
    (404, of_openai("No such model", "invalid_request_error", "model_not_found"), O.BAD_REQUEST),
    (400, of_openai("Too long", "invalid_request_error", "context_length_exceeded"), O.CONTEXT_TOO_LONG),
    (400, of_openai("This model's maximum context length is 8 tokens", "BadRequestError"), O.CONTEXT_TOO_LONG),
    (400, of_openai("Bad schema", "invalid_request_error"), O.BAD_REQUEST),
    (400, of_openai("Flagged", "invalid_request_error", "content_filter"), O.BLOCKED),
    (429, of_openai("Rate limit reached", "requests", "rate_limit_exceeded"), O.RATE_LIMITED),
    (429, of_openai("You exceeded your quota", "insufficient_quota", "insufficient_quota"), O.QUOTA),
    (500, of_openai("The server had an error", "server_error"), O.OVERLOADED),
    (401, of_anthropic("invalid x-api-key", "authentication_error"), O.AUTHENTICATION),
    (400, of_anthropic("Your credit balance is too low to access the API"), O.QUOTA),
    (402, of_anthropic("Pay", "billing_error"), O.QUOTA),
    (400, of_anthropic("prompt is too long: 9 tokens > 8 maximum"), O.CONTEXT_TOO_LONG),
    (413, of_anthropic("Request exceeds the size", "request_too_large"), O.CONTEXT_TOO_LONG),
    (429, of_anthropic("Too fast", "rate_limit_error"), O.RATE_LIMITED),
    (529, of_anthropic("Overloaded", "overloaded_error"), O.OVERLOADED),
    (400, GOOGLE_KEY, O.AUTHENTICATION),
    (400, [GOOGLE_KEY], O.AUTHENTICATION),
    (403, of_google(403, "Denied", "PERMISSION_DENIED"), O.AUTHENTICATION),
    (404, of_google(404, "models/x is not found", "NOT_FOUND"), O.BAD_REQUEST),
    (400, of_google(400, "The input token count (9) exceeds the maximum", "INVALID_ARGUMENT"), O.CONTEXT_TOO_LONG),
    (429, a_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), O.QUOTA),
    (429, a_quota("GenerateRequestsPerMinutePerProjectPerModel"), O.RATE_LIMITED),
    (503, of_google(503, "The model is overloaded", "UNAVAILABLE"), O.OVERLOADED),
    (408, "?", O.TIMEOUT),
    (502, "<html>Bad gateway</html>", O.OVERLOADED),
    (422, {"detail": "?"}, O.BAD_REQUEST),
    (302, "", O.BAD_REQUEST),
    (403, "<html>Your request was stopped by a firewall</html>", O.MALFORMED_RESPONSE),
    (403, {"error": {"code": 403, "message": "Flagged", "metadata": {"flagged_input": "…"}}}, O.BLOCKED),
    (400, {"error": {"code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, O.BLOCKED),
    (400, of_openai("Too many tokens", "exceed_context_size_error"), O.CONTEXT_TOO_LONG),
    (400, of_google(400, "API key expired. Please renew the API key.", "INVALID_ARGUMENT"), O.AUTHENTICATION),
    (400, {"error": "a text alone"}, O.BAD_REQUEST),
    (409, of_openai("Conflict", None), O.OVERLOADED),
    (424, {"message": "The model failed"}, O.OVERLOADED),
    (425, "", O.OVERLOADED),
    (499, "", O.OVERLOADED),
    (524, "<html>A timeout occurred</html>", O.OVERLOADED),
    (498, of_openai("Flex tier capacity exceeded", "capacity_exceeded"), O.OVERLOADED),
    (429, of_openai("The model is not ready", "ModelNotReadyException"), O.OVERLOADED),
    (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, O.QUOTA),
    (200, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, O.BLOCKED),
    (200, of_openrouter(429, "Provider returned error", raw="rate-limited upstream"), O.RATE_LIMITED),
    (200, of_openrouter(400, "Provider returned error", raw='{"message":"Content Exists Risk"}'), O.BLOCKED),
    (200, {"id": "g", "choices": None, "error": {"message": "Internal Server Error", "code": 500}}, O.OVERLOADED),
    (403, of_openai("Not for you", "some_new_word"), O.AUTHENTICATION),
    (200, of_vllm("This model's maximum context length is 4096 tokens."), O.CONTEXT_TOO_LONG),
    (200, {"detail": "Internal error"}, O.OVERLOADED),
    (200, {"success": False, "errors": [{"code": 7003, "message": "No route for that"}], "result": None}, O.OVERLOADED),
    (400, of_openai("insufficient_quota", "invalid_request_error"), O.BAD_REQUEST),
]
"""Status, body, outcome; every protocol reads them alike."""

_TPM = "in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be"
_GROQ = "in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 12328, please"
_SPENT = "Your team 1 has either used all available credits or reached its monthly spending limit. To continue"
_VLLM = "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 9"
_RISK = "Content Exists Risk"
_MOONSHOT = "Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check"
_FIREWORKS = "Account a is suspended, possibly due to reaching the monthly spending limit or failure to pay past in"
_SAFETY = "Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO"
_POLICY = "litellm.ContentPolicyViolationError: AzureException - The response was filtered due to the prompt triggering"
_TGI = "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1244 `inputs` tokens"
_LM_STUDIO = "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded"
_INSPECTED = "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."
_INNER = {"innererror": {"code": "ResponsibleAIPolicyViolation"}}

REPORTED: dict[str, tuple[int, Any, CallOutcome]] = {
    "Aider-AI/aider#604": (
        403,
        of_openai("Project `p` does not have access to model `gpt-4o`", "invalid_request_error", "model_not_found"),
        O.BAD_REQUEST,
    ),
    "Gitlawb/openclaude#936": (
        429,
        of_openrouter(429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free", headers={}),
        O.QUOTA,
    ),
    "thepersonalaicompany/amurex-backend#38": (
        400,
        of_openai(
            "Failed to generate JSON. Please adjust your prompt.", "invalid_request_error", "json_validate_failed"
        ),
        O.MALFORMED_RESPONSE,
    ),
    "console.groq.com/docs/tool-use": (
        400,
        of_openai("Failed to call a function. Please adjust it.", "invalid_request_error", "tool_use_failed"),
        O.MALFORMED_RESPONSE,
    ),
    "continuedev/continue#9160": (
        500,
        {"error": "model requires more system memory (4.1 GiB) than is available (3.1 GiB)"},
        O.BAD_REQUEST,
    ),
    "lmstudio-ai/lmstudio-bug-tracker#618": (
        200,
        {"error": "Unexpected endpoint or method. (POST /chat/completions)"},
        O.BAD_REQUEST,
    ),
    "BerriAI/litellm#25492": (
        200,
        {"error": of_vllm("Requested token count exceeds the model's maximum context length of 196608 tokens.")},
        O.CONTEXT_TOO_LONG,
    ),
    "anthropics/claude-code#38035": (
        400,
        of_anthropic("You have reached your specified API usage limits. You will regain access on 2026-04-01."),
        O.QUOTA,
    ),
    "anthropics/claude-code#58367": (400, of_anthropic("Output blocked by content filtering policy"), O.BLOCKED),
    "anthropics/claude-code#61808": (
        429,
        of_anthropic("Usage credits are required for long context requests.", "rate_limit_error"),
        O.QUOTA,
    ),
    "anthropics/claude-code#44863": (
        429,
        of_anthropic("Extra usage is required for long context requests.", "rate_limit_error"),
        O.QUOTA,
    ),
    "DrShushen/climb#13": (
        429,
        of_openai(f"Request too large for gpt-4o {_TPM}", "tokens", "rate_limit_exceeded"),
        O.CONTEXT_TOO_LONG,
    ),
    "alan-turing-institute/t0-1#69": (
        400,
        of_openai("Invalid prompt: your prompt was flagged", "invalid_request_error", "invalid_prompt"),
        O.BLOCKED,
    ),
    "Gitlawb/openclaude#1528": (402, of_openai("Insufficient credits", "insufficient_quota", "x"), O.QUOTA),
    "JeffOtano/roni#125": (429, of_google(429, "Your prepayment credits are depleted.", "RESOURCE_EXHAUSTED"), O.QUOTA),
    "ai-christianson/RA.Aid#182": (
        429,
        of_google(429, "Gemini 2.5 Pro Preview doesn't have a free quota tier.", "RESOURCE_EXHAUSTED"),
        O.QUOTA,
    ),
    "google-gemini/gemini-cli#15498": (
        429,
        of_google(429, "Resource exhausted. Please try again later.", "RESOURCE_EXHAUSTED"),
        O.RATE_LIMITED,
    ),
    "poenl/gemini-api#4": (
        400,
        of_google(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"),
        O.AUTHENTICATION,
    ),
    "openai/openai-python#331": (400, of_openai("The response was filtered", None, "content_filter"), O.BLOCKED),
    "BerriAI/litellm#16231": (
        400,
        {"error": {"message": _POLICY, "code": "400", "provider_specific_fields": _INNER}},
        O.BLOCKED,
    ),
    "BerriAI/litellm#37000": (429, of_openai("Budget has been exceeded!", "budget_exceeded", "429"), O.QUOTA),
    "BerriAI/litellm#14144": (400, of_openai("Budget has been exceeded! Current cost: 14", None, "400"), O.QUOTA),
    "aws-samples/assessment-generator#2": (
        400,
        {"message": "Input is too long for requested model."},
        O.CONTEXT_TOO_LONG,
    ),
    "Ivy-Interactive/Ivy-Tendril#1756": (429, {"message": "Too many tokens per day, please wait"}, O.QUOTA),
    "RooCodeInc/Roo-Code#5050": (429, {"message": "Too many tokens, please wait before trying again."}, O.RATE_LIMITED),
    "continuedev/continue#11154": (402, of_openrouter(402, "This request requires more credits, or fewer"), O.QUOTA),
    "gptme/gptme#1449": (403, of_openrouter(403, "Key limit exceeded (monthly limit). Manage it"), O.QUOTA),
    "anomalyco/opencode#24462": (429, of_openrouter(429, "Provider returned error", raw=_MOONSHOT), O.QUOTA),
    "UKGovernmentBEIS/inspect_ai#2267": (
        403,
        {"code": "The caller does not have permission to execute the specified operation", "error": _SAFETY},
        O.BLOCKED,
    ),
    "continuedev/continue#10373": (429, {"code": "Some resource has been exhausted", "error": _SPENT}, O.QUOTA),
    "warpdotdev/warp#14863": (403, {"code": "permission-denied", "error": _SPENT}, O.QUOTA),
    "666ghj/BettaFish#108": (400, of_openai(_RISK, "invalid_request_error", "invalid_request_error"), O.BLOCKED),
    "deepseek-ai/DeepSeek-V2#30": (400, {"detail": _RISK}, O.BLOCKED),
    "continuedev/continue#6185": (
        429,
        {**of_vllm("Service tier capacity exceeded for this model."), "code": None},
        O.RATE_LIMITED,
    ),
    "HunorLaczko/ha-groq-cloud-api#27": (
        413,
        of_openai(f"Request too large for model x {_GROQ}", "tokens", "rate_limit_exceeded"),
        O.CONTEXT_TOO_LONG,
    ),
    "groq's and OpenAI's limits of a day": (
        429,
        of_openai("Rate limit reached for m on requests per day (RPD): Limit 50, Used 50", "requests", "x"),
        O.QUOTA,
    ),
    "cohere's window": (
        400,
        {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."},
        O.CONTEXT_TOO_LONG,
    ),
    "xAI's window": (
        400,
        {
            "code": "invalid-argument",
            "error": "This model's maximum prompt length is 500000 but the request contains 637815 tokens.",
        },
        O.CONTEXT_TOO_LONG,
    ),
    "moonshot's window": (
        400,
        of_openai("Invalid request: Your request exceeded model token limit: 262144", "invalid_request_error"),
        O.CONTEXT_TOO_LONG,
    ),
    "minimax's window": (400, of_openai("invalid params, context window exceeds limit", "x"), O.CONTEXT_TOO_LONG),
    "expectedparrot/edsl#2098": (402, of_openai("Credit limit exceeded.", "credit_limit"), O.QUOTA),
    "pollinations/pollinations#12136": (412, of_openai(_FIREWORKS, "error", "PRECONDITION_FAILED"), O.QUOTA),
    "MoonshotAI/kimi-code#1857": (429, of_openai(_MOONSHOT, "exceeded_current_quota_error"), O.QUOTA),
    "camel-ai/owl#432": (
        400,
        of_openai("Input data may contain inappropriate content.", "data_inspection_failed", "data_inspection_failed"),
        O.BLOCKED,
    ),
    "QwenLM/qwen-code#3145": (400, of_openai(_INSPECTED, "invalid_request_error"), O.BLOCKED),
    "zai-org/GLM-5#148": (429, {"error": {"code": "1113", "message": "Insufficient balance"}}, O.QUOTA),
    "continuedev/continue#11823": (429, of_openai("余额不足或无可用资源包,请充值。", None), O.QUOTA),
    "MiniMax-AI/MiniMax-M2#62": (500, of_anthropic("insufficient balance (1008)", "api_error"), O.QUOTA),
    "cline/cline#5140": (
        400,
        {"message": "Please reduce the length of the messages or completion."},
        O.CONTEXT_TOO_LONG,
    ),
    "vllm-project/vllm-ascend#11557": (400, of_vllm(_VLLM), O.CONTEXT_TOO_LONG),
    "QwenLM/Qwen3#1321": (
        400,
        of_vllm("The input (61709 tokens) is longer than the model's context length (40960 tokens)."),
        O.CONTEXT_TOO_LONG,
    ),
    "sgl-project/sglang#4048": (
        400,
        of_vllm("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."),
        O.CONTEXT_TOO_LONG,
    ),
    "continuedev/continue#9797": (
        400,
        of_openai("the request exceeds the available context size, try increasing it", "x"),
        O.CONTEXT_TOO_LONG,
    ),
    "lmstudio-ai/lmstudio-bug-tracker#237": (400, {"error": _LM_STUDIO}, O.CONTEXT_TOO_LONG),
    "huggingface/text-generation-inference#628": (422, {"error": _TGI, "error_type": "validation"}, O.CONTEXT_TOO_LONG),
    "ollama/ollama#13307": (500, {"error": "llama runner process has terminated: exit status 2"}, O.OVERLOADED),
}


_ROLE = "Error code: 400 - {'error': {'message': 'roles must alternate', 'type': 'invalid_request_error'}}"
_CREDIT = (
    'litellm.BadRequestError: AnthropicException - {"error":{"message":"Your credit balance is too low to access"}}'
)

WRAPPED: list[tuple[str, CallOutcome, bool]] = [
    ("litellm.BadRequestError: OpenAIException - Unsupported parameter: 'x'", O.BAD_REQUEST, False),
    (f"litellm.APIConnectionError: litellm.BadRequestError: OpenAIException - {_ROLE}", O.BAD_REQUEST, False),
    (f"litellm.APIConnectionError: {_ROLE}", O.BAD_REQUEST, False),
    (_ROLE, O.BAD_REQUEST, False),
    (_CREDIT, O.QUOTA, True),
    ("litellm.ContextWindowExceededError: AnthropicException - too long", O.CONTEXT_TOO_LONG, True),
    ("litellm.AuthenticationError: AnthropicException - invalid x-api-key", O.AUTHENTICATION, True),
    ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", O.RATE_LIMITED, True),
    ("litellm.Timeout: Connection timed out after 600 s", O.OVERLOADED, True),
    ("litellm.InternalServerError: litellm.BadRequestError seen in the text of the case", O.OVERLOADED, True),
    (f"The model failed at the text: {_ROLE}", O.OVERLOADED, True),
]
"""Messages of a gateway's 500, what they mean, and whether that is known."""


async def test_what_a_gateway_wraps_in_a_500_is_what_its_first_words_say() -> None:
    replies = await replies_to(CHAT, [body(of_openai(said, None, "500"), 500) for said, _, _ in WRAPPED])

    assert WRAPPED == [
        (said, reply.outcome, reply.understood) for (said, _, _), reply in zip(WRAPPED, replies, strict=True)
    ]
    assert {500} == {reply.status for reply in replies}, "as it was reported"


def body(document: Any, status: int, **headers: str) -> Canned:
    return Canned(status, [json.dumps(document).encode()], headers)


_WINDOW = (
    "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (808 in the messages, "
)
_LONGER = "The input (61709 tokens) is longer than the model's context length (40960 tokens)."

PLAYED: dict[str, tuple[int, Any, CallOutcome]] = {
    "antlimit": (400, of_anthropic("You have reached your specified API usage limits. You will regain ac"), O.QUOTA),
    "oaiprepaid": (
        429,
        of_openai("Your prepaid credit balance is exhausted.", "insufficient_credits", "credit_balance_exhausted"),
        O.QUOTA,
    ),
    "tpm": (429, of_openai(f"Request too large for m {_TPM}", "tokens", "rate_limit_exceeded"), O.CONTEXT_TOO_LONG),
    "xaibio": (403, {"code": "The caller does not have permission", "error": _SAFETY}, O.BLOCKED),
    "win_sglang": (400, of_vllm(_LONGER), O.CONTEXT_TOO_LONG),
    "win_vllm": (400, of_vllm(f"{_WINDOW}8192 in the completion)."), O.CONTEXT_TOO_LONG),
    "win_bedrock": (400, of_vllm("Input is too long for requested model."), O.CONTEXT_TOO_LONG),
    "or200": (200, of_openrouter(429, "Provider returned error", raw="rate-limited upstream"), O.RATE_LIMITED),
    "orchoices": (200, {"choices": None, "error": {"message": "Internal Server Error", "code": 500}}, O.OVERLOADED),
    "ra1": (429, of_openai("slow", "rate_limit_error"), O.RATE_LIMITED),
    "halfdown": (400, of_openai("This model does not support this", "invalid_request_error"), O.BAD_REQUEST),
}
"""Faults of servers that are errors, by name."""


async def replies_to(
    dialect: Dialect, answers: Sequence[Canned], on_chunk: OnChunk | None = None, **connection: Any
) -> list[ModelReply]:
    """The replies of one adapter to each of the answers."""
    found, asked = await dialect.exchanged(*answers, on_chunk=on_chunk, **connection)
    assert len(answers) == len(asked), "one call is one request, whatever comes of it"
    return found


@each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
@each_row("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_bad_status_is_mapped_to_its_outcome(dialect: Dialect, streamed: bool) -> None:
    answers = [body(said, status, location="http://127.0.0.1:9/elsewhere") for status, said, _ in FAILURES]
    replies = await replies_to(dialect, answers, _ignore if streamed else None)

    assert [(outcome, None, canned.pieces[0]) for (_, _, outcome), canned in zip(FAILURES, answers, strict=True)] == [
        (reply.outcome, reply.answer, reply.response) for reply in replies
    ]
    for (status, _, _), reply in zip(FAILURES, replies, strict=True):
        assert (reply.error or "").startswith(f"HTTP {status}" if status != 200 else "")
        assert "\n" not in (reply.error or "")


async def test_what_users_report_is_understood() -> None:
    replies = await replies_to(CHAT, [body(said, status) for status, said, _ in REPORTED.values()])

    assert {name: (outcome, True) for name, (_, _, outcome) in REPORTED.items()} == {
        name: (reply.outcome, reply.understood) for name, reply in zip(REPORTED, replies, strict=True)
    }


async def test_what_the_fault_server_plays_is_understood() -> None:
    replies = await replies_to(CHAT, [body(said, status) for status, said, _ in PLAYED.values()])

    assert {name: outcome for name, (_, _, outcome) in PLAYED.items()} == {
        name: reply.outcome for name, reply in zip(PLAYED, replies, strict=True)
    }
    assert ["halfdown"] == [name for name, reply in zip(PLAYED, replies, strict=True) if not reply.understood]


async def test_a_failure_says_the_status_the_code_and_the_host() -> None:
    denied, too_long, spent = await replies_to(
        CHAT,
        [
            body(of_openai("Not for you", "some_new_word"), 403),
            body(of_openai("x", "invalid_request_error", "context_length_exceeded"), 400),
            body({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, 200),
        ],
    )

    assert [(403, "some_new_word", False), (400, "context_length_exceeded", True), (500, "base_resp.1008", True)] == [
        (one.status, one.code, one.understood) for one in (denied, too_long, spent)
    ]
    assert (denied.host or "").startswith("127.0.0.1:")


async def test_what_no_row_knows_is_not_understood() -> None:
    (reply,) = await replies_to(ANTHROPIC, [body(of_anthropic("Words that nobody knows"), 400)])

    assert (O.BAD_REQUEST, False) == (reply.outcome, reply.understood)


@each_row("dialect", [CHAT, GOOGLE], ids=["openai", "google"])
async def test_rows_of_a_panel_file_decide_first(dialect: Dialect) -> None:
    rows = (
        FailureRow(kind="quota", status=(400,), phrase="no more * today"),
        FailureRow(kind="overloaded", code="context_length_exceeded"),
    )
    said = [of_openai("There are no more tokens today", "x"), of_openai("x", "context_length_exceeded")]
    replies = await replies_to(dialect, [body(one, 400) for one in said], failures=rows)

    assert [O.QUOTA, O.OVERLOADED] == [one.outcome for one in replies]


async def test_a_phrase_that_the_prompt_has_does_not_count() -> None:
    words = [row.phrase.replace("*", "x") for row in known_failures() if row.phrase]
    prompt = ModelMessage("user", f"Judge this: {' | '.join(words)}")
    statuses = (400, 404, 422)
    answers = [body(of_openai(one, "invalid_request_error"), status) for one in words for status in statuses]
    replies, _ = await CHAT.exchanged(*answers, requests=[a_request(prompt)] * len(answers))

    assert {(O.BAD_REQUEST, False)} == {(one.outcome, one.understood) for one in replies}


async def test_a_row_without_a_source_decides_nothing() -> None:
    unconfirmed = {row.phrase for row in known_failures() if not row.source}
    said = "the prompt exceeds the context length"
    (reply,) = await replies_to(CHAT, [body(of_openai(said, "invalid_request_error"), 400)])

    assert "exceeds the context length" in unconfirmed
    assert (O.BAD_REQUEST, False) == (reply.outcome, reply.understood)


def _ignore(_text: str) -> None:
    """For answers that are not looked at."""
