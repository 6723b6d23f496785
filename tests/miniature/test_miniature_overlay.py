"""The overlay turns the real catalog into one that only knows the miniature."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ops.catalog import Catalog, load
from ops.miniature import OMITTED, MiniatureUpstream, serve


@pytest.fixture
def catalog(miniature: MiniatureUpstream, tmp_path: Path) -> Catalog:
    path = tmp_path / "overlay.yaml"
    path.write_text(yaml.safe_dump(miniature.overlay("http://127.0.0.1:9")))
    return load(str(path))


def test_every_catalog_file_is_published_or_named_as_left_out(
    miniature: MiniatureUpstream, catalog: Catalog
) -> None:
    ours = {(facts["benchmark"], facts["id"]) for facts in miniature.files}
    assert not ours & set(OMITTED)
    assert ours | set(OMITTED) == {(file.benchmark, file.id) for file in catalog.source_files()}


def test_no_address_leads_to_a_real_host(catalog: Catalog) -> None:
    for file in catalog.source_files():
        assert all(url.startswith("http://127.0.0.1:9/") for url in file.urls)
        assert file.manual is ((file.benchmark, file.id) in OMITTED)


def test_names_on_disk_stay_the_published_ones(
    miniature: MiniatureUpstream, catalog: Catalog
) -> None:
    published = {(f["benchmark"], f["id"]): f["name"] for f in miniature.files}
    for (benchmark, file_id), name in published.items():
        assert catalog.file(benchmark, file_id).name == name


def test_sizes_and_hashes_are_those_of_the_miniature(
    miniature: MiniatureUpstream, catalog: Catalog
) -> None:
    for facts in miniature.files:
        file = catalog.file(facts["benchmark"], facts["id"])
        assert file.bytes.value == facts["bytes"]
        assert file.hashes == {name: facts[name] for name in ("sha256", "sha1", "md5")}


def test_every_dataset_has_the_counts_of_the_truth(
    miniature: MiniatureUpstream, catalog: Catalog
) -> None:
    rendered = {name for name, spec in catalog.datasets.items() if spec.derived_from}
    assert set(catalog.datasets) - rendered <= set(miniature.truth) <= set(catalog.datasets)
    for name, members in miniature.truth.items():
        spec = catalog.dataset(name)
        assert spec.synthetic
        if name != "imagenet_real/clean":
            assert spec.expected == len(members)
    for name in rendered - set(miniature.truth):
        spec = catalog.dataset(name)
        (source,) = spec.derived_from
        n_per_class = spec.parameters.get("n_per_class")
        whole = catalog.dataset(source).expected
        assert spec.expected == (12 * n_per_class if n_per_class else whole), name
    assert catalog.dataset("imagenet_real").expected == 50000
    assert catalog.dataset("imagenet_1k/val").per_class == 2


def test_the_server_serves_its_own_overlay(miniature: MiniatureUpstream) -> None:
    with serve(miniature.folder) as server:
        catalog = load(server.overlay_url)
        assert catalog.file("imagenet-c", "imagenet_c_noise").urls == [
            f"{server.url}/imagenet-c/noise.tar"
        ]
