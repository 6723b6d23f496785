"""From rows to metrics: what a key names, which rows are read, which images are compared."""

import numpy as np
import pytest
from made_lake import decode_error, made_logits, rows_of, val_name
from sklearn.metrics import average_precision_score

from ops.catalog.classes import subset
from ops.metrics.corruption import alexnet_errors
from ops.results import compute_metrics
from ops.results import metrics_table as module
from ops.results.connection import open_views
from ops.results.inventory import take_inventory
from ops.results.measures import outliers
from ops.results.measures.unit import Unit

LABELS = list(range(20))


def _wrong(count, n=20, source=val_name):
    """Rows of n images, the first `count` wrong."""
    rows = rows_of([1] * n, made_logits([1] * n, 0, 100.0), source=source)
    for row in rows[:count]:
        row |= {"correct": False, "pred": 2}
    return rows


def _values(lake, catalog, model="m"):
    rows = compute_metrics(lake.root, catalog).to_pylist()
    return {(r["condition"], r["metric"], r["variant"]): r for r in rows if r["model"] == model}


def test_other_rows_under_the_same_key_are_measured_again(lake, catalog):
    entry, manifest = lake.model("m"), lake.dataset("imagenet_sketch/clean", 20)
    key = lake.run(entry, manifest, _wrong(5))
    assert _values(lake, catalog)["clean", "top1", "unmasked"]["k"] == 15
    assert lake.run(entry, manifest, _wrong(3)) == key
    assert _values(lake, catalog)["clean", "top1", "unmasked"]["k"] == 17


def test_other_rows_of_a_normaliser_are_another_key(lake):
    for name in ("m", "alexnet"):
        lake.run(lake.model(name), lake.dataset("imagenet_c/fog/1", 20), _wrong(5))
    alexnet, own = take_inventory(lake.root).runs
    file = alexnet.files[0]
    known = Unit("imagenet_c", (own,), normalisers=((alexnet,),)).inputs
    for other in ({"sha256": "0" * 64}, {"sha256": "", "bytes": file.bytes + 1}):
        files = (file.model_copy(update=other), *alexnet.files[1:])
        over = alexnet.model_copy(update={"files": files})
        assert Unit("imagenet_c", (own,), normalisers=((over,),)).inputs != known
    # The order in which a record names its files says nothing.
    turned = alexnet.model_copy(update={"files": alexnet.files[::-1]})
    assert Unit("imagenet_c", (own,), normalisers=((turned,),)).inputs == known


@pytest.mark.parametrize("head", ["softmax", "sigmoid"])
def test_the_papers_score_is_a_softmax_whatever_the_head(lake, catalog, head):
    classes = subset("imagenet_o")
    labels = [int(c) for c in classes[:60]]
    entry = lake.model("m", head=head)
    val = rows_of(labels, made_logits(labels, 1), masks=("imagenet_o",), prefix="v")
    outside = rows_of([0] * 40, made_logits([0] * 40, 2, 0.0), own="imagenet_o", labelled=False)
    softmax = [-row["masks"][0]["p_max"] for row in (*outside, *val)]
    outside[3] = decode_error(outside[3])
    softmax[3] = np.nan
    if head == "sigmoid":
        for row in (*outside, *val):
            mask = row["masks"][0]
            if mask["max_logit"] is not None:
                mask["p_max"] = float(1 / (1 + np.exp(-mask["max_logit"])))
    lake.run(entry, lake.dataset("imagenet_1k/val", 60), val)
    lake.run(entry, lake.dataset("imagenet_o/clean", 40, mask="imagenet_o"), outside)
    inventory = take_inventory(lake.root)
    runs = {run.dataset: run for run in inventory.runs}
    pair = runs["imagenet_o/clean"], runs["imagenet_1k/val"]
    with open_views(lake.root, inventory, catalog) as connection:
        found = np.concatenate(outliers.scores(connection, *pair, "max softmax"))
        logit = np.concatenate(outliers.scores(connection, *pair, "max logit"))
    assert found == pytest.approx(softmax, rel=1e-5, nan_ok=True)
    shown = [row["masks"][0]["max_logit"] for row in (*outside, *val)]
    assert -logit == pytest.approx(np.array(shown, float), nan_ok=True)
    aupr = _values(lake, catalog)["clean", "aupr", "max softmax"]["value"]
    score = np.where(np.isnan(found), -np.inf, found)
    rank = np.unique(score, return_inverse=True)[1]
    assert aupr == pytest.approx(average_precision_score([1] * 40 + [0] * 60, rank))


def test_every_model_has_a_connection_with_its_own_files_alone(lake, catalog, monkeypatch):
    over = lake.model("alexnet", weights="alexnet", normaliser=True)
    models = [over, lake.model("a", weights="a"), lake.model("b", weights="b")]
    for name in ("imagenet_c/fog/1", "imagenet_sketch/clean"):
        for entry in models:
            lake.run(entry, lake.dataset(name, 20, n_shards=1), _wrong(4))
    held = []

    def opened(*args, judged, **options):
        runs = zip(*(judged.table[name].to_pylist() for name in ("model", "dataset")), strict=True)
        held.append(sorted(runs))
        return open_views(*args, judged=judged, **options)

    monkeypatch.setattr(module, "open_views", opened)
    compute_metrics(lake.root, catalog)
    fog, sketch = "imagenet_c/fog/1", "imagenet_sketch/clean"
    # What all are divided by is read once.
    assert held == [
        [("a", fog), ("a", sketch), ("alexnet", fog)],
        [("alexnet", fog), ("alexnet", sketch)],
        [("b", fog), ("b", sketch)],
    ]
    # Of a model with one new run, the others stay closed.
    held.clear()
    lake.run(models[1], lake.dataset("imagenetv2/top_images", 20), _wrong(4))
    compute_metrics(lake.root, catalog)
    assert held == [[("a", "imagenetv2/top_images")]]


def _subset_of_val(lake, entry, corrupted=8, clean_wrong=10):
    """Val of 40 images; fog was rendered of 20 of them, of which 6 are wrong when clean."""
    for s in range(1, 6):
        manifest = lake.dataset(f"imagenet_c/fog/{s}", 20, n_shards=1)
        lake.run(entry, manifest, _wrong(corrupted))
    rows = _wrong(0, 40)
    for i in [*range(6), *range(30, 24 + clean_wrong)]:
        rows[i] |= {"correct": False, "pred": 2}
    lake.run(entry, lake.dataset("imagenet_1k/val", 40), rows)


def test_what_corruption_adds_is_taken_on_the_same_images(lake, catalog):
    _subset_of_val(lake, lake.model("m"))
    _subset_of_val(lake, lake.model("own", weights="own", normaliser=True), corrupted=16)
    found = _values(lake, catalog)
    alexnet = alexnet_errors()
    row = found["fog", "relative_ce_alexnet_pct", "alexnet"]
    # 8 of 20 are wrong in fog and 6 of the same 20 without, though 10 of all 40 are.
    added = 8 / 20 - 6 / 20
    assert row["value"] == pytest.approx(100 * added / (alexnet.mean["fog"] - alexnet.clean))
    assert (row["n"], row["ci_lo"] < row["value"] < row["ci_hi"]) == (20, True)
    over = found["fog", "relative_ce_pct", "over own"]
    assert over["value"] == pytest.approx(100 * added / (16 / 20 - 6 / 20))


def test_the_clean_images_of_a_normaliser_are_there_for_a_later_model(lake, catalog):
    own = lake.model("own", weights="own", normaliser=True)
    models = [lake.model("a", weights="a"), lake.model("b", weights="b")]
    _subset_of_val(lake, own, corrupted=16)
    for s in range(1, 6):
        # All 40 validation images were corrupted once, and `a` was run on these alone.
        manifest = lake.dataset(f"imagenet_c_rendered/fog/{s}", 40, n_shards=1)
        for entry in (own, models[0]):
            lake.run(entry, manifest, _wrong(20, 40))
    lake.run(models[0], lake.dataset("imagenet_1k/val", 40), _wrong(4, 40))
    _subset_of_val(lake, models[1])
    over = _values(lake, catalog, "b")["fog", "relative_ce_pct", "over own"]
    assert over["value"] == pytest.approx(100 * (8 - 6) / (16 - 6))
    # Of all 40, ten of the normaliser's are wrong, and four of the model's.
    over = _values(lake, catalog, "a")["fog", "relative_ce_pct", "over own"]
    assert over["value"] == pytest.approx(100 * (20 - 4) / (20 - 10))


def test_where_rows_are_missing_nothing_is_taken_off_the_error_of_other_images(lake, catalog):
    entry = lake.model("m")
    for s in range(1, 6):
        manifest = lake.dataset(f"imagenet_c/fog/{s}", 20, n_shards=1)
        lake.run(entry, manifest, _wrong(8)[:19], expected=20)
    lake.run(entry, lake.dataset("imagenet_1k/val", 40), _wrong(6, 40))
    found = _values(lake, catalog)
    assert ("fog", "ce_alexnet_pct", "alexnet") in found
    assert ("fog", "relative_ce_alexnet_pct", "alexnet") not in found
