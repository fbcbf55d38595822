"""The routes of the three batch interfaces; where two providers have the same path, the client's headers decide."""

from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.routing import Route

from jury_providers.simulated.http.batches.anthropic import AnthropicBatchServer
from jury_providers.simulated.http.batches.google import GoogleBatchServer
from jury_providers.simulated.http.batches.http import Answer, Ask
from jury_providers.simulated.http.batches.jobs import BatchJobs
from jury_providers.simulated.http.batches.openai import OpenAIBatchServer
from jury_providers.simulated.http.protocol import GoogleErrors, ProviderErrors


def batch_routes(
    jobs: BatchJobs, versions: Iterable[str], errors_of: Callable[[Request], ProviderErrors]
) -> list[Route]:
    """All routes; they come before those of model calls."""
    openai, anthropic, google = OpenAIBatchServer(jobs), AnthropicBatchServer(jobs), GoogleBatchServer(jobs)

    def either(ask_openai: Ask, ask_google: Ask) -> Ask:
        async def answer(request: Request) -> Answer:
            is_google = isinstance(errors_of(request), GoogleErrors)
            return await (ask_google if is_google else ask_openai)(request)

        return answer

    def route(path: str, method: str, call: str, ask: Ask, name: str | None = None) -> Route:
        return Route(path, jobs.route(call, errors_of, ask), methods=[method], name=name)

    messages = "/v1/messages/batches"
    found = [
        route("/v1/files", "POST", "upload", openai.upload),
        route("/v1/files/{id}/content", "GET", "results", openai.content),
        route("/v1/batches", "POST", "submit", openai.submit),
        route("/v1/batches/{id}/cancel", "POST", "cancel", openai.cancel),
        route(messages, "POST", "submit", anthropic.submit),
        route(messages, "GET", "list", anthropic.listed),
        route(f"{messages}/{{id}}", "GET", "state", anthropic.one),
        route(f"{messages}/{{id}}/cancel", "POST", "cancel", anthropic.cancel),
        route(f"{messages}/{{id}}/results", "GET", "results", anthropic.results, "anthropic_results"),
        route("/v1/batches", "GET", "list", either(openai.listed, google.listed)),
    ]
    for version in versions:
        is_openai = version == "v1"
        one = either(openai.one, google.one) if is_openai else google.one
        found += [
            route(f"/upload/{version}/files", "POST", "upload", google.upload),
            route(f"/{version}/models/{{model:path}}:batchGenerateContent", "POST", "submit", google.submit),
            route(f"/{version}/batches", "GET", "list", google.listed),
            route(f"/{version}/batches/{{id}}:cancel", "POST", "cancel", google.cancel),
            route(f"/{version}/batches/{{id}}", "GET", "state", one),
            route(f"/{version}/files/{{id}}:download", "GET", "results", google.download),
        ]
    return found
