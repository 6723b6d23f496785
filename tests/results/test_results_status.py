"""Status: done, missing, partial, not built; stale, and the reason why."""

import pytest
from made_lake import made_logits, rows_of

from ops.models import Transform
from ops.results import compute_metrics, connect, status, status_table
from ops.results.currency import code_digest

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
        (lambda lake: lake.root.remove(f"shards/{NAME}/manifest.json"), "dataset not built here"),
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


def _failure(lake, key, **fields):
    failure = {
        "what": "The model raised RuntimeError.",
        "expected": "a tensor of logits",
        "found": "shape mismatch",
        "where": "net on part-000000.tar",
        "remedy": "correct the model",
        "at": "2026-01-02T00:00:00+00:00",
        "kind": "model",
    }
    lake.root.write_json(f"predictions/net/{NAME}/{key}/failure.json", failure | fields)


def test_a_failed_cell_says_why_until_a_run_is_sealed(lake, catalog):
    entry, manifest = lake.model("net"), lake.dataset(NAME, 4, n_shards=3)
    key = lake.run(entry, manifest, _rows(), sealed=False, shards=1)
    _failure(lake, key)
    reason = (
        "The model raised RuntimeError. shape mismatch (net on part-000000.tar); "
        "correct the model; 1 of 3 shards finished"
    )
    row = _of(lake, catalog)
    assert (row.state, row.reason, row.shards_done, row.shards) == ("failed", reason, 1, 3)
    with connect(lake.root) as con:
        found = con.execute("SELECT dataset, reason FROM status WHERE state = 'failed'").fetchall()
        assert found == [(NAME, reason)]
        assert con.execute("SELECT count(*) FROM predictions").fetchone() == (0,)
    lake.run(entry, manifest, _rows())
    assert _of(lake, catalog).state == "done"


def test_what_failed_with_former_weights_is_no_failure_of_these(lake, catalog):
    key = lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows(), sealed=False, shards=0)
    _failure(lake, key)
    assert _of(lake, catalog).state == "failed"
    lake.model("net", weights="other")
    assert (_of(lake, catalog).state, _of(lake, catalog).reason) == ("missing", "never evaluated")


def test_a_renewal_that_failed_shows_both(lake, catalog):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    entry = lake.model("net", weights="other")
    key = lake.run(entry, lake.dataset(NAME, 4), _rows(), sealed=False, shards=0)
    _failure(lake, key)
    row = _of(lake, catalog)
    assert row.state == "failed"
    assert "shape mismatch" in row.reason
    assert "the former result is stale: weights changed" in row.reason


def test_a_damaged_note_of_a_failure_is_no_failure(lake, catalog):
    key = lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows(), sealed=False, shards=1)
    lake.root.write_bytes(f"predictions/net/{NAME}/{key}/failure.json", b"{")
    assert _of(lake, catalog).state == "partial"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tf32": True}, "numerics changed (tf32 false to true)"),
        ({"deterministic": False}, "numerics changed (deterministic true to false)"),
        ({"compiled": True}, "numerics changed (compiled false to true)"),
        ({"head": "sigmoid"}, "head changed (softmax to sigmoid)"),
    ],
)
def test_numerics_and_head_are_part_of_what_is_current(lake, catalog, change, reason):
    lake.run(lake.model("net"), lake.dataset(NAME, 4), _rows())
    entry = lake.model("net", **change)
    assert (_of(lake, catalog).state, _of(lake, catalog).reason) == ("stale", reason)
    lake.run(entry, lake.dataset(NAME, 4), _rows())
    assert _of(lake, catalog).state == "done"


def test_runs_and_models_say_how_they_were_computed(lake):
    entry = lake.model("net", tf32=True, head="sigmoid", normaliser=True)
    lake.run(entry, lake.dataset(NAME, 4), _rows())
    with connect(lake.root) as con:
        found = con.execute(
            "SELECT device, device_name, tf32, deterministic, compiled, head, batch_size, "
            "schema_version, driver, n_files, bytes > 0 FROM runs"
        ).fetchone()
        models = con.execute(
            "SELECT head, tf32, deterministic, compiled, normaliser, revision FROM models"
        ).fetchone()
    assert found == ("cpu", "cpu", True, True, False, "sigmoid", 32, "2", None, 2, True)
    assert models == ("sigmoid", True, True, False, True, None)


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


def test_a_change_of_any_module_is_another_code(tmp_path, monkeypatch):
    """Those of a package inside a package, too: runs are judged by them."""
    package = tmp_path / "code_of_a_test"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/__init__.py", "inner/part.py"):
        (package / name).write_text("x = 1\n")
    monkeypatch.setattr("ops.results.currency.files", lambda _: package)
    before = code_digest.__wrapped__()
    assert code_digest.__wrapped__() == before
    (package / "inner/part.py").write_text("x = 2\n")
    assert code_digest.__wrapped__() != before
