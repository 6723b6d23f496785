"""The catalog says what upstream published: literals here were taken from the published sources."""

import hashlib
import subprocess
import sys

import pytest

from ops.catalog import Fact, SourceFile, load
from ops.errors import ShiftlakeError

MD5 = {
    ("imagenet-1k", "ilsvrc2012_val"): "29b22e2961454d5413ddabcf34fc5622",
    ("imagenet-1k", "ilsvrc2012_train"): "1d675b47d978889d74fa0da5fadfb00e",
    ("imagenet-1k", "ilsvrc2012_devkit_t12"): "fa75699e90414af021442c21a62c3abf",
    ("imagenet-a", "imagenet_a_tar"): "c3e55429088dc681f30d81f4726b6595",
    ("imagenet-o", "imagenet_o_tar"): "86bd7a50c1c4074fb18fc5f219d6d50b",
    ("imagenet-r", "imagenet_r_tar"): "a61312130a589d0ca1a8fca1f2bd3337",
    ("imagenet-c", "imagenet_c_noise"): "e80562d7f6c3f8834afb1ecf27252745",
    ("imagenet-c", "imagenet_c_blur"): "2d8e81fdd8e07fef67b9334fa635e45c",
    ("imagenet-c", "imagenet_c_weather"): "33ffea4db4d93fe4a428c40a6ce0c25d",
    ("imagenet-c", "imagenet_c_digital"): "89157860d7b10d5797849337ca2e5c03",
    ("imagenet-c", "imagenet_c_extra"): "d492dfba5fc162d8ec2c3cd8ee672984",
    ("imagenet-p", "imagenet_p_blur"): "869b2d2fb1604d1baa4316b5ecc9fdea",
    ("imagenet-p", "imagenet_p_digital"): "8c1f73e4912812788e2fdb637cd55372",
    ("cifar-100", "cifar_100_python"): "eb9058c3a382ffc7106e4002c42a8d85",
    ("caltech-101", "caltech_101_zip"): "3138e1922a9193bfa496528edbbc45d0",
    ("caltech-256", "caltech_256_tar"): "67b4f42ca05d46448c6bb8ecd2220f6d",
    ("sun-397", "sun397_tar"): "8ca2778205c41d23104230ba66911c7a",
}
SHA256 = {
    ("imagenet-1k", "ilsvrc2012_val"): (
        6744924160,
        "c7e06a6c0baccf06d8dbeb6577d71efff84673a5dbdd50633ab44f8ea0456ae0",
    ),
    ("imagenetv2", "imagenetv2_matched_frequency"): (
        1264079360,
        "f0c37fdf925916b19ea1323cd9a2208cdb6959ba2c32eef2a7fc393835c9ca7c",
    ),
    ("imagenet-sketch", "imagenet_sketch_zip"): (
        7593573012,
        "4d3ce6b82a7c48aabf14aeac105eb533e75707f152cc858f55bfc022031a72ed",
    ),
    ("imagenet-real", "imagenet_real_json"): (
        388478,
        "d83e9bff374c631aae8439eb064c7019acc56e1b3bc3f56b8380c2a710b0220b",
    ),
    ("cifar-100", "cifar_100_binary"): (
        168513733,
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    ),
}


@pytest.fixture(scope="module")
def catalog():
    return load()


def test_every_benchmark_and_file_is_there_in_order(catalog):
    assert list(catalog.benchmarks) == [
        "imagenet-1k",
        "imagenetv2",
        "imagenet-sketch",
        "imagenet-a",
        "imagenet-o",
        "imagenet-r",
        "imagenet-real",
        "imagenet-c",
        "imagenet-p",
        "miniimagenet-c",
        "imagenet-vid",
        "imagenet-vid-robust",
        "youtube-bb",
        "ytbb-robust",
        "cifar-100",
        "cifar-10-c",
        "cifar-100-c",
        "caltech-101",
        "caltech-256",
        "sun-397",
        "reference-timm",
        "reference-imagenet-testbed",
    ]
    assert sum(len(benchmark.files) for benchmark in catalog.benchmarks.values()) == 72
    assert len(catalog.source_files()) == 71, "one file serves two benchmarks"


def test_published_hashes(catalog):
    for (benchmark, file), md5 in MD5.items():
        assert catalog.file(benchmark, file).md5.value == md5
    for (benchmark, file), (size, sha256) in SHA256.items():
        found = catalog.file(benchmark, file)
        assert (found.bytes.value, found.sha256.value) == (size, sha256)


def test_the_whole_table_of_sizes_and_hashes(catalog):
    """Digest of the published table, a line `benchmark file bytes md5 sha1 sha256` per file."""
    lines = [
        " ".join(
            [file.benchmark, file.id]
            + [
                "-" if fact.value is None else str(fact.value)
                for fact in (file.bytes, file.md5, file.sha1, file.sha256)
            ]
        )
        for benchmark in catalog.benchmarks.values()
        for file in benchmark.files
        # Published results are no part of that table.
        if not benchmark.id.startswith("reference-")
    ]
    assert (
        hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()
        == "0168de3ede15fe84513720c2da2621740f342c757a0836c9ffb2306b87666cab"
    )


def test_unknown_facts_are_null_and_known_ones_have_a_source_or_say_so(catalog):
    for benchmark in catalog.benchmarks.values():
        for record in (benchmark, *benchmark.files):
            for name in type(record).model_fields:
                fact = getattr(record, name)
                if isinstance(fact, Fact):
                    assert (fact.value is None) == (fact.status == "unknown"), (record.id, name)
                    assert fact.source or fact.status in {"unknown", "unsourced", "inferred"}
                    assert fact.status in catalog.statuses


def test_what_nobody_published_stays_unknown(catalog):
    for benchmark, file in [
        ("imagenet-vid-robust", "imagenet_vid_ytbb_robust_tar"),
        ("youtube-bb", "ytbb_detection_train"),
        ("imagenet-vid", "ilsvrc2017_vid"),
        ("miniimagenet-c", "miniimagenet_c"),
    ]:
        found = catalog.file(benchmark, file)
        assert found.hashes == {}
        assert found.bytes.value is None
    pairs = catalog.file("ytbb-robust", "ytbb_pmk_labels")
    assert pairs.git_blob_sha1.value == "1a6c1fc81cba20d704e5b80c2cbb4c8ec3f8ae04"
    assert pairs.hashes == {}


def test_an_inferred_hash_is_no_reason_to_refuse_a_download(catalog):
    listed = catalog.file("imagenet-1k", "val_synset_labels_txt")
    assert listed.sha256.value.startswith("313fc3f2")
    assert listed.hashes == {}


def test_facts_without_a_file_of_their_own(catalog):
    real = catalog.benchmark("imagenet-real")
    assert real.num_images.value["usable_nonempty"] == 46837
    assert catalog.benchmark("imagenet-1k").image_lists["cmyk_val"] == ("ILSVRC2012_val_00019877",)
    assert len(catalog.benchmark("imagenet-1k").image_lists["cmyk_train"]) == 22
    assert sum(len(benchmark.quirks) for benchmark in catalog.benchmarks.values()) == 77
    assert len(catalog.quirks) == 6
    members = catalog.file("cifar-10-c", "cifar_10_c_tar").members
    assert len(members) == 20
    assert members["fog.npy"].value == "7b397314b5670f825465fbcd1f6e9ccd"
    assert catalog.file("imagenet-o", "imagenet_o_tar").hash_rule == "any"


def test_one_archive_for_both_video_benchmarks(catalog):
    shared = catalog.file("ytbb-robust", "imagenet_vid_ytbb_robust_tar")
    assert shared is catalog.file("imagenet-vid-robust", "imagenet_vid_ytbb_robust_tar")
    assert shared.path == "sources/imagenet-vid-robust/imagenet_vid_ytbb_robust.tar.gz"


def test_no_two_files_share_a_place_on_disk(catalog):
    paths = [file.path for file in catalog.source_files()]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("benchmark", "file", "name"),
    [
        ("imagenet-sketch", "imagenet_sketch_zip", "ImageNet-Sketch.zip"),
        ("imagenet-1k", "ilsvrc2012_test_v10102019", "ILSVRC2012_img_test_v10102019.tar"),
        ("caltech-256", "caltech_256_tar", "256_ObjectCategories.tar"),
        ("imagenetv2", "imagenetv2_threshold07", "imagenetv2-threshold0.7.tar.gz"),
        ("imagenet-c", "imagenet_c_noise", "noise.tar"),
    ],
)
def test_name_on_disk_is_the_published_one(catalog, benchmark, file, name):
    assert catalog.file(benchmark, file).name == name


def test_addresses_are_tried_official_first_and_never_known_other_bytes(catalog):
    assert catalog.file("imagenet-c", "imagenet_c_blur").urls == [
        "https://zenodo.org/record/2235448/files/blur.tar",
        "https://zenodo.org/records/2235448/files/blur.tar?download=1",
    ]
    assert catalog.file("imagenet-c", "imagenet_c_blur").zenodo_record == "2235448"
    sketch = catalog.file("imagenet-sketch", "imagenet_sketch_zip")
    assert sketch.urls == [
        "https://drive.google.com/uc?id=1Mj0i5HBthqH1p_yeXzsg22gZduvgoNeA&export=download",
        "https://huggingface.co/datasets/songweig/imagenet_sketch/resolve/main/data/"
        "ImageNet-Sketch.zip",
    ]
    assert sketch.zenodo_record is None
    for file in catalog.source_files():
        other = {mirror.url for mirror in file.mirrors if mirror.byte_identical == "no"}
        assert not other & set(file.urls)


def test_a_file_nobody_can_just_download_says_how_to_get_it(catalog):
    manual = {file.id for file in catalog.source_files() if file.manual}
    assert manual == {
        "ilsvrc2012_train",
        "ilsvrc2012_val",
        "ilsvrc2012_devkit_t12",
        "ilsvrc2012_test_v10102019",
        "miniimagenet_c",
        "ilsvrc2015_vid",
        "ilsvrc2017_vid",
        "ilsvrc2017_vid_test",
        "ilsvrc2017_vid_new",
        "caltech_101_inner_images",
        "caltech_101_inner_annotations",
        "sun397_tar",
        "sun397_partitions",
    }
    for file in catalog.source_files():
        assert bool(file.how_to_get) == file.manual, file.id
    how = catalog.file("imagenet-1k", "ilsvrc2012_val").how_to_get
    assert "image-net.org" in how
    assert "shiftlake add ILSVRC2012_img_val.tar" in how


def test_hashes_are_compared_without_case_or_white_space():
    file = SourceFile.model_validate(
        {"benchmark": "b", "id": "f", "name": "f.tar", "md5": " C3E55429088DC681F30D81F4726B6595 "}
    )
    assert file.hashes == {"md5": "c3e55429088dc681f30d81f4726b6595"}


def test_a_misspelt_name_is_answered_with_the_nearest(catalog):
    with pytest.raises(ShiftlakeError, match=r"perhaps imagenet-sketch"):
        catalog.benchmark("imagenet-scetch")
    with pytest.raises(ShiftlakeError, match=r"perhaps ilsvrc2012_val"):
        catalog.file("imagenet-1k", "ilsvrc2012_vall")
    with pytest.raises(ShiftlakeError, match=r"imagenet_c/fog/3"):
        catalog.dataset("imagenet_c/fogg/3")


def test_a_benchmark_is_found_by_the_name_its_datasets_carry(catalog):
    assert catalog.benchmark("imagenet_1k").id == "imagenet-1k"
    assert catalog.benchmark("mini_imagenet_c").id == "miniimagenet-c"


def test_loading_pulls_in_no_heavy_package():
    heavy = "{'torch', 'numpy', 'dagster', 'fsspec', 'pyarrow', 'duckdb', 'scipy', 'PIL'}"
    code = f"import sys; from ops.catalog import load; load(); print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "set()"
