"""Converts values of Arrow columns to Python values of JSON's types, or bytes."""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column is cast to before conversion.

    Times are truncated to microseconds, Python's resolution, and converted to UTC, which needs no time zone database.
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(index)) for index in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """The function that converts values of this type; None if they need no conversion."""
    if _is_plain(kind):
        return None
    if pa.types.is_floating(kind):
        return _finite
    return _plain


def _is_plain(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_struct(kind):
        return all(_is_plain(kind.field(index).type) for index in range(kind.num_fields))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    if types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _finite(value: float | None) -> float | str | None:
    """None for NaN (a missing value in tables of floats); infinities, which JSON does not have, as text."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | bytes):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return _plain_list(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return _plain_decimal(value) if isinstance(value, Decimal) else str(value)


def _plain_list(values: list[Any]) -> Any:
    """A list; a map (a list of pairs) becomes an object if its keys are distinct texts."""
    if not values or not isinstance(values[0], tuple):
        return [_plain(value) for value in values]
    keys = [key for key, _ in values]
    if all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys):
        return {key: _plain(value) for key, value in values}
    return [[_plain(key), _plain(value)] for key, value in values]


def _plain_decimal(value: Decimal) -> int | float | str:
    """An integer, a float with the same decimal representation, or else the digits as text."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
