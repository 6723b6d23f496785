"""Status: done, missing, partial, not built; stale, and the reason why."""

import pytest
from made_lake import made_logits, rows_of

from ops.models import Transform
from ops.results import compute_metrics, connect, status, status_table

NAME = "imagenet_sketch/clean"
LABELS = [1, 2, 3, 4]


def _rows():
    return rows_of(LABELS, made_logits(LABELS, 0))


def _of(lake, catalog, dataset=NAME):
    return {row.dataset: row for row in status(lake.root, catalog)}[dataset]


def test_a_model_meets_exactly_the_datasets_of_its_label_spaces(lake, catalog):
    lake.model("net")
    lake.model("small", label_space="cifar100")
    rows = status(lake.root, catalog)
    small = {row.benchmark for row in rows if row.model == "small"}
    assert small == {"cifar_100", "distorted_cifar_100"}
    own = {row.dataset for row in rows if row.model == "net"}
    assert {"imagenet_1k/val", "imagenet_c/fog/3", "imagenet_vid_robust/clean"} <= own
    assert {"ytbb_robust/clean", "imagenet_p/tilt", "imagenet_c_on_the_fly/fog/3"} <= own
    assert not own & {"imagenet_1k/train", "imagenet_real/clean", "cifar_100/test"}
    assert {row.state for row in rows} == {"not built"}


def test_from_not_built_to_done(lake, catalog):
    entry = lake.model("net")
    assert _of(lake, catalog).state == "not built"
    manifest = lake.dataset(NAME, 4, n_shards=3)
    row = _of(lake, catalog)
    assert (row.state, row.shards_done, row.shards) == ("missing", 0, 3)
    lake.run(entry, manifest, _rows(), sealed=False, shards=2)
    row = _of(lake, catalog)
    assert (row.state, row.reason) == ("partial", "2 of 3 shards finished")
    key = lake.run(entry, manifest, _rows())
    row = _of(lake, catalog)
    assert (row.state, row.reason, row.run_id, row.measured) == ("done", None, key, False)
    compute_metrics(lake.root, catalog)
    assert _of(lake, catalog).measured


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lake: lake.model("net", weights="other"), "weights changed"),
        (lambda lake: lake.model("net", transform=Transform(resize=232)), "transform changed"),
        (lambda lake: lake.model("net", precision="bf16"), "numerics changed (fp32 to bf16)"),
        (
            lambda lake: lake.model("net", kwargs={"depth": 3}),
            "arguments of the architecture changed",
        ),
        (lambda lake: lake.model("net", class_map=(0, 1)), "class map changed"),
        (lambda lake: lake.dataset(NAME, 4, version="v2"), "dataset rebuilt"),
        (
            lambda lake: [
                lake.model("net", weights="other"),
                lake.dataset(NAME, 4, version="v2"),
            ],
            "dataset rebuilt; weights changed",
        ),
        (lambda lake: lake.root.remove(f"shards/{NAME}/manifest.json"), "dataset removed"),
    ],
)
def test_stale_says_what_changed(lake, catalog, change, reason):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    assert _of(lake, catalog).state == "done"
    change(lake)
    row = _of(lake, catalog)
    assert (row.state, row.reason) == ("stale", reason)
    with connect(lake.root) as con:
        assert con.execute("SELECT DISTINCT stale FROM accuracy").fetchall() == [(True,)]


def test_an_older_code_version_is_stale(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows(), code_version="0", key="0" * 16)
    assert _of(lake, catalog).reason.startswith("code version changed (0 to ")


def test_an_entry_of_another_release_does_not_close_the_view_of_all_results(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    entry = lake.root.read_json("models/net.json")
    lake.root.write_json("models/net.json", {**entry, "field_of_tomorrow": 1})
    assert "register it again" in _of(lake, catalog).reason


def test_a_run_of_an_older_release_is_stale_as_far_as_its_record_tells(lake, catalog):
    key = lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows(), key="0" * 16)
    path = f"predictions/net/{NAME}/{key}/run.json"
    record = lake.root.read_json(path)
    assert _of(lake, catalog).reason == "class lists changed"
    known = ("reference", "arguments", "class_map_sha256", "model_label_space")
    lake.root.write_json(path, {k: v for k, v in record.items() if k not in known})
    assert _of(lake, catalog).reason == "architecture or class lists changed"


def test_a_new_note_on_a_model_changes_nothing(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    lake.model("net", note="best so far")
    assert _of(lake, catalog).state == "done"


def test_a_renewal_under_way_shows_both(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    entry = lake.model("net", weights="other")
    lake.run(entry, lake.dataset(NAME, 4), _rows(), sealed=False, shards=1)
    row = _of(lake, catalog)
    assert row.state == "partial"
    assert "1 of 2 shards" in row.reason
    assert "weights changed" in row.reason


def test_the_compact_form_folds_severities_and_counts_the_states(full_lake, catalog):
    rows = [row for row in status(full_lake.root, catalog, compact=True) if row.model == "vit_b_16"]
    names = [row.dataset for row in rows]
    assert names.count("imagenet_c/fog") == 1
    assert len([name for name in names if name.startswith("imagenet_c/")]) == 19
    fog = rows[names.index("imagenet_c/fog")]
    assert (fog.state, fog.shards_done, fog.shards, fog.measured) == ("done", 5, 5, True)


def test_the_compact_form_says_mixed(lake, catalog):
    entry = lake.model("net")
    for severity in (1, 2):
        manifest = lake.dataset(f"imagenet_c/fog/{severity}", 4)
        lake.run(entry, manifest, _rows())
    rows = {row.dataset: row for row in status(lake.root, catalog, compact=True)}
    assert rows["imagenet_c/fog"].state == "mixed"
    assert rows["imagenet_c/fog"].reason.startswith("2 done, 3 not built")


def test_the_terminal_says_when_metrics_are_older(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    table = status_table(status(lake.root, catalog))
    shown = list(table.columns[4].cells)
    assert "older than the run" in shown
