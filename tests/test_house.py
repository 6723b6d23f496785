"""The house keeps its shape: arrows run one way, and starting a process stays cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
ALLOWED = {
    "ops": {"ops"},
    "assets": {"ops", "assets"},
    "pipelines": {"ops", "assets", "pipelines"},
}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_arrows_run_from_pipelines_to_assets_to_ops_and_never_back(package):
    ours = set(ALLOWED)
    for path in (PROJECT / package).rglob("*.py"):
        strange = imported(path) & ours - ALLOWED[package]
        assert not strange, f"{path.relative_to(PROJECT)} imports {strange}"


def test_no_dagster_below_ops():
    for path in (PROJECT / "ops").rglob("*.py"):
        assert "dagster" not in imported(path), path.relative_to(PROJECT)


def test_definitions_load_without_the_heavy_packages():
    code = (
        "import sys, pipelines.definitions;"
        "print([name for name in ('torch', 'ray', 'numba', 'cv2', 'webdataset') "
        "if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[]"


def test_no_machine_path_in_what_is_committed():
    names = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    homes = ("/" + "root/", "/" + "work/", "/" + "home/ubuntu/.ssh")
    for name in names:
        if name.endswith((".py", ".md", ".yaml", ".toml", ".txt", ".json", ".sql")):
            text = (PROJECT / name).read_text(errors="replace")
            assert not any(home in text for home in homes), name
