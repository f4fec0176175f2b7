"""The rooms of the package import only from rooms below them, and one module imports the core."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import surtree

ROOT = Path(surtree.__file__).parent

# From the bottom up, as in docs/architecture.md.
ROOMS = (
    "_core",
    "_support",
    "words",
    "data",
    "survival",
    "metrics",
    "solver",
    "cuts",
    "tree",
    "outcomes",
    "fitting",
    "engines",
    "validation",
    "estimators",
    "effects",
    "heuristics",
    "model_selection",
    "averages",
    "loading",
    "questions",
    "verification",
    "datasets",
    "summary",
    "report",
    "export",
    "plot",
    "reading",
    "__init__",
    "cli",
    "__main__",
)
# A notebook asks a tree for its page, and a tree what its leaves mean, which only then is imported.
LATE = {("tree.tree", "report"), ("tree.tree", "outcomes"), ("estimators.base", "report")}


def read(path, root=ROOT):
    """Return the name of a module, and its imports: at the top, for type checkers, and late."""
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    found = {"top": set(), "types": set(), "late": set()}

    def visit(node, where):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                modules = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                modules = [imported(child, alias.name, root) for alias in child.names]
            else:
                modules = []
            for module in modules:
                if module.split(".")[0] == "surtree":
                    found[where].add(module.removeprefix("surtree").removeprefix(".") or "__init__")
            inside = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = "late"
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                inside = "types"
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), "top")
    return name, found


def imported(node, name, root):
    """Return the module that ``from ... import name`` reads: the one of that name, if it is one."""
    assert node.level == 0, "imports are absolute"
    inner = root.joinpath(*node.module.split(".")[1:], name)
    is_module = inner.is_dir() or inner.with_suffix(".py").is_file() or name == "_core"
    return (
        f"{node.module}.{name}" if node.module.startswith("surtree") and is_module else node.module
    )


def room(module):
    return module.split(".")[0]


def problems(modules):
    """Return each import that does not go down."""
    place = {name: number for number, name in enumerate(ROOMS)}
    return [
        f"{module} imports {other}"
        for module, found in modules.items()
        for where, others in found.items()
        for other in others
        if room(module) != room(other)
        and place[room(other)] >= place[room(module)]
        and not (where != "top" and (module, room(other)) in LATE)
    ]


@pytest.fixture(scope="module")
def modules():
    return dict(read(path) for path in sorted(ROOT.rglob("*.py")))


def test_every_room_is_in_the_order(modules):
    assert {room(module) for module in modules} | {"_core"} == set(ROOMS)


def test_rooms_import_only_from_rooms_below(modules):
    assert problems(modules) == []


def test_no_module_imports_itself_through_others(modules):
    def resolved(other):
        return f"{other}.__init__" if f"{other}.__init__" in modules else other

    graph = {module: set(map(resolved, found["top"])) for module, found in modules.items()}
    TopologicalSorter(graph).prepare()  # a cycle is an error that names its modules


def test_two_modules_import_the_compiled_core(modules):
    importers = [
        module
        for module, found in modules.items()
        for others in found.values()
        if any(room(other) == "_core" for other in others)
    ]
    assert sorted(importers) == ["_support.compiled", "solver.core"]


def test_an_import_upwards_is_found(tmp_path):
    (tmp_path / "cuts").mkdir()
    source = tmp_path / "cuts" / "cut.py"
    source.write_text("from surtree.tree.tree import Tree\nfrom surtree import _core\n")
    (name, found) = read(source, tmp_path)
    assert problems({name: found}) == ["cuts.cut imports tree.tree"]
    assert "_core" in found["top"]


def test_the_order_is_the_one_of_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = [name.strip(" `/") for row in rows for name in row.split(",")]
    shown = [name for name in ROOMS if name not in ("_core", "__init__", "__main__")]
    assert [name for name in named if name in shown] == shown


@pytest.mark.parametrize("name", ["report"])
def test_a_room_is_a_module_under_its_own_name(name):
    assert isinstance(getattr(surtree, name), ModuleType)
