"""Predictions that were lost or altered after they were sealed are noticed and made again."""

from __future__ import annotations

import pytest
from evaluation_parts import add_model, bytes_of, seal

from ops.catalog import Catalog, classes
from ops.inference import RunRecord, class_lists, evaluate, plan_key, plan_numerics, read_run
from ops.inference.plan import class_map_sha256
from ops.storage import Root, paths

NAME = "imagenetv2/matched_frequency"


def evaluated(root: Root, catalog: Catalog) -> RunRecord:
    seal(root)
    add_model(root)
    return evaluate(root, catalog, "pooled", NAME, batch_size=4, device="cpu")


@pytest.mark.parametrize("damage", ["lost", "cut", "copied over another", "record cut"])
def test_only_the_bad_shard_of_a_sealed_evaluation_is_made_again(
    root: Root, catalog: Catalog, damage: str
) -> None:
    record = evaluated(root, catalog)
    before = bytes_of(root, record)
    folder = paths.run("pooled", NAME, record.key)
    first, *_, last = (f"{folder}/{file.name}" for file in record.files)
    if damage == "lost":
        root.remove(last)
    elif damage == "cut":
        root.write_bytes(last, root.read_bytes(last)[:-1])
    elif damage == "copied over another":
        assert len(root.read_bytes(first)) != len(root.read_bytes(last))
        root.write_bytes(last, root.read_bytes(first))
    else:
        root.write_bytes(f"{folder}/run.json", b'{"run_id": ')
    untouched = root.local_path(first).stat().st_mtime_ns
    done: list[int] = []
    again = evaluate(
        root,
        catalog,
        "pooled",
        NAME,
        batch_size=4,
        device="cpu",
        progress=lambda images, _: done.append(images),
    )
    assert bytes_of(root, again) == before
    assert again.files == record.files
    assert root.local_path(first).stat().st_mtime_ns == untouched
    assert done == ([] if damage == "record cut" else [18, 20])
    assert read_run(root, "pooled", NAME, record.key) == again


def test_the_record_holds_what_its_key_is_made_of(root: Root, catalog: Catalog) -> None:
    seal(root)
    entry = add_model(root, outputs=2, class_map=(3, 1))
    record = evaluate(root, catalog, "pooled", NAME)
    assert record.reference == "tiny_networks:Pooled"
    assert record.arguments == {"outputs": 2}
    assert record.class_map_sha256 == class_map_sha256(entry)
    assert record.class_map_sha256 != class_map_sha256(
        entry.model_copy(update={"class_map": (1, 3)})
    )
    assert record.model_label_space == "ilsvrc1000"


@pytest.mark.parametrize(
    ("name", "fields", "depends"),
    [
        ("imagenet_1k/val", {}, True),
        ("imagenet_a/clean", {"mask": "imagenet_a"}, True),
        (NAME, {}, False),
    ],
)
def test_a_corrected_class_list_is_another_result_where_it_is_used(
    root: Root,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    fields: dict[str, str],
    depends: bool,
) -> None:
    manifest = seal(root, name, 2, **fields)
    entry = add_model(root)
    before = plan_key(entry, manifest, plan_numerics(entry, "cpu"))
    original = classes.subset
    class_lists.lists_sha256.cache_clear()
    monkeypatch.setattr(classes, "subset", lambda mask: (*original(mask)[:-1], 0))
    try:
        after = plan_key(entry, manifest, plan_numerics(entry, "cpu"))
    finally:
        class_lists.lists_sha256.cache_clear()
    assert (before != after) == depends


def test_the_groups_of_a_video_benchmark_are_part_of_the_key() -> None:
    shared = class_lists.lists_sha256("ytbb_robust/clean", None, "ilsvrc1000", "ytbb24")
    own = class_lists.lists_sha256("ytbb_robust/clean", None, "ytbb24", "ytbb24")
    assert shared is not None
    assert own is None
