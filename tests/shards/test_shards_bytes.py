"""What lies in a shard: the published bytes, under keys any reader understands, always the same."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from shard_parts import Made, cut_out, made_of, samples_of, sealed_bytes, shard_files, tar_of

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.fetch.archive import index_archive
from ops.fetch.archive_members import Members, Span
from ops.miniature import MiniatureUpstream
from ops.pixels.decode import FORMATS
from ops.shards import Sample, ShardSize, build, build_many, read_manifest, write_dataset
from ops.shards.layouts import Ignored, Layout
from ops.shards.plan import plan_shards
from ops.shards.sample import media_format, safe_key
from ops.shards.tarball import TarWriter
from ops.storage import open_root


def published(path: Path, spool: Path) -> dict[str, bytes]:
    """Every file of an archive, by the standard library where it can."""
    members = index_archive(
        path, spool=spool, nested=lambda name: name.endswith(("01443537.tar", "Categories.tar.gz"))
    )
    return {name: members.read(name) for name in members.names}


@pytest.mark.parametrize(
    ("dataset", "benchmark", "file"),
    [
        ("imagenet_1k/val", "imagenet-1k", "ilsvrc2012_val"),
        ("imagenetv2/top_images", "imagenetv2", "imagenetv2_top_images"),
        ("imagenet_sketch/clean", "imagenet-sketch", "imagenet_sketch_zip"),
        ("imagenet_o/clean", "imagenet-o", "imagenet_o_tar"),
        ("imagenet_vid_robust/clean", "imagenet-vid-robust", "imagenet_vid_ytbb_robust_tar"),
        ("imagenet_p/tilt", "imagenet-p", "imagenet_p_digital"),
        ("caltech_101/clean", "caltech-101", "caltech_101_zip"),
        ("sun_397/clean", "sun-397", "sun397_tar"),
    ],
)
def test_images_keep_their_bytes(
    lake: Made, upstream: MiniatureUpstream, tmp_path: Path, dataset: str, benchmark: str, file: str
) -> None:
    files = published(upstream.path(benchmark, file), tmp_path / "spool")
    samples = samples_of(lake.root, dataset)
    assert samples
    for sample in samples:
        assert sample.image == files[sample.meta["source_file"]]


def test_cifar_images_are_the_pixels_of_their_records(
    lake: Made, upstream: MiniatureUpstream
) -> None:
    with tarfile.open(upstream.path("cifar-100", "cifar_100_binary")) as archive:
        records = archive.extractfile("cifar-100-binary/test.bin").read()  # type: ignore[union-attr]
    samples = samples_of(lake.root, "cifar_100/test")
    assert len(samples) * 3074 == len(records)
    for number, sample in enumerate(samples):
        record = records[number * 3074 : (number + 1) * 3074]
        planes = np.frombuffer(record, np.uint8, offset=2).reshape(3, 32, 32)
        assert sample.image is not None
        with Image.open(io.BytesIO(sample.image)) as image:
            image.load()
            assert (image.format, image.mode) == ("PNG", "RGB")
            np.testing.assert_array_equal(np.asarray(image), planes.transpose(1, 2, 0))
        assert (sample.meta["coarse"], sample.cls) == (record[0], record[1])
        assert sample.key == f"test/{number:05d}"


def test_keys_are_unique_sorted_and_hold_no_dot(lake: Made) -> None:
    for spec in map(lake.catalog.dataset, cut_out(lake.catalog)):
        keys = [each.key for each in samples_of(lake.root, spec.name)]
        assert keys == sorted(set(keys)), spec.name
        assert not any("." in key for key in keys), spec.name


def test_every_tar_is_plain_and_without_traces_of_its_making(lake: Made) -> None:
    seen = 0
    for spec in map(lake.catalog.dataset, cut_out(lake.catalog)):
        if spec.layout == "real_labels":
            continue
        manifest = read_manifest(lake.root, spec.name)
        for entry, path in zip(manifest.shards, shard_files(lake.root, spec.name), strict=True):
            data = path.read_bytes()
            assert path.name == entry.name
            assert len(data) == entry.bytes
            assert len(data) % 10240 == 0
            assert hashlib.sha256(data).hexdigest() == entry.sha256
            with tarfile.open(path) as archive:
                members = archive.getmembers()
            for each in members:
                traces = (each.mtime, each.uid, each.gid, each.uname, each.gname, each.mode)
                assert traces == (0, 0, 0, "", "", 0o644)
            stems = [each.name.split(".")[0] for each in members]
            assert stems == sorted(stems)
            seen += len(members)
    assert seen > 2000


def test_members_stand_in_a_fixed_order_and_split_on_the_first_dot(lake: Made) -> None:
    (path,) = shard_files(lake.root, "imagenet_a/clean")
    with tarfile.open(path) as archive:
        names = archive.getnames()
        extensions = [name.partition(".")[2] for name in names]
        assert extensions == ["jpg", "cls", "json"] * (len(names) // 3)
        for name in names:
            data = archive.extractfile(name).read()  # type: ignore[union-attr]
            if name.endswith(".json"):
                meta = json.loads(data)
                text = json.dumps(meta, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
                assert data == text.encode()
                assert {"benchmark", "condition", "source_key", "source_file", "labels"} <= set(
                    meta
                )


@pytest.mark.parametrize("dataset", ["imagenet_1k/val", "ytbb_robust/clean", "caltech_101/clean"])
def test_any_number_of_workers_gives_the_same_bytes(fresh: Made, dataset: str) -> None:
    size = ShardSize(samples=3)
    found = []
    # More than four workers are processes, fewer are threads.
    for workers in (1, 2, 5):
        build(fresh.root, fresh.catalog, dataset, workers=workers, size=size)
        found.append(sealed_bytes(fresh.root, dataset))
        fresh.root.remove_folder(f"shards/{dataset}")
    assert len(found[0]) > 5
    assert found[0] == found[1] == found[2]


def test_the_order_and_company_of_builds_do_not_matter(lake: Made, fresh: Made) -> None:
    names = [f"imagenet_c/{group}/{severity}" for severity in (5, 2) for group in ("snow", "fog")]
    build_many(fresh.root, fresh.catalog, [names[3]])
    manifests = build_many(fresh.root, fresh.catalog, names)
    assert [each.name for each in manifests] == names
    for name in names:
        assert sealed_bytes(fresh.root, name) == sealed_bytes(lake.root, name)


def test_the_order_in_the_archive_does_not_matter(tmp_path: Path) -> None:
    files = [(f"ILSVRC2012_val_{n:08d}.JPEG", random.Random(n).randbytes(99)) for n in range(1, 40)]
    found = []
    for turn in range(3):
        random.Random(turn).shuffle(files)
        made = made_of(tmp_path / str(turn), "imagenet_1k/val", tar_of(files))
        build(made.root, made.catalog, "imagenet_1k/val", size=ShardSize(samples=7))
        shards = shard_files(made.root, "imagenet_1k/val")
        found.append([path.read_bytes() for path in shards])
    assert found[0] == found[1] == found[2]


def test_what_is_no_image_is_kept_and_listed(tmp_path: Path) -> None:
    contents = {1: b"", 2: b"<html>", 3: b"\xff\xd8\xff\xe0", 4: b"GIF89a"}
    files = [(f"ILSVRC2012_val_{n:08d}.JPEG", data) for n, data in contents.items()]
    made = made_of(tmp_path, "imagenet_1k/val", tar_of(files), expected=4)
    manifest = build(made.root, made.catalog, "imagenet_1k/val")
    assert (manifest.n_samples, manifest.n_failed) == (4, 2)
    empty, page = manifest.failed
    assert (empty.key, empty.source_file) == ("ILSVRC2012_val_00000001", files[0][0])
    assert "empty" in empty.reason
    assert "<html>" in page.reason
    samples = samples_of(made.root, "imagenet_1k/val")
    assert [each.image for each in samples] == list(contents.values())
    assert [each.meta["format"] for each in samples] == [None, None, "jpeg", "gif"]


def test_whatever_decodes_is_known_by_its_magic() -> None:
    for name in FORMATS:
        target = io.BytesIO()
        Image.new("RGB", (3, 3)).save(target, name)
        assert media_format(target.getvalue()) == name.lower()
    assert media_format(b"") is None


def test_a_program_may_seal_its_own_samples(tmp_path: Path) -> None:
    root = open_root(tmp_path)
    meta = {"benchmark": "made", "condition": "here", "labels": [3], "format": "jpeg"}
    samples = [Sample(f"k{n:02d}", b"\xff\xd8\xff", "jpg", 3, meta) for n in range(5)]
    first = write_dataset(root, "made/here", samples, label_space="ilsvrc1000", per_shard=2)
    before = sealed_bytes(root, "made/here")
    again = write_dataset(root, "made/here", samples[::-1], label_space="ilsvrc1000", per_shard=2)
    assert again == first
    assert sealed_bytes(root, "made/here") == before
    assert samples_of(root, "made/here") == samples
    with pytest.raises(ShiftlakeError, match="out of order"):
        write_dataset(root, "made/here", [*samples, samples[0]], label_space="ilsvrc1000")


MEMBER = st.tuples(
    st.text("abc/é.01", min_size=1, max_size=130).filter(lambda name: name.strip("/.") != ""),
    st.one_of(st.integers(0, 1100), st.sampled_from([32 << 10, 40_001])),
)


@settings(max_examples=60, deadline=None)
@given(members=st.lists(MEMBER, max_size=12))
def test_any_tar_written_is_read_by_the_standard_library(members: list[tuple[str, int]]) -> None:
    contents = [(name.strip("/"), random.Random(size).randbytes(size)) for name, size in members]
    target = io.BytesIO()
    tar = TarWriter(target)
    tar.add(contents)
    digest = tar.close()
    data = target.getvalue()
    assert len(data) == tar.bytes
    assert digest == hashlib.sha256(data).hexdigest()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = [(each.name, archive.extractfile(each).read()) for each in archive.getmembers()]  # type: ignore[union-attr]
    assert found == contents
    again = io.BytesIO()
    with tarfile.open(fileobj=again, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in contents:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    assert again.getvalue() == data, "the same bytes as the standard library writes"


class _Numbered(Layout):
    """Keys are names; a name that starts with x is none; a group is the part before the slash."""

    def key(self, name: str) -> str | Ignored:
        return Ignored("x") if name.startswith("x") else name

    def group(self, key: str) -> str:
        return key.partition("/")[0]


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    names=st.sets(
        st.tuples(st.sampled_from("abcx"), st.integers(0, 30)).map(lambda p: f"{p[0]}/{p[1]:02d}"),
        min_size=1,
    ),
    order=st.randoms(use_true_random=False),
    samples=st.integers(1, 12),
    size=st.integers(1, 400),
)
def test_plans_hold_every_file_once_and_split_no_group(
    names: set[str], order: Any, samples: int, size: int
) -> None:
    layout = _Numbered(load().dataset("imagenet_1k/val"), {})

    def plan(turned: list[str]) -> Any:
        members = Members()
        for name in turned:
            members.add(name, Span("archive", int(name[2:]) * 100, int(name[2:])))
        return plan_shards(layout, members, ShardSize(bytes=size, samples=samples))

    wanted = sorted(name for name in names if not name.startswith("x"))
    turned = sorted(names)
    if not wanted:
        with pytest.raises(ShiftlakeError, match="no sample"):
            plan(turned)
        return
    made = plan(turned)
    order.shuffle(turned)
    assert plan(turned) == made, "the order of the archive means nothing"
    placed = [name for shard in made.shards for name, _ in shard]
    assert placed == wanted
    assert made.n_samples + sum(made.ignored.values()) == len(names)
    assert all(span.size == int(name[2:]) for shard in made.shards for name, span in shard)
    homes = Counter(group for shard in made.shards for group in {name[0] for name, _ in shard})
    assert set(homes.values()) == {1}
    assert all(made.shards)


@given(st.text("ab.%/0"), st.text("ab.%/0"))
def test_keys_of_different_paths_are_different(first: str, second: str) -> None:
    assert "." not in safe_key(first)
    assert (safe_key(first) == safe_key(second)) == (first == second)
