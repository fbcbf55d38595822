"""The front door of Python over PostgreSQL, which takes several writers."""

import asyncio

from jury_judge import Jury
from jury_replay import verify
from support.postgres import PostgresServer


async def test_juries_make_share_and_go_on_with_a_store_on_postgresql(postgres: PostgresServer) -> None:
    name = postgres.create_database()
    rows = [{"id": f"c{number}", "question": "Refund order 17.", "response": "Refunded."} for number in range(4)]
    options = {"store": postgres.url(name), "environ": {}}
    async with Jury("independent", **options) as one:
        async with Jury("adk-sequential", **options) as other:
            results = await asyncio.gather(*(jury.evaluate(rows[0]) for jury in (one, other)))
        judged = one.evaluate_many(rows, run_id="r", concurrency=2)
        first = await anext(judged)
        await judged.aclose()
        whole = [result async for result in one.evaluate_many(rows, run_id="r")]

        assert verify(one.store).ok
    postgres.drop_database(name)
    assert ["completed"] * 2 == [result.status for result in results]
    assert first == whole[0]
    assert [row["id"] for row in rows] == [result.case_id for result in whole]
