"""Golden numbers: which model they are held against, and when they do not apply."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest
from made_lake import model_entry

from ops.results.metrics_file import METRICS, Measured, write_metrics
from ops.results.reference import golden_checks
from ops.results.reference.data_files import read_yaml
from ops.storage import paths

RUN = "0" * 16


def register(lake, name="r50", kind="torchvision", reference="resnet50@IMAGENET1K_V1", **fields):
    entry = model_entry(name, **fields).model_dump(mode="json")
    entry |= {"kind": kind, "reference": reference}
    lake.root.write_json(paths.model(name), entry)


def measured(lake, *cells, model="r50", synthetic=False):
    rows = [
        dict.fromkeys(METRICS.names)
        | {
            "run_id": RUN,
            "model": model,
            "benchmark": dataset.partition("/")[0],
            "condition": dataset.partition("/")[2],
            "metric": metric,
            "variant": variant,
            "value": value,
            "synthetic": synthetic,
            # A row of no run is not stale; one of a run that is gone is.
            "run_ids": [],
            "inputs": "x",
        }
        for dataset, metric, variant, value in cells
    ]
    write_metrics(lake.root, Measured(pa.Table.from_pylist(rows, schema=METRICS)))


def found(lake, catalog, dataset="imagenet_1k/val", metric="top1", golden="ResNet-50"):
    return [
        check
        for check in golden_checks(lake.root, catalog)
        if check.dataset == dataset and check.metric == metric and golden in check.golden
    ]


VAL = ("imagenet_1k/val", "top1", "unmasked")


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (0.76156, "passed"),
        (0.7613 - 0.0011, "passed"),
        (0.7613 - 0.0015, "failed"),
    ],
)
def test_our_resnet50_beside_the_published_one(lake, catalog, value, status):
    register(lake)
    measured(lake, (*VAL, value))
    check = next(c for c in found(lake, catalog) if c.variant == "unmasked")
    assert check.status == status
    assert check.model == "r50"
    assert check.value == pytest.approx(100 * value)
    assert "timm" in check.source
    if status == "failed":
        assert "points off, 0.12 allowed" in check.reason
        assert "crop" in check.reason
    else:
        assert check.reason is None


def test_percent_stays_percent(lake, catalog):
    register(lake)
    measured(lake, ("imagenet_c/all", "mce_alexnet_pct", "alexnet", 76.9))
    (check,) = found(lake, catalog, "imagenet_c/all", "mce_alexnet_pct")
    assert (check.status, check.value) == ("passed", 76.9)


def test_the_normaliser_may_have_any_name(lake, catalog):
    register(lake)
    measured(lake, ("imagenet_p/all", "mfr_pct", "over my_alexnet", 61.0))
    (check,) = found(lake, catalog, "imagenet_p/all", "mfr_pct")
    assert (check.variant, check.status) == ("over my_alexnet", "failed")


def test_a_model_is_known_by_its_weights_and_not_by_its_name(lake, catalog):
    register(lake, "resnet50", reference="resnet50@IMAGENET1K_V2")
    measured(lake, (*VAL, 0.7613), model="resnet50")
    assert {check.model for check in golden_checks(lake.root, catalog)} == {None}
    register(lake, "other", "timm", "resnet50.tv_in1k")
    measured(lake, (*VAL, 0.7613), model="other")
    assert {check.status for check in found(lake, catalog) if check.variant == "unmasked"} == {
        "passed"
    }


def test_what_does_not_apply_says_why(lake, catalog):
    every = golden_checks(lake.root, catalog)
    assert {check.status for check in every} == {"not applicable"}
    assert {check.reason for check in every} == {"no registered model has these weights"}
    register(lake)
    assert "not evaluated on imagenet_1k/val" in found(lake, catalog)[0].reason
    measured(lake, (*VAL, 0.1), synthetic=True)
    assert found(lake, catalog)[0].reason == "the images are synthetic"
    register(lake, precision="bf16")
    measured(lake, (*VAL, 0.1))
    assert "bf16" in found(lake, catalog)[0].reason
    register(lake, synthetic=True)
    assert "synthetic images" in found(lake, catalog)[0].reason
    assert {check.status for check in found(lake, catalog)} == {"not applicable"}


def test_a_stale_result_is_not_held_against_it(lake, catalog):
    register(lake)
    row = dict.fromkeys(METRICS.names) | {
        "run_id": RUN,
        "model": "r50",
        "benchmark": "imagenet_1k",
        "condition": "val",
        "metric": "top1",
        "variant": "unmasked",
        "value": 0.1,
        "synthetic": False,
        "run_ids": ["a run that is gone"],
        "inputs": "x",
    }
    write_metrics(lake.root, Measured(pa.Table.from_pylist([row], schema=METRICS)))
    assert found(lake, catalog)[0].reason == "the result is stale"


def test_two_models_of_the_same_weights_are_both_held_against_it(lake, catalog):
    register(lake, "one")
    register(lake, "two", "timm", "resnet50.tv_in1k")
    assert [c.model for c in found(lake, catalog) if c.variant == "unmasked"] == ["one", "two"]


def test_every_number_says_what_it_is_and_who_published_it(catalog):
    stated = read_yaml("golden.yaml")
    datasets = {spec.name for spec in catalog.datasets.values()}
    families = {spec.family for spec in catalog.datasets.values()}
    for model, dataset, _, _, (lo, hi), tolerance, source in stated["checks"]:
        assert model in stated["models"]
        assert source in stated["sources"]
        assert dataset in datasets or dataset.removesuffix("/all") in families, dataset
        assert 0 <= lo <= hi <= 100
        assert 0 < tolerance <= 1
    assert all(not missing for missing in map(_undocumented, stated["models"].values()))


def _undocumented(model):
    return {"name", "references"} - set(model)


def test_a_check_is_plain_data(lake, catalog):
    (check, *_) = golden_checks(lake.root, catalog)
    assert set(dataclasses.asdict(check)) >= {"model", "status", "reason", "tolerance", "source"}
