"""The simulation server answers as the in-process models do, through every SDK, whole and streamed."""

import json
from collections.abc import AsyncIterator

import anthropic
import httpx2
import pytest
import pytest_asyncio
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from jury_debate.datamark import mark
from jury_providers.provider import ModelMessage, ModelRequest
from jury_providers.simulated.http.server import Simulation, simulation_server
from jury_providers.simulated.prompt import read_prompt
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.tool_use import call_id
from support.debate_harness import a_case
from support.model_requests import requests_of_a_debate
from support.raw_sdks import CLIENTS, Client, after_tools
from support.scales import ANSWERS, LEVELS

pytestmark = pytest.mark.asyncio(loop_scope="module")

RECORDS = '{"count":1,"records":[{"id":"gate-7"}],"total":41}'


@pytest.fixture(scope="module")
def debate() -> dict[str, ModelRequest]:
    """The requests of a debate of two rounds and a final judge, about a case with records."""
    return requests_of_a_debate(discussion={"max_rounds": 2, "end_early": False})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Simulation]:
    async with simulation_server() as running:
        yield running


@pytest_asyncio.fixture(params=CLIENTS, loop_scope="module")
async def client(request, server) -> AsyncIterator[Client]:
    client = CLIENTS[request.param](server.url)
    yield client
    await client.close()


def in_process(request: ModelRequest) -> dict[str, object]:
    return SimulatedReader().read(request).answer


@pytest.mark.parametrize("stream", [False, True])
async def test_every_step_of_a_debate_is_answered_as_in_process(client, debate, stream):
    for step, request in debate.items():
        plain = request._replace(tools=())
        answer = await client.ask(plain, stream=stream)

        assert in_process(plain) == json.loads(answer.text), step
        assert answer.model == request.model
        assert min(answer.tokens) > 0  # type: ignore[type-var]


@pytest.mark.parametrize("stream", [False, True])
async def test_tools_are_called_and_their_results_used_as_in_process(client, debate, stream):
    request = debate["initial/gemini"]
    marker = next(line for line in request.messages[1].text.split("\n") if line.startswith("⟦")).partition(" ")[0]
    result = mark(RECORDS, marker)
    wanted = SimulatedReader().read(request).tools
    results = tuple(ModelMessage("tool", result, call_id(tool.name)) for tool in wanted)

    asked = await client.ask(request, stream=stream)
    answer = await client.ask(after_tools(request, asked, [result] * len(wanted)), stream=stream)

    assert len(wanted) == 2
    assert [(tool.name, json.loads(tool.arguments)) for tool in wanted] == [tool[1:] for tool in asked.tools]
    assert in_process(request._replace(messages=(*request.messages, *results))) == json.loads(answer.text)
    assert "gate-7" in answer.text


async def test_a_repaired_answer_is_the_same_as_the_first(client, debate):
    request = debate["round-1/claude"]
    first = await client.ask(request, stream=False)
    turn = ModelMessage("assistant", json.dumps(first.turn))
    again = request._replace(messages=(*request.messages, turn, ModelMessage("user", "Answer again, with one object.")))

    assert first.text == (await client.ask(again, stream=False)).text


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_scenarios_and_another_rubric_are_judged_as_in_process(client, language):
    requests = requests_of_a_debate(a_case(scenarios=3), language=language, rubric="aisev")
    for step in ("initial/gpt", "final"):
        answer = json.loads((await client.ask(requests[step], stream=False)).text)

        assert in_process(requests[step]) == answer
        assert len(answer["scenarios"]) == 3


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_evidence_is_given_as_in_process(client, language):
    requests = requests_of_a_debate(a_case(scenarios=2), language=language, prompts=2, discussion={"max_rounds": 1})
    for step in ("initial/gpt", "round-1/claude", "final"):
        messages = tuple(ModelMessage(message.role, message.whole) for message in requests[step].messages)
        request = requests[step]._replace(tools=(), messages=messages)
        answer = json.loads((await client.ask(request, stream=False)).text)

        assert in_process(request) == answer
        assert {"evidence", "decisive_item"} <= answer.keys()


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("scale", [ANSWERS, LEVELS], ids=["criteria", "no points"])
async def test_a_scale_of_the_panel_is_judged_in_as_in_process(client, scale, language):
    requests = requests_of_a_debate(
        a_case(scenarios=2), language=language, prompts=2, discussion={"max_rounds": 1}, **scale
    )
    for step in ("initial/gpt", "round-1/claude", "final"):
        messages = tuple(ModelMessage(message.role, message.whole) for message in requests[step].messages)
        request = requests[step]._replace(tools=(), messages=messages)
        answer = json.loads((await client.ask(request, stream=False)).text)

        assert in_process(request) == answer
        assert answer["verdict"] in request.schema["properties"]["verdict"]["enum"]
        assert ("scores" in answer) == ("criteria" in scale)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(("prompts", "evidence"), [(1, None), (2, "asked"), (2, "off")])
async def test_a_request_without_a_schema_is_answered_from_what_its_prompt_shows(language, prompts, evidence):
    requests = requests_of_a_debate(
        a_case(scenarios=3),
        prompts=prompts,
        language=language,
        rubric="aisev",
        discussion={"max_rounds": 1},
        answers={"evidence": evidence},
    )
    for request in requests.values():
        assert read_prompt(request).form == read_prompt(request._replace(schema={})).form


async def test_maxima_are_read_from_descriptions_in_anthropics_schema_dialect(debate):
    request = debate["initial/gpt"]
    unknown = (ModelMessage("system", "The ballot is abcdefgh234567zz."), ModelMessage("user", "Grass."))
    moved = request._replace(messages=unknown, schema=anthropic.transform_schema(request.schema))

    assert "maximum" not in moved.schema["properties"]["scores"]["properties"]["safety"]
    assert read_prompt(request).form == read_prompt(moved).form


@pytest.mark.parametrize("kind", ["chat", "generate"])
async def test_a_seed_in_the_request_is_used(server, debate, kind):
    client = CLIENTS[kind](server.url)
    request = debate["initial/gpt"]._replace(tools=())
    answers = set()
    for seed in range(4):
        seeded = request._replace(settings=request.settings.model_copy(update={"seed": seed}))
        answer = (await client.ask(seeded, stream=False)).text
        answers.add(answer)

        assert in_process(seeded) == json.loads(answer)
    await client.close()

    assert len(answers) > 1


async def test_without_a_seed_in_the_request_the_servers_seed_is_used(debate):
    request = debate["initial/gpt"]._replace(tools=())
    async with simulation_server(seed=3) as server:
        client = CLIENTS["messages"](server.url)
        answer = (await client.ask(request, stream=False)).text
        await client.close()

    seeded = request._replace(settings=request.settings.model_copy(update={"seed": 3}))
    assert in_process(seeded) == json.loads(answer)
    assert in_process(request) != json.loads(answer)


async def test_models_are_listed_in_each_providers_form(server):
    openai = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none")
    claude = anthropic.AsyncAnthropic(base_url=server.url, api_key="none")
    async with openai, claude, httpx2.AsyncClient() as http:
        options = types.HttpOptions(base_url=server.url, httpx_async_client=http)
        gemini = genai.Client(api_key="none", http_options=options).aio

        assert ["simulated-1"] == [model.id async for model in openai.models.list()]
        assert ["simulated-1"] == [model.id async for model in claude.models.list()]
        assert ["models/simulated-1"] == [model.name async for model in await gemini.models.list()]


async def test_it_counts_what_it_served_by_step(debate):
    async with simulation_server() as server:
        client = CLIENTS["chat"](server.url)
        for request in debate.values():
            await client.ask(request, stream=False)
        await client.close()
        counts = server.served.counts()

    phases = ("initial", "round-1", "round-2")
    assert {f"{phase}/{letter}": 1 for phase in phases for letter in "ABC"} | {"final": 1} == counts["by_step"]
    assert (10, 0, {"chat": 10}, 0) == (
        counts["requests"],
        counts["refused"],
        counts["by_protocol"],
        counts["in_flight"],
    )
