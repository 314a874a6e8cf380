"""Functions and classes as their own source spells them, in plain names."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args, get_origin

WIDTH = 100
# What the models call a type that has a plain name as well.
PLAIN = {
    "Strings": "tuple[str, ...]",
    "Instant": "datetime",
    "Confidence": "float",
    "FiniteFloat": "float",
}


class Field(NamedTuple):
    """A field of a class; ``default`` is None where it must be given."""

    name: str
    kind: str
    default: str | None
    meaning: str


def signature(function: Callable[..., Any]) -> str:
    """A function's head, with a line for each argument where it is long."""
    kind = "async def" if _is_async(function) else "def"
    return _wrapped(f"{kind} {function.__name__}", _arguments(function), f" -> {_returned(function)}")


def construction(kind: type) -> str:
    """How an object is made by the ``__init__`` that its class defines itself."""
    return _wrapped(kind.__name__, _arguments(vars(kind)["__init__"]))


def call(function: Callable[..., Any]) -> str:
    """A function with its arguments and what it returns, on one line."""
    kind = "async " if _is_async(function) else ""
    return f"{kind}{function.__name__}({', '.join(_arguments(function))}) -> {_returned(function)}"


def fields(kind: type) -> Iterator[Field]:
    """The fields in the body of a class; the text below one is its meaning."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(node, ast.ClassDef)
    names = _Names.of(kind)
    for statement, below in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            default = None if statement.value is None else names.spelled(_given(statement.value))
            yield Field(statement.target.id, names.spelled(statement.annotation), default, _text(below))


def constants(module: ModuleType) -> dict[str, str]:
    """The constants of a module that have a text below them, and that text."""
    body = ast.parse(inspect.getsource(module)).body
    return {
        target.id: _text(below)
        for statement, below in zip(body, [*body[1:], None], strict=True)
        if isinstance(statement, ast.Assign) and _text(below)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def named_functions(function: Callable[..., Any], package: str) -> Iterator[Callable[..., Any]]:
    """The functions in modules of a package that a function names, or one beside it that it calls."""
    beside = vars(sys.modules[function.__module__])
    for node in ast.walk(_definition(function)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = beside.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.startswith(f"{package}."):
                found = getattr(module, node.attr)
                if inspect.isfunction(found):
                    yield found
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = beside.get(node.func.id)
            if inspect.isfunction(called) and called.__module__ == function.__module__:
                yield from named_functions(called, package)


def _is_async(function: Callable[..., Any]) -> bool:
    return isinstance(_definition(function), ast.AsyncFunctionDef)


def _returned(function: Callable[..., Any]) -> str:
    node = _definition(function).returns
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return _Names.of(function).spelled(node)


def _wrapped(head: str, arguments: list[str], end: str = "") -> str:
    line = f"{head}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{head}(", *(f"    {each}," for each in arguments), f"){end}"])


def _arguments(function: Callable[..., Any]) -> list[str]:
    """The arguments but ``self``, with their types and defaults."""
    node = _definition(function)
    names = _Names.of(function)
    taken = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    defaults = dict(zip(taken, node.args.defaults, strict=True))
    defaults |= {
        argument: default
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    }
    shown = []
    for argument in (*node.args.args, *node.args.kwonlyargs):
        if argument.arg in ("self", "cls"):
            continue
        if argument in node.args.kwonlyargs[:1]:
            shown.append("*")
        default = f" = {names.spelled(defaults[argument])}" if argument in defaults else ""
        shown.append(f"{argument.arg}: {names.spelled(argument.annotation)}{default}")
    return shown


class _Names(ast.NodeTransformer):
    """Without ``Annotated``, and with what the names of literals and private objects stand for."""

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    @classmethod
    def of(cls, where: Callable[..., Any]) -> "_Names":
        return cls(vars(sys.modules[where.__module__]))

    def spelled(self, node: ast.expr | None) -> str:
        """An annotation or a default as text."""
        return "None" if node is None else ast.unparse(self.visit(node)).replace("'", '"')

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated":
            assert isinstance(node.slice, ast.Tuple)
            inner: ast.AST = self.visit(node.slice.elts[0])
            return inner
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._known.get(node.id)
        if get_origin(value) is Literal:
            return _parsed(f"Literal[{', '.join(map(repr, get_args(value)))}]")
        if node.id.isupper() and isinstance(value, str | int | float):
            return ast.Constant(value)
        if node.id.startswith("_") and value is not None:
            return _parsed(f"{type(value).__name__}()")
        return _parsed(PLAIN[node.id]) if node.id in PLAIN else node


def _definition(function: Callable[..., Any]) -> ast.FunctionDef | ast.AsyncFunctionDef:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node


def _given(node: ast.expr) -> ast.expr:
    """The default itself, where it stands in a ``Field(default=...)``."""
    if isinstance(node, ast.Call):
        return next((each.value for each in node.keywords if each.arg == "default"), node)
    return node


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
