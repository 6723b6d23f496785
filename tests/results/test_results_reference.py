"""Published results: both layouts, what becomes of each setting, and what is refused."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.fetch import add
from ops.miniature import reference_results
from ops.miniature.publication import Publication
from ops.miniature.sizes import size_named
from ops.results.reference import (
    REFERENCE,
    Published,
    import_references,
    model_kind,
    read_reference,
    reference_files,
    rows_of,
    write_reference,
)
from ops.storage import open_root

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "timm_results"
TIMM = "model,img_size,top1,top1_err,top5,top5_err,param_count,crop_pct,interpolation"


def timm(*lines, file="results_imagenet", header=TIMM):
    return rows_of(Published("reference-timm", file, "\n".join([header, *lines]), "some.csv"))


def grid_of(header, *lines):
    text = "\n".join([header, *lines])
    return rows_of(Published("reference-imagenet-testbed", "robustness_top1s", text, "grid.csv"))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    publication = Publication(folder, size_named("test"), 0)
    reference_results.publish(publication)
    return publication


@pytest.fixture(scope="module")
def overlay(published):
    """A catalog that expects the made-up files, and says that they are made up."""
    benchmarks: dict = {}
    for facts in published.files:
        entry = {"id": facts["id"], "synthetic": True}
        entry |= {name: facts[name] for name in ("bytes", "md5", "sha1", "sha256", "git_blob_sha1")}
        benchmarks.setdefault(facts["benchmark"], []).append(entry)
    path = published.folder / "overlay.yaml"
    stated = [{"id": name, "files": files} for name, files in benchmarks.items()]
    path.write_text(yaml.safe_dump({"benchmarks": stated}))
    return load(str(path))


def paths_of(published):
    return [published.folder / "files" / f["benchmark"] / f["name"] for f in published.files]


@pytest.fixture(scope="module")
def imported(published, overlay, tmp_path_factory):
    root = open_root(tmp_path_factory.mktemp("imported") / "lake")
    for path in paths_of(published):
        add(root, overlay, path)
    return root, import_references(root, overlay)


def test_a_line_of_timm():
    (one, five) = timm('some_net.tag,336,89.462,10.538,98.828,1.172,"1,013.01",1.000,bicubic')
    assert (one["metric"], one["value"]) == ("top1", pytest.approx(0.89462))
    assert (five["metric"], five["value"]) == ("top5", pytest.approx(0.98828))
    assert one["million_parameters"] == 1013.01
    assert one["image_size"] == 336
    assert (one["benchmark"], one["condition"], one["variant"]) == (
        "imagenet_1k",
        "val",
        "unmasked",
    )


@pytest.mark.parametrize(
    ("file", "name", "variant"),
    [
        ("results_imagenet_a", "imagenet_a/clean", "masked"),
        ("results_imagenet_a_clean", "imagenet_1k/val", "clean_200/imagenet_a"),
        ("results_imagenet_r", "imagenet_r/clean", "masked"),
        ("results_imagenet_r_clean", "imagenet_1k/val", "clean_200/imagenet_r"),
        ("results_imagenet_real", "imagenet_real/clean", "real"),
        ("results_sketch", "imagenet_sketch/clean", "unmasked"),
        ("results_imagenetv2_matched_frequency", "imagenetv2/matched_frequency", "unmasked"),
    ],
)
def test_what_a_file_of_timm_is_about(file, name, variant):
    header = f"{TIMM},top1_diff,top5_diff,rank_diff"
    rows = timm("net,224,50,50,100,0,25.6,0.875,bilinear,-1.0,,+2", file=file, header=header)
    assert {f"{row['benchmark']}/{row['condition']}" for row in rows} == {name}
    assert {row["variant"] for row in rows} == {variant}
    assert len(rows) == 2, "differences are no results"


def test_what_timm_has_no_name_for_keeps_its_own():
    rows = timm("net,224,50,50,100,0,25.6,0.875,bilinear,7.5", header=f"{TIMM},gflops")
    (other,) = [row for row in rows if row["metric"] not in ("top1", "top5")]
    assert other["setting"] == "imagenet.gflops"
    assert (other["metric"], other["value"]) == ("gflops", 7.5)
    assert "benchmark" not in other
    rows = timm("net,224,50,50,100,0,25.6,0.875,bilinear", file="results_of_mine")
    assert {row["setting"] for row in rows} == {"results_of_mine"}
    assert all("benchmark" not in row for row in rows)


def test_columns_of_the_testbed():
    header = "model,imagenet-a,imagenet-c.fog.3_in-memory,imagenet-c.fog.3_on-disk,val,moon-photos"
    rows = grid_of(header, "resnet50,0.0,50.5,46.064001,76.13,12.5", "alexnet,1.5,,,56.5,")
    found = {(row["model"], row["setting"]): row for row in rows}
    assert len(found) == 7, "empty cells were not evaluated"
    stored = found["resnet50", "imagenet-c.fog.3_on-disk"]
    assert (stored["benchmark"], stored["condition"]) == ("imagenet_c", "fog/3")
    assert stored["value"] == pytest.approx(0.46064001)
    for unknown in ("imagenet-c.fog.3_in-memory", "moon-photos"):
        row = found["resnet50", unknown]
        assert "benchmark" not in row, "another implementation is not ImageNet-C"
        assert row["metric"] == "top1"
    assert found["alexnet", "imagenet-a"]["variant"] == "masked"
    assert found["resnet50", "imagenet-a"]["value"] == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("resnet50", "standard"),
        ("efficientnet-b7-randaug", "standard"),
        ("efficientnet-b7-advprop-autoaug", "robustness intervention"),
        ("FixResNet50CutMix_v2", "robustness intervention"),
        ("FixResNet50_v2", "standard"),
        ("dpn68", "standard"),
        ("dpn68b", "more data"),
        ("resnet50_swsl", "more data"),
        ("vgg16_bn_lpf3", "robustness intervention"),
        ("resnext101_32x8d_deepaugment_augmix", "robustness intervention"),
        ("resnet50-randomized_smoothing_noise_0.00", "standard"),
        ("resnet50-randomized_smoothing_noise_0.25", "robustness intervention"),
        ("resnet50_aws_baseline", "standard"),
        ("resnet50_with_fog_aws", "robustness intervention"),
        ("resnet50_imagenet_subsample_1_of_8_batch64_original_images", "low accuracy"),
        ("resnet50_imagenet_100percent_batch64_original_images", "standard"),
        ("resnet18_50k_7_epochs", "low accuracy"),
        ("vit_small_patch16_224", "standard"),
        ("vit_base_patch16_384", "more data"),
        ("a_net_nobody_knows", None),
    ],
)
def test_kinds_of_models(name, kind):
    assert model_kind(name) == kind


def test_there_are_87_standard_models():
    text = (Path(__file__).parents[2] / "ops/results/reference/data/model_kinds.yaml").read_text()
    patterns = [p for p in yaml.safe_load(text)["standard"] if not p.startswith("made_up")]
    plain = [p for p in patterns if "[" not in p]
    numbered = [f"efficientnet-b{i}" for i in range(6)]
    numbered += [f"efficientnet-b{i}-autoaug" for i in range(8)]
    numbered += [f"efficientnet-b{i}-randaug" for i in (5, 7)]
    assert all(any(fnmatchcase(name, p) for p in patterns) for name in numbered)
    assert len(plain) + len(numbered) == 87
    assert {model_kind(name) for name in plain + numbered} == {"standard"}


def test_every_column_of_the_published_grid_is_drawn():
    names = list(reference_results.settings())
    assert len(names) == 213
    assert names[:3] == ["greyscale", "imagenet-a", "imagenet-c.brightness.1_in-memory"]
    assert names[-3:] == ["val_subsampled_class_1_8", "ytbb-robust_pm0", "ytbb-robust_pm10"]


def test_the_table(imported):
    root, table = imported
    assert table.schema.equals(REFERENCE)
    assert table.equals(read_reference(root))
    rows = table.to_pylist()
    assert all(row["synthetic"] for row in rows)
    assert all(row["model"].startswith("made_up") for row in rows)
    assert all(0 <= row["value"] <= 1 for row in rows)
    sources = {(row["source"], row["revision"]) for row in rows}
    assert {source for source, _ in sources} == {"timm", "imagenet_testbed"}
    grid = [row for row in rows if row["source"] == "imagenet_testbed"]
    assert len({row["setting"] for row in grid}) == 213
    assert len({row["model"] for row in grid}) == 40
    on_disk = [row for row in grid if row["benchmark"] == "imagenet_c"]
    assert len({row["condition"] for row in on_disk}) == 95
    kinds = {row["model_kind"] for row in grid}
    assert kinds == {"standard", "robustness intervention", "more data"}
    sizes = {row["image_size"] for row in rows if row["model"] == "made_up_net_00.made_up_in1k"}
    assert sizes == {224, 288}
    assert max(row["million_parameters"] or 0 for row in rows) == 1013.01


def test_a_source_has_one_revision_wherever_its_files_came_from(published, tmp_path):
    benchmarks: dict = {}
    for facts in published.files:
        # Some with a hash of their own and none with the pinned commit in its address.
        entry = {"id": facts["id"], "url": f"https://mirror.example/{facts['name']}"}
        entry |= {name: facts[name] for name in ("bytes", "md5", "sha1", "sha256", "git_blob_sha1")}
        benchmarks.setdefault(facts["benchmark"], []).append(entry)
    path = tmp_path / "overlay.yaml"
    document = [{"id": name, "files": files} for name, files in benchmarks.items()]
    path.write_text(yaml.safe_dump({"benchmarks": document}))
    catalog, root = load(str(path)), open_root(tmp_path / "lake")
    for file in paths_of(published):
        add(root, catalog, file)
    rows = import_references(root, catalog).to_pylist()
    found = {(f"reference-{row['source']}".replace("_", "-"), row["revision"]) for row in rows}
    assert found == {(name, catalog.benchmark(name).pinned_revision.value) for name in benchmarks}


def test_the_same_files_give_the_same_bytes(imported, overlay):
    root, table = imported
    before = root.read_bytes("results/reference.parquet")
    assert import_references(root, overlay).equals(table)
    assert root.read_bytes("results/reference.parquet") == before


def test_without_a_file_the_table_is_empty(tmp_path, catalog):
    assert import_references(tmp_path / "lake", catalog).num_rows == 0


def test_a_table_of_another_release_is_not_read(tmp_path):
    root = open_root(tmp_path / "lake")
    write_reference(root, REFERENCE.empty_table())
    assert read_reference(root).num_rows == 0
    import pyarrow.parquet as pq

    with root.writer("results/reference.parquet") as file:
        pq.write_table(pa.table({"model": ["x"]}), file)
    assert read_reference(root).schema.equals(REFERENCE)


def test_what_is_refused_says_where():
    line = "net,224,50,50,100,0,25.6,0.875,bilinear"
    with pytest.raises(ShiftlakeError, match=r"columns of timm's results[\s\S]*name, score"):
        timm(line, header="name,score")
    with pytest.raises(ShiftlakeError, match=r"an empty file"):
        timm(header="")
    with pytest.raises(ShiftlakeError, match=r"9 cells[\s\S]*8 cells[\s\S]*line 2"):
        timm("net,224,50,50,100,0,25.6,0.875")
    with pytest.raises(ShiftlakeError, match=r"percentage[\s\S]*101\.5[\s\S]*line 2, top1"):
        timm("net,224,101.5,50,100,0,25.6,0.875,bilinear")
    with pytest.raises(ShiftlakeError, match=r"number[\s\S]*'n/a'[\s\S]*param_count"):
        timm("net,224,50,50,100,0,n/a,0.875,bilinear")
    with pytest.raises(ShiftlakeError, match=r"net again, which is also line 2"):
        timm(line, line)
    with pytest.raises(ShiftlakeError, match=r"each column once"):
        grid_of("model,val,val", "net,1,2")


def test_one_model_at_two_sizes_is_two():
    rows = timm(
        "net,224,50,50,100,0,25.6,0.875,bilinear", "net,288,60,40,100,0,25.6,0.875,bilinear"
    )
    assert {row["image_size"] for row in rows} == {224, 288}


@pytest.mark.parametrize("other", ["results_imagenet_a", "results_imagenet_r", "results_sketch"])
def test_a_file_under_a_wrong_name_is_found_out(published, other):
    """Shares of 50,000 images are not shares of 7,500, and the other way round."""
    folder = published.folder / "files/reference-timm"
    text = (folder / "results-imagenet.csv").read_text()
    with pytest.raises(ShiftlakeError, match=r"shares of [\d,]+ images"):
        rows_of(Published("reference-timm", other, text, "x"))
    text = (folder / "results-imagenet-a.csv").read_text()
    with pytest.raises(ShiftlakeError, match=r"values that"):
        rows_of(Published("reference-timm", "results_imagenet_r", text, "x"))


def test_the_catalog_says_what_is_published(catalog):
    files = {(file.benchmark, file.id): file for file in reference_files(catalog)}
    assert len(files) == 9
    for file in files.values():
        assert "/aa4b5850c1543fa488abf260f18390eda46cf85d/" in file.urls[0] or (
            "/f4083a29524fe9a9e029bf34d1476cea5a497132/robustness_top1s.csv" in file.urls[0]
        )
        assert not file.synthetic
        assert bool(file.hashes) != ("not hashed" in (file.note or ""))


@pytest.mark.skipif(not SAMPLES.exists(), reason="needs the published files")
class TestPublishedFiles:
    def rows(self, catalog, name):
        text = (SAMPLES / name).read_text()
        (file,) = [f for f in reference_files(catalog) if f.name == name]
        return rows_of(Published(file.benchmark, file.id, text, name))

    def test_they_are_the_pinned_ones(self, catalog):
        for file in reference_files(catalog):
            if (path := SAMPLES / file.name).exists():
                data = path.read_bytes()
                assert file.sha256.value == hashlib.sha256(data).hexdigest()
                assert file.bytes.value == len(data)

    @pytest.mark.parametrize(
        ("name", "top1", "top5"),
        [
            ("results-imagenet.csv", 76.156, 92.866),
            ("results-imagenet-real.csv", 82.969, 95.474),
            ("results-sketch.csv", 24.064, 41.329),
            ("results-imagenet-r.csv", 36.157, 52.870),
            ("results-imagenetv2-matched-frequency.csv", 63.190, 84.640),
        ],
    )
    def test_resnet50_of_torchvision(self, catalog, name, top1, top5):
        rows = self.rows(catalog, name)
        assert len(rows) == 2 * 1556
        values = {r["metric"]: r["value"] for r in rows if r["model"] == "resnet50.tv_in1k"}
        assert values == {"top1": pytest.approx(top1 / 100), "top5": pytest.approx(top5 / 100)}
