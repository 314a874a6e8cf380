"""Reads the packages as text: the tests here judge what is written, not what it does when run."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("amfs_sqlite", "bridge", "demo")
PACKAGES = (*SHIPPED, "parity_tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """One module that another one imports."""

    target: str
    line: int
    lazy: bool


@dataclass(frozen=True)
class Module:
    """One source file."""

    name: str
    path: str
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    def at(self, node: ast.AST) -> str:
        """The place of a node, as a finding names it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    def within(self, *folders: str) -> bool:
        """Whether this is one of these files, or lies in one of these folders."""
        return any(self.path == each or self.path.startswith(f"{each}/") for each in folders)


def modules(root: Path, packages: tuple[str, ...] = PACKAGES) -> list[Module]:
    """All modules of these packages; a package that is not there has none."""
    paths = {_name(root, path): path for each in packages for path in python_files(root / each)}
    return [_read(root, name, path, set(paths)) for name, path in sorted(paths.items())]


def python_files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder."""
    return folder.rglob("*.py")


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The constants that are docstrings."""
    owners = ast.Module | ast.ClassDef | Function
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners)]
    return {body[0].value for body in bodies if body and isinstance(body[0], ast.Expr)}


def dotted(node: ast.AST, known: Mapping[str, str]) -> str:
    """The full name that `a.b.c` stands for, given what the file's imports bind; else nothing."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, known)
        return f"{owner}.{node.attr}" if owner else ""
    return known.get(node.id, "") if isinstance(node, ast.Name) else ""


def bindings(tree: ast.AST) -> dict[str, str]:
    """The names that a file's imports bind, and what they stand for."""
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                bound[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Make up a tree of sources, to show that a rule catches what breaks it."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root


def _name(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(root: Path, name: str, path: Path, known: set[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = tuple(
        Import(target, node.lineno, lazy)
        for node, lazy in _import_statements(tree, lazy=False)
        for target in _targets(node, package, known)
    )
    return Module(name, path.relative_to(root).as_posix(), text, tree, found)


def _import_statements(node: ast.AST, *, lazy: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, lazy
        else:
            yield from _import_statements(child, lazy=lazy or isinstance(child, Function))


def _targets(node: ast.Import | ast.ImportFrom, package: str, known: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    parents = package.split(".")
    above = parents[: len(parents) - node.level + 1] if node.level else []
    source = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        # `from package import name` imports a module if there is one of that name.
        inner = f"{source}.{alias.name}"
        yield inner if inner in known else source
