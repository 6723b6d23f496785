"""The made-up results: fetched, imported and marked like everything the miniature publishes."""

from __future__ import annotations

from pathlib import Path

from ops.catalog import load
from ops.fetch import fetch
from ops.miniature import MiniatureUpstream, serve
from ops.miniature.reference_results import BENCHMARKS, settings
from ops.results.reference import import_references, reference_files
from ops.storage import open_root


def test_from_the_server_to_the_table(miniature: MiniatureUpstream, tmp_path: Path) -> None:
    root = open_root(tmp_path / "lake")
    with serve(miniature.folder) as server:
        catalog = load(server.overlay_url)
        files = reference_files(catalog)
        for file in files:
            assert "sha256: catalog" in fetch(root, file).verified_by
    assert {file.benchmark for file in files} == set(BENCHMARKS)
    assert all(file.synthetic for file in files)
    table = import_references(root, catalog)
    assert table.num_rows > 40 * 200
    assert set(table["synthetic"].to_pylist()) == {True}
    assert all(name.startswith("made_up_") for name in table["model"].unique().to_pylist())
    revisions = set(table["revision"].to_pylist())
    assert all(revision.startswith("sha256 ") for revision in revisions), "no real commit"


def test_grid_has_the_published_columns(miniature: MiniatureUpstream) -> None:
    path = miniature.path("reference-imagenet-testbed", "robustness_top1s")
    header, *lines = path.read_text().splitlines()
    assert header == ",".join(["model", *settings()])
    assert all(line.count(",") == 213 for line in lines)
    assert any(",," in line for line in lines), "some settings were not evaluated"
    corrupted = [name for name in settings() if name.startswith("imagenet-c.")]
    assert len(corrupted) == 19 * 5 * 2 - 5, "glass blur is on disk alone"


def test_timms_oddities_are_there(miniature: MiniatureUpstream) -> None:
    clean = miniature.path("reference-timm", "results_imagenet").read_text()
    assert ',"1,013.01",' in clean
    assert clean.count("made_up_net_00.made_up_in1k,") == 2, "at two image sizes"
    shifted = miniature.path("reference-timm", "results_imagenet_a").read_text().splitlines()
    assert shifted[0].endswith(",top1_diff,top5_diff,rank_diff")
    assert sum(line.endswith(",,,") for line in shifted) == 1
