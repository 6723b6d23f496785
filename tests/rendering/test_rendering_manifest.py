"""A manifest says how its images were made, and the version is a hash of just that."""

from __future__ import annotations

from pathlib import Path

import pytest
from rendering_parts import (
    CHEAP,
    NO_COUNTS,
    NOISE,
    VAL,
    Lake,
    images_of,
    lake_of,
    overlaid,
    photograph,
    samples_of,
    val_samples,
)

from ops.corruptions import parameters
from ops.errors import ShiftlakeError
from ops.rendering import Recipe, build_many, expected_version, render
from ops.rendering.libraries import libraries
from ops.shards import expected_version as expected_version_of_archive
from ops.shards import export, read_manifest

MINI = "mini_imagenet_c_rendered/contrast/5"
PARENT = "imagenet_c_rendered/contrast/5"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    samples = val_samples([photograph(number) for number in range(3)])
    return lake_of(tmp_path_factory.mktemp("lake"), samples)


def test_a_manifest_names_renderer_version_mode_parameters_and_seed(rendered: Lake) -> None:
    manifest = read_manifest(rendered.root, NOISE[1])
    source = read_manifest(rendered.root, VAL)
    assert manifest.renderer is not None
    engine_version = manifest.renderer["version"]
    assert isinstance(engine_version, int)
    assert manifest.renderer == {
        "name": "shiftlake",
        "form": "stored",
        "engine": "corruptions",
        "version": engine_version,
        "mode": "fast",
        "preset": "imagenet_224",
        "seed": 0,
        "key_dataset": "imagenet_c",
        "corruption": "gaussian_noise",
        "severity": 3,
        "parameters": parameters.load("imagenet_224")["gaussian_noise"][2],
        "encoding": {"format": "jpeg", "quality": 85, "subsampling": "4:2:0", "dct": "islow"},
        "source": VAL,
        "source_version": source.version,
        "libraries": libraries("corruptions"),
    }
    assert Recipe.of(manifest).renderer == manifest.renderer
    assert [(each.name, each.sha256) for each in manifest.sources] == [(VAL, source.version)]
    assert manifest.synthetic, "its source is"
    assert (manifest.n_classes, manifest.label_histogram_sha256) == (
        source.n_classes,
        source.label_histogram_sha256,
    )


def test_samples_have_the_keys_and_names_of_the_published_set(rendered: Lake) -> None:
    sources = {each.key: each for each in samples_of(rendered.root, VAL)}
    for sample in samples_of(rendered.root, NOISE[1]):
        wnid, _, stem = sample.key.partition("/")
        source = sources[stem]
        assert sample.meta == {
            "benchmark": "imagenet_c_rendered",
            "condition": "gaussian_noise/3",
            "corruption": "gaussian_noise",
            "severity": 3,
            "source_key": stem,
            "source_file": f"gaussian_noise/3/{wnid}/{stem}.JPEG",
            "labels": source.meta["labels"],
            "wnid": source.meta["wnid"],
            "format": "jpeg",
        }
        assert wnid == source.meta["wnid"]
        assert (sample.cls, sample.extension) == (source.cls, "jpg")


def test_a_rendered_set_is_exported_in_the_published_layout(rendered: Lake, tmp_path: Path) -> None:
    assert export(rendered.root, NOISE[1], tmp_path) == 14
    for sample in samples_of(rendered.root, NOISE[1]):
        assert (tmp_path / sample.meta["source_file"]).read_bytes() == sample.image


@pytest.mark.parametrize(
    "changed",
    [{"mode": "exact"}, {"seed": 2}, {"quality": 90}, {"key_dataset": "mine"}],
    ids=lambda changed: next(iter(changed)),
)
def test_whatever_decides_the_pixels_decides_the_version(
    lake: Lake, tmp_path: Path, changed: dict[str, object]
) -> None:
    name = CHEAP[0]
    fields = {**lake.catalog.dataset(name).parameters, **changed}
    other = lake_of(tmp_path, [], source="cifar_100/test", root=lake.root, parameters=fields)
    before = expected_version(lake.root, lake.catalog, name)
    assert expected_version(lake.root, other.catalog, name) != before
    assert expected_version(lake.root, lake.catalog, name) == before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"mode": "quick"}, "'fast' or 'exact'"),
        ({"preset": "imagenet_300"}, "Did you mean imagenet_299"),
        ({"seed": "x"}, "parameters / seed"),
    ],
)
def test_an_entry_that_asks_for_what_there_is_not_is_refused(
    lake: Lake, tmp_path: Path, changed: dict[str, object], told: str
) -> None:
    fields = {**lake.catalog.dataset(CHEAP[0]).parameters, **changed}
    other = lake_of(tmp_path, [], source="cifar_100/test", root=lake.root, parameters=fields)
    with pytest.raises(ShiftlakeError, match=told):
        render(lake.root, other.catalog, CHEAP[:1])


def test_what_is_not_rendered_is_refused_and_the_other_way_round(lake: Lake) -> None:
    with pytest.raises(ShiftlakeError, match="imagenet_c/fog/3 is not rendered"):
        render(lake.root, lake.catalog, ["imagenet_c/fog/3"])
    with pytest.raises(ShiftlakeError, match=r"ops\.rendering\.build_many"):
        expected_version_of_archive(lake.root, lake.catalog, CHEAP[0])


def test_mini_imagenet_c_of_the_rendered_set_says_so(lake: Lake) -> None:
    manifests = build_many(lake.root, lake.catalog, [MINI, PARENT])
    mini, parent = manifests
    assert [manifest.name for manifest in manifests] == [MINI, PARENT]
    assert mini.renderer == parent.renderer
    assert mini.sources[0].sha256 == parent.version
    assert mini.synthetic
    assert images_of(lake.root, MINI) == images_of(lake.root, PARENT)
    for sample in samples_of(lake.root, MINI):
        assert sample.meta["source_file"].startswith("contrast/5/")
    assert expected_version(lake.root, lake.catalog, MINI) == mini.version


def test_both_forms_of_mini_imagenet_c_choose_the_same_photographs(tmp_path: Path) -> None:
    files = [photograph(number, (16, 12)) for number in range(40)]
    lake = lake_of(tmp_path, val_samples(files))
    mini = {**NO_COUNTS, "parameters": {"n_per_class": 2, "seed": 7600}}
    lake = overlaid(lake, {"*": NO_COUNTS, "mini_imagenet_c_rendered/*": mini})
    other = "mini_imagenet_c_rendered/pixelate/5"
    first, *_, second = build_many(
        lake.root, lake.catalog, [MINI, PARENT, "imagenet_c_rendered/pixelate/5", other]
    )
    assert first.n_samples == second.n_samples == 2 * first.n_classes == 22
    assert images_of(lake.root, MINI).keys() == images_of(lake.root, other).keys()
