"""A package's interface: the names that its stub lists, each loaded at its first use.

`__init__.pyi` beside a package's `__init__.py` says which names the package offers and where each of them is; type
checkers read the same file. Of a stub with `__all__`, `dir` shows these names alone. Nothing is imported before it is
needed, so that `import jury_judge` is fast (PEP 562).
"""

import ast
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: `__getattr__, __dir__ = lazy_names(__name__)`."""
    module = sys.modules[package]
    module.__class__ = _Interface

    interface = partial(_stub, Path(str(module.__file__)).with_suffix(".pyi"), package)

    def get(name: str) -> Any:
        if name == "__all__":
            return interface()[1]
        if not name.startswith("__") and name in interface()[0]:
            value = getattr(import_module(interface()[0][name]), name)
            setattr(module, name, value)
            return value
        if (inside := sys.modules.get(f"{package}.{name}")) is not None:
            return inside
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*(name for name in vars(module) if name.startswith("__")), *interface()[1]})

    return get, names


class _Interface(ModuleType):
    """A package in which a module does not hide the name that it defines: `gate` of `jury_analysis.gate`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in vars(value)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # as a plain module: by its name


@cache
def _stub(path: Path, package: str) -> tuple[dict[str, str], list[str]]:
    """The module of each name, and the names of `__all__`, or all of them where the stub has none."""
    modules: dict[str, str] = {}
    public: list[str] | None = None
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom):
            of = f"{package}.{statement.module}" if statement.level else str(statement.module)
            for alias in statement.names:
                modules[alias.name] = of
        elif isinstance(statement, ast.Assign):
            public = ast.literal_eval(statement.value)
    return modules, public if public is not None else sorted(modules)
