"""Every provider at one server of simulated models."""

from jury_providers import Endpoint, Endpoints


def endpoints(url: str) -> Endpoints:
    """As a panel file would say it."""
    at_v1, here = Endpoint(base_url=f"{url}/v1"), Endpoint(base_url=url)
    return {"openai": at_v1, "openai-responses": at_v1, "anthropic": here, "google": here}
