"""The budget of a run, and its spending in earlier sessions."""

from collections.abc import Iterable
from datetime import date

from jury_actors.admission.budget import Ceiling, Spent
from jury_actors.batches.batch_log import batches_of
from jury_events.exchange import ExchangeRecorded
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.stores.debates import rows_of_run
from jury_providers.prices import PRICES_ENV, Prices
from jury_providers.provider import token_upper_bound
from jury_replay.intact import intact_history
from jury_store.debate_rows import DebateFilter, RunRow, Totals
from jury_store.event_store import EventStore


def check_priced(models: Iterable[str], prices: Prices, on: date) -> None:
    """Check that every model has a price, so that the cost can be limited.

    Raises:
        SettingsRefused: names the models without a price.
    """
    unknown = [model for model in models if not prices.has_price(model, on)]
    if unknown:
        raise SettingsRefused(
            f"{{max_cost}}: no price is known for {escaped(', '.join(unknown))}; give one with {{prices}} FILE or "
            f"{PRICES_ENV}, or limit the run with {{max_calls}}",
            usage=False,
        )


def ceiling(
    store: EventStore, run_id: str, prices: Prices, on: date, *, max_calls: int | None, max_cost: float | None
) -> Ceiling:
    """The budget of a run over all its sessions, with what the earlier ones spent.

    Calls that were sent and not recorded count with the most that they can have cost. A run that had a budget goes on
    being counted without one: what an earlier session left unrecorded is then still known to a later one.
    """
    row = store.run(run_id)
    bounds = Ceiling(max_calls, max_cost)
    if not bounds.bounded and (row is None or row.calls_at_most is None):
        return bounds
    sums = store.totals(DebateFilter(run_id, counted=None))
    recorded, at_most = _spent(store, run_id, sums, prices, on), lease_of(row)
    recorded = recorded._replace(cost=recorded.cost + sum(one.unused_cost for one in batches_of(store, run_id)))
    if at_most is not None and at_most.calls > recorded.calls:
        recorded = Spent(at_most.calls, max(at_most.cost, recorded.cost))
    return bounds._replace(spent=recorded, run=run_id)


def lease_of(row: RunRow | None) -> Spent | None:
    """What a run may have spent at most, with the calls that are not recorded; None: it never had a budget."""
    if row is None or row.calls_at_most is None:
        return None
    return Spent(row.calls_at_most, row.cost_at_most or 0.0)


def _spent(store: EventStore, run_id: str, sums: Totals, prices: Prices, on: date) -> Spent:
    if not sums.unknown_cost:
        return Spent(sums.calls, sums.cost)
    cost = sum(
        _cost(store, row.debate_id, prices, on) if row.cost is None else row.cost for row in rows_of_run(store, run_id)
    )
    return Spent(sums.calls, cost)


def _cost(store: EventStore, debate_id: str, prices: Prices, on: date) -> float:
    """The cost of a debate with calls whose cost is not recorded: those count with the most that they can have cost."""
    history = intact_history(store, debate_id)
    sizes = {ref: len(content) for ref, content in history.texts.items()}
    return sum(_most(one, sizes, prices, on) for one in history.exchanges)


def _most(exchange: ExchangeRecorded, sizes: dict[str, int], prices: Prices, on: date) -> float:
    if exchange.cost is not None:
        return exchange.cost
    known = prices.cost(exchange.model, exchange.usage, on)
    if known is not None:
        return known
    sent = sum(sizes.get(ref.part, 0) for message in exchange.request for ref in message.parts)
    pictures = sum(len(message.images) for message in exchange.request)
    most = token_upper_bound(sent, pictures, exchange.model.partition("/")[2])
    return prices.upper_bound(exchange.model, most, exchange.settings, on) or 0.0
