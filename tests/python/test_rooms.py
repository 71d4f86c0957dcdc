"""The rooms of the package: what they import lies below them, and no modules import each other in a circle."""

import ast
import re
import shutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "gasmeter"
ROOT = "gasmeter"


def order(package):
    """The rooms and modules of the package's README, the highest first."""
    text = (package / "README.md").read_text(encoding="utf-8")
    table = text.partition("| room | what it does |")[2].partition("\n\n")[0]
    return [name for line in table.splitlines()[2:] for name in re.findall(r"`([\w]+)/?`", line.split("|")[1])]


def modules(package):
    """Files by the name of their module; a folder's is its ``__init__``."""
    paths = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        paths[".".join([ROOT, *(part for part in parts if part != "__init__")])] = path
    return paths


def room(module, above=ROOT):
    """The folder right below another one, or the module itself where it stands there."""
    return module.removeprefix(above).split(".")[1] if module != above else "__init__"


def named(node, module, package):
    """Modules and names in them that a statement imports, wherever it stands and whatever for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = module.split(".")[: len(module.split(".")) - node.level + package] if node.level else []
        start = ".".join([*above, *filter(None, [node.module])])
        return [f"{start}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and "import" in ast.unparse(node.func) and node.args:
        return [word.value for word in node.args[:1] if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    return []


def imports(module, path, module_names):
    """Yield the modules of the package that a module imports; the package itself for a name that it offers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for name in named(node, module, path.name == "__init__.py"):
            parts = name.split(".")
            if parts[0] == ROOT and parts[1:2] != ["_core"] and len(parts) > 1:
                yield name if name in module_names else ".".join(parts[:-1])
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == ROOT and node.attr != "__path__":
            yield ROOT


def arrows_up(package, graph, above=ROOT):
    """A line for each arrow between rooms of a folder that does not go down, and each place that its table lacks."""
    table = order(package.joinpath(*above.split(".")[1:]))
    heights = {name: -number for number, name in enumerate(table)}
    within = {module: room(module, above) for module in graph if f"{module}.".startswith(f"{above}.")}
    yield from (f"{name} is not in the table" for name in sorted(set(within.values()) - {"__init__", *heights}))
    yield from (f"{name} is in the table only" for name in heights if name not in {"_core", *within.values()})
    for module, upper in within.items():
        for other in sorted(graph[module] & set(within)):
            lower = within[other]
            if upper != lower and heights.get(upper, 0) <= heights.get(lower, 0):
                yield f"{module} imports {other}, which stands above it"


def problems(package):
    """A line for each arrow that does not go down, each circle, and each place that a table does not have."""
    paths = modules(package)
    graph = {module: set(imports(module, path, paths)) - {module} for module, path in paths.items()}
    lines = [line for above in (ROOT, f"{ROOT}.reproduction") for line in arrows_up(package, graph, above)]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        lines.append("circle: " + " <- ".join(error.args[1]))
    return lines


def test_what_a_room_imports_lies_below_it():
    assert problems(PACKAGE) == []


def test_at_most_ten_modules_stand_outside_of_rooms():
    outside = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert len(outside) <= 10, sorted(outside)


@pytest.fixture
def copied(tmp_path):
    for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("README.md")]:
        place = tmp_path / path.relative_to(PACKAGE)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "planted", "problem"),
    [
        ("rows/state.py", "from gasmeter.stores import store", "rows.state imports gasmeter.stores.store"),
        ("rows/state.py", "from ..stores.store import Store", "rows.state imports gasmeter.stores.store"),
        ("units.py", "def late():\n    import gasmeter.cli.app", "units imports gasmeter.cli.app"),
        (
            "machines/bands.py",
            "if TYPE_CHECKING:\n    from gasmeter.sweeps import point",
            "bands imports gasmeter.sweeps",
        ),
        ("loggp/__init__.py", "from .. import plots", "gasmeter.loggp imports gasmeter.plots"),
        (
            "environment/limits.py",
            "importlib.import_module('gasmeter.diagnosis.doctor')",
            "environment.limits imports gasmeter.diagnosis.doctor",
        ),
        ("plots/dots.py", "from gasmeter import measure", "plots.dots imports gasmeter"),
        ("plots/dots.py", "import gasmeter\ngasmeter.measure('flood')", "plots.dots imports gasmeter"),
        ("rows/record.py", "from gasmeter.rows import formats", "circle: gasmeter.rows."),
        ("errors.py", "import gasmeter.units", "circle: gasmeter."),
        ("attic/box.py", "", "attic is not in the table"),
        ("reproduction/plan/cases.py", "from gasmeter.reproduction.judge import seen", "plan.cases imports gasmeter."),
        ("reproduction/judge/seen.py", "from gasmeter.reproduction import run", "judge.seen imports gasmeter."),
        ("reproduction/attic/box.py", "", "attic is not in the table"),
    ],
)
def test_a_planted_arrow_is_found(copied, file, planted, problem):
    (copied / file).parent.mkdir(exist_ok=True)
    with (copied / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{planted}\n")
    assert any(problem in line for line in problems(copied))
