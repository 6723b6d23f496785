"""From a real evaluation of real images to SQL: what inference writes is what the views read."""

import io

import numpy as np
import pytest
from PIL import Image

from ops.catalog.classes import subset
from ops.inference import evaluate
from ops.models import ModelEntry, Transform, register
from ops.results import compute_metrics, connect, status
from ops.shards import Sample, write_dataset

CLASSES = (subset("imagenet_a")[0], subset("imagenet_o")[1], 7)


def _sample(benchmark, condition, i, label, broken=False):
    pixels = np.random.default_rng([i, label]).integers(0, 256, (40, 40, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG")
    meta = {
        "benchmark": benchmark,
        "condition": condition,
        "source_key": f"ILSVRC2012_val_{i + 1:08d}",
        "source_file": "made",
        "labels": [label],
        "format": None if broken else "jpeg",
    }
    return Sample(f"{i:08}", b"broken" if broken else buffer.getvalue(), "jpg", label, meta)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory, catalog):
    from ops.storage import open_root

    root = open_root(tmp_path_factory.mktemp("end") / "lake")
    entry = ModelEntry(
        name="small",
        kind="callable",
        reference="ops.models.smallcnn:SmallCNN",
        kwargs={"num_classes": 1000, "width": 4},
        transform=Transform(resize=32, crop=32),
    )
    register(root, entry)
    for name, n in (("imagenet_1k/val", 12), ("imagenet_a/clean", 6)):
        benchmark, condition = name.split("/")
        mask = "imagenet_a" if benchmark == "imagenet_a" else None
        labels = [CLASSES[0]] * n if mask else [CLASSES[i % 3] for i in range(n)]
        samples = [
            _sample(benchmark, condition, i, label, i == 4) for i, label in enumerate(labels)
        ]
        write_dataset(root, name, samples, label_space="ilsvrc1000", mask=mask, per_shard=5)
        evaluate(root, catalog, "small", name, workers=1, device="cpu")
    compute_metrics(root, catalog)
    return root


def test_a_real_evaluation_is_done_current_and_measured(evaluated, catalog):
    rows = {row.dataset: row for row in status(evaluated, catalog)}
    for name, shards in (("imagenet_1k/val", 3), ("imagenet_a/clean", 2)):
        row = rows[name]
        assert (row.state, row.reason, row.measured) == ("done", None, True)
        assert (row.shards_done, row.shards) == (shards, shards)


def test_every_image_is_counted_and_the_broken_one_is_named(evaluated):
    with connect(evaluated) as con:
        found = con.execute(
            "SELECT benchmark, variant, n FROM metrics WHERE metric = 'top1' ORDER BY ALL"
        ).fetchall()
        broken = con.execute(
            "SELECT dataset, sample_key, correct, pred FROM predictions WHERE status <> 'ok' "
            "ORDER BY ALL"
        ).fetchall()
    assert ("imagenet_1k", "unmasked", 12) in found
    assert ("imagenet_a", "masked", 6) in found
    assert ("imagenet_1k", "clean_200/imagenet_a", 4) in found
    assert broken == [
        ("imagenet_1k/val", "00000004", False, None),
        ("imagenet_a/clean", "00000004", False, None),
    ]


def test_the_stored_flags_follow_from_the_stored_predictions(evaluated):
    with connect(evaluated) as con:
        wrong = con.execute(
            """
            SELECT count(*) FROM predictions
            WHERE correct <> coalesce(list_contains(labels, pred), false)
                OR correct5 <> coalesce(list_has_any(labels, top5_idx), false)
                OR correct_masked <> coalesce(list_contains(labels, pred_masked), false)
            """
        ).fetchone()
    assert wrong == (0,)
