"""``module:callable`` names a network class, or a function of a package that is trusted with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from weight_parts import Trap

from ops.errors import ShiftlakeError
from ops.models import ModelEntry, Transform, list_models, register
from ops.models.callables import call
from ops.storage import Root

SOURCE = """
import sys
from torch import nn

class Net(nn.Linear):
    pass

def build():
    return Net(3, 2)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of somebody's own, with a class and a function that makes one of it."""
    (folder := tmp_path / "lab_networks" / "deep").mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").write_text(SOURCE)
    (folder / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("lab_networks")]:
        monkeypatch.delitem(sys.modules, name)
    return "lab_networks.deep"


def entry(reference: str, **kwargs: Any) -> ModelEntry:
    transform = Transform(resize=2, crop=2)
    return ModelEntry(
        name="net", kind="callable", reference=reference, kwargs=kwargs, transform=transform
    )


def test_a_function_that_unpickles_a_file_is_refused_and_does_not_run(
    root: Root, tmp_path: Path
) -> None:
    import pickle

    (path := tmp_path / "net.npy").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    for reference, kwargs in (
        ("numpy:load", {"file": str(path), "allow_pickle": True}),
        ("pandas:read_pickle", {"filepath_or_buffer": str(path)}),
        ("torch:load", {"f": str(path), "weights_only": False}),
        ("torch.hub:load", {"repo_or_dir": str(tmp_path), "model": "net", "source": "local"}),
    ):
        with pytest.raises(ShiftlakeError, match="architecture is refused"):
            register(root, entry(reference, **kwargs))
    assert not (tmp_path / "sprung").exists()
    assert list_models(root) == []


@pytest.mark.parametrize("reference", ["pip._internal:main", "yaml:unsafe_load", "numpy:load"])
def test_functions_of_packages_nobody_named_are_refused_and_how_is_said(reference: str) -> None:
    pytest.importorskip(reference.partition(":")[0])
    with pytest.raises(ShiftlakeError, match="not trusted") as caught:
        call(reference, {})
    assert f"SHIFTLAKE_CODE=weight_parts,{reference.partition(':')[0].partition('.')[0]}" in (
        caught.value.remedy
    )


def test_a_class_of_any_package_makes_a_network_and_a_function_needs_trust(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = call(f"{package}:Net", {"in_features": 3, "out_features": 2})
    assert isinstance(made, torch.nn.Linear)
    for others in ("", "weight_parts", "lab", "lab_networks.dee", "deep"):
        monkeypatch.setenv("SHIFTLAKE_CODE", others)
        with pytest.raises(ShiftlakeError, match="not trusted"):
            call(f"{package}:build", {})
    for named in ("lab_networks", " other , lab_networks.deep,"):
        monkeypatch.setenv("SHIFTLAKE_CODE", named)
        assert isinstance(call(f"{package}:build", {}), torch.nn.Linear)


def test_trust_does_not_reach_what_a_module_has_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab_imports.py").write_text("from numpy import load\nfrom subprocess import run\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SHIFTLAKE_CODE", "lab_imports")
    for name in ("load", "run"):
        with pytest.raises(ShiftlakeError, match="architecture is refused"):
            call(f"lab_imports:{name}", {})


def test_pythons_own_modules_are_not_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIFTLAKE_CODE", "os,antigravity,torch")
    monkeypatch.delitem(sys.modules, "antigravity", raising=False)
    for reference in ("antigravity:geohash", "os:system", "torch.hub:load"):
        with pytest.raises(ShiftlakeError, match="makes a network"):
            call(reference, {})
    assert "antigravity" not in sys.modules


def test_this_projects_own_functions_must_make_a_network(root: Root) -> None:
    register(root, entry("weight_parts:tied"), check=False)
    with pytest.raises(ShiftlakeError, match="returns something else"):
        call("ops.models:remove", {"root": root.url, "name": "net"})
    assert list_models(root) == ["net"]


def test_builders_of_timm_and_torchvision_are_taken_and_their_readers_are_not(
    tmp_path: Path,
) -> None:
    pytest.importorskip("timm")
    torch.save(Trap(tmp_path / "sprung"), path := tmp_path / "net.pt")
    for reference in ("timm.models:test_vit", "torchvision.models:squeezenet1_1"):
        assert isinstance(call(reference, {"num_classes": 3}), torch.nn.Module)
    reader = {"checkpoint_path": str(path), "weights_only": False}
    with pytest.raises(ShiftlakeError, match="returns something else"):
        call("timm.models:load_state_dict", reader)
    with pytest.raises(ShiftlakeError, match="read files"):
        call("timm.models:test_vit", {"pretrained": True, "pretrained_cfg": {"file": str(path)}})
    assert not (tmp_path / "sprung").exists()


def test_code_that_ends_the_process_is_an_error_of_its_own(package: str) -> None:
    with pytest.raises(ShiftlakeError, match="cannot be imported") as caught:
        call(f"{package}.leaving:Net", {})
    assert "SystemExit" in str(caught.value.found)
    with pytest.raises(ShiftlakeError, match="fails while it is made") as caught:
        call("weight_parts:Leaving", {})
    assert "left" in str(caught.value.found)
