"""JMESPath expressions over decoded JSON, and which parts of the JSON they read.

Source: the library `jmespath`, with three functions more:

- `json(text)`: the value of JSON text; any other value is unchanged.
- `branch(nodes, last, &id, &parent)`: of a tree the nodes from its root to the one with the id `last` (null: to the
  last of the list). Nodes may contain their followers in `children` or `replies`. Branches beside it are
  `AbandonedBranch`es behind the node that they left.
- `joined(ones, others, &key, &key)`: pairs `{one, others}` of elements with equal keys; an element of `others` without
  a partner is in a pair whose `one` is null.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Annotated, Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions, signature
from jmespath.parser import ParsedResult
from jmespath.visitor import Options, TreeInterpreter
from pydantic import AfterValidator

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank
from jury_events.text import visible_line


class AbandonedBranch(dict[str, Any]):
    """What a tree has beside the branch that was shown last; `nodes` are its nodes."""


@lru_cache(maxsize=4096)
def compiled(text: str) -> ParsedResult:
    """The parsed expression; raises `JMESPathError`."""
    return jmespath.compile(text)


def _checked(text: str) -> str:
    try:
        compiled(text)
    except (JMESPathError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"is no JMESPath expression: {visible_line(reason, 200)}") from error
    return text


Expression = Annotated[str, AfterValidator(_checked)]
"""The text of a JMESPath expression."""


class _Functions(Functions):
    """The functions of the library, and ours; `decoded` keeps what `json` returned."""

    def __init__(self) -> None:
        super().__init__()
        self.decoded: list[Any] = []
        self._known: dict[str, Any] = {}

    @signature({"types": []})
    def _func_json(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in self._known:  # what two expressions read is one value
            self._known[value] = found = decoded_json(value)
            if found is not value:
                self.decoded.append(found)
        return self._known[value]

    @signature({"types": ["string"]}, {"types": ["array", "null"]})
    def _func_join(self, mark: str, texts: list[Any] | None) -> str | None:
        """As the library's; nothing of nothing, and any other value as JSON."""
        return None if texts is None else mark.join(as_text(one) for one in texts if one is not None)

    @signature({"types": ["array", "null"]}, {"types": []}, {"types": ["expref"]}, {"types": ["expref"]})
    def _func_branch(self, nodes: list[Any] | None, last: Any, of_id: Any, of_parent: Any) -> Any:
        return None if nodes is None else _branch(list(_flat(nodes, of_id, of_parent)), last)

    @signature({"types": ["array", "null"]}, {"types": ["array", "null"]}, {"types": ["expref"]}, {"types": ["expref"]})
    def _func_joined(self, ones: list[Any] | None, others: list[Any] | None, of_one: Any, of_other: Any) -> Any:
        waiting: dict[str, list[Any]] = {}
        for other in others or ():
            waiting.setdefault(as_text(_value(of_other, other)), []).append(other)
        pairs = [{"one": one, "others": waiting.pop(as_text(_value(of_one, one)), [])} for one in ones or ()]
        return pairs + [{"one": None, "others": [other]} for left in waiting.values() for other in left]


def _value(reference: Any, element: Any) -> Any:
    return reference.visit(reference.expression, element)


def _flat(nodes: list[Any], of_id: Any, of_parent: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The nodes with the ids of themselves and their parents, each before those that it contains."""
    waiting: list[tuple[Any, str]] = [(node, "") for node in reversed(nodes)]
    while waiting:
        node, above = waiting.pop()
        if not isinstance(node, dict):
            continue
        own, parent = as_text(_value(of_id, node)), as_text(_value(of_parent, node)) or above
        yield own, parent, node
        inner = node.get("children") or node.get("replies")
        if isinstance(inner, list):
            waiting += [(one, own) for one in reversed(inner) if isinstance(one, dict)]


def _branch(nodes: list[tuple[str, str, dict[str, Any]]], last: Any) -> list[dict[str, Any]]:
    known = {own: (parent, node) for own, parent, node in nodes}
    end = as_text(last) if as_text(last) in known else nodes[-1][0] if nodes else ""
    path: dict[str, None] = {}
    while end in known and end not in path:
        path[end] = None
        end = known[end][0]
    top: dict[str, tuple[str, str]] = {}
    left: dict[tuple[str, str], list[Any]] = {}
    for own, parent, node in nodes:
        if own not in path:
            top[own] = top.get(parent, (parent, own))
            left.setdefault(top[own], []).append(node)
    beside: dict[str, list[dict[str, Any]]] = {}
    for (parent, _), branch in left.items():
        beside.setdefault(parent if parent in path else "", []).append(AbandonedBranch(nodes=branch))
    found = beside.pop("", [])
    for own in reversed(path):
        found += [known[own][1], *beside.get(own, ())]
    return found


_TEXTS = frozenset({"to_string", "join"})
_FIELDS = frozenset({"merge", "values"})
"""Functions whose result has all fields of an object: what is in them is read by itself."""


class ExpressionReading:
    """Evaluates expressions over the values of one row, and knows what of them no expression read.

    Conditions read nothing. A value that an expression returns is read with all that is in it.
    """

    def __init__(self) -> None:
        self._functions = _Functions()
        options = Options(custom_functions=self._functions)
        self._reads = _Recording(options, self)
        self._asks = TreeInterpreter(options)
        self.fields: dict[int, set[Any]] = {}
        self.whole: set[int] = set()
        self._kept: list[Any] = []

    def value(self, expression: str, of: Any, place: str) -> Any:
        """What an expression finds, which is read."""
        found = _visited(self._reads, expression, of, place)
        self.take(found)
        return found

    def elements(self, expression: str, of: Any, place: str) -> Any:
        """What an expression finds, whose elements are read one by one; raises as `value`."""
        found = _visited(self._reads, expression, of, place)
        self._kept.append(found)
        return found

    def holds(self, condition: str | None, of: Any, place: str) -> bool:
        """Whether a condition holds; None: it does. One that cannot be applied does not."""
        try:
            return condition is None or not is_false(_visited(self._asks, condition, of, place))
        except CaseFileError:
            return False

    def asked(self, condition: str | None, of: Any) -> None:
        """Count the fields as read whose value a true condition names, as in `type == 'text'`."""
        if condition is not None and isinstance(of, dict):
            self.fields.setdefault(id(of), set()).update(_named_by(condition))

    def take(self, value: Any) -> None:
        self._kept.append(value)
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict | list) and id(one) not in self.whole:
                self.whole.add(id(one))
                waiting += one.values() if isinstance(one, dict) else one

    @property
    def decoded(self) -> int:
        """How many values were decoded so far, for `unread`."""
        return len(self._functions.decoded)

    def unread(self, value: Any, ignored: frozenset[str], place: str, since: int) -> Iterator[tuple[str, str, Any]]:
        """What, place and value of each part of a value, and of what was decoded `since`, that no expression read."""
        decoded = self._functions.decoded[since:]
        del self._functions.decoded[since:]
        self._kept += decoded
        waiting: list[tuple[Any, str]] = [(value, place), *((one, place) for one in decoded)]
        while waiting:
            one, at = waiting.pop()
            if id(one) in self.whole:
                continue
            for what, inner_at, inner in self._inside(one, ignored, at):
                if what is None:
                    waiting.append((inner, inner_at))
                else:
                    yield what, inner_at, inner

    def _inside(self, one: Any, ignored: frozenset[str], at: str) -> Iterator[tuple[str | None, str, Any]]:
        """What of an object or a list was not read; without a name what was read in part."""
        if isinstance(one, dict):
            read: Collection[str] = self.fields.get(id(one), ())
            for name, inner in one.items():
                if name in ignored or is_blank(inner):
                    continue
                if name not in read:
                    yield f"field {name}", f"{at}.{name}", inner
                elif isinstance(inner, dict | list):
                    yield None, f"{at}.{name}", inner
        elif isinstance(one, list):
            read = self.fields.get(id(one), ())
            for index, inner in enumerate(one):
                if not is_blank(inner) and id(inner) not in self.whole:
                    what = self._element(one, index, read)
                    if what or isinstance(inner, dict | list):
                        yield what, f"{at}.{index}", inner

    def _element(self, listed: list[Any], index: int, read: Collection[Any]) -> str | None:
        """What an element of a list is that was not read; None: it was, at least in part."""
        inner = listed[index]
        if isinstance(inner, dict) and id(inner) not in self.fields:
            return f"block {as_text(inner.get('type')) or 'unnamed'}"
        is_other = read and not isinstance(inner, dict | list) and not {index, index - len(listed)} & {*read}
        return "another value" if is_other else None


def is_false(value: Any) -> bool:
    """JMESPath's rule: null, false, and what is empty."""
    return value is None or value is False or value in ("", [], {})


def _visited(interpreter: TreeInterpreter, expression: str, of: Any, place: str) -> Any:
    try:
        return interpreter.visit(compiled(expression).parsed, of)
    except (JMESPathError, TypeError, ValueError, AttributeError) as error:
        shown = visible_line(expression, 80)
        raise CaseFileError(f"{place}: {shown} cannot be applied: {visible_line(str(error), 200)}") from error


class _Recording(TreeInterpreter):
    def __init__(self, options: Options, reading: ExpressionReading) -> None:
        super().__init__(options)
        self._reading = reading

    def visit_field(self, node: Any, value: Any) -> Any:
        if isinstance(value, dict):
            self._reading.fields.setdefault(id(value), set()).add(node["value"])
            return value.get(node["value"])
        return None

    def visit_index(self, node: Any, value: Any) -> Any:
        if isinstance(value, list):
            self._reading.fields.setdefault(id(value), set()).add(node["value"])
        return super().visit_index(node, value)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        if node["value"] in _TEXTS:  # what is made a text is read with all that is in it
            for child in node["children"]:
                self._reading.take(self.visit(child, value))
        elif node["value"] in _FIELDS:
            for child in node["children"]:
                self._named(self.visit(child, value))
        return super().visit_function_expression(node, value)

    def visit_value_projection(self, node: Any, value: Any) -> Any:
        self._named(self.visit(node["children"][0], value))
        return super().visit_value_projection(node, value)

    def _named(self, base: Any) -> None:
        if isinstance(base, dict):
            self._reading.fields.setdefault(id(base), set()).update(base)


@lru_cache(maxsize=4096)
def _named_by(condition: str) -> frozenset[str]:
    found: set[str] = set()
    waiting: list[Any] = [compiled(condition).parsed]
    while waiting:
        node = waiting.pop()
        kinds = [one["type"] for one in node["children"] if isinstance(one, dict)]
        if node["type"] == "comparator" and node["value"] == "eq" and kinds == ["field", "literal"]:
            found.add(node["children"][0]["value"])
        if node["type"] in {"and_expression", "or_expression"}:
            waiting += node["children"]
    return frozenset(found)


@lru_cache(maxsize=4096)
def fields_of(expression: str) -> frozenset[str]:
    found: set[str] = set()
    waiting: list[Any] = [compiled(expression).parsed]
    while waiting:
        node = waiting.pop()
        if node["type"] == "field":
            found.add(node["value"])
        waiting += [one for one in node["children"] if isinstance(one, dict)]
    return frozenset(found)
