"""Stored boxes to rows: equal to the formulas on the same arrays, kept while nothing changes."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ops.errors import ShiftlakeError
from ops.inference.detections import import_results, list_detections, write_ground_truth
from ops.metrics.detection import (
    Detections,
    SetFrames,
    Truth,
    draws_of_sets,
    paired_intervals,
    pm_k_map,
)
from ops.results import query
from ops.results.bundle import export_results
from ops.results.connection import connect
from ops.results.detection_metrics import compute_detection_metrics, read_detection_metrics
from ops.storage import open_root

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests/inference"))

from made_frame_sets import REACH, seal_frame_sets, seal_reviewed_frame_sets  # noqa: E402


@pytest.fixture
def lake(tmp_path):
    """Frame sets with a detector that gets better towards the anchor, and its results file."""
    root = open_root(tmp_path / "lake")
    manifest = seal_frame_sets(root, n_sets=6, unannotated=(3,))
    return root, manifest, _import(root, tmp_path, seed=0), tmp_path


def _import(root, folder, *, seed, model="found"):
    with (folder / "truth.json").open("wb") as file:
        write_ground_truth(root, "made", file)
    truth = json.loads((folder / "truth.json").read_text())
    rng = np.random.default_rng(seed)
    offset = {image["id"]: image["frame_offset"] for image in truth["images"]}
    rows = []
    for each in truth["annotations"]:
        if rng.random() < 0.25:
            continue
        x, y, width, height = each["bbox"]
        shift = float(rng.normal(0, 1 + 3 * abs(offset[each["image_id"]])))
        rows.append(
            {
                "image_id": each["image_id"],
                "category_id": each["category_id"],
                "bbox": [x + shift, y, width, height],
                "score": float(np.round(rng.random(), 2)),
            }
        )
    (folder / "results.json").write_text(json.dumps(rows))
    return truth, rows, import_results(root, model, "made", folder / "results.json")


def _arrays(truth, rows, keep=lambda image: True):
    images = [image for image in truth["images"] if image["annotated"] and keep(image)]
    place = {image["id"]: at for at, image in enumerate(images)}
    names = sorted({image["frame_set"] for image in images})
    frames = SetFrames(
        np.array([names.index(image["frame_set"]) for image in images]),
        np.array([image["frame_offset"] for image in images]),
    )

    def boxes(entries):
        own = [each for each in entries if each["image_id"] in place]
        frame = np.array([place[each["image_id"]] for each in own], np.int64)
        label = np.array([each["category_id"] - 1 for each in own], np.int64)
        box = np.array([each["bbox"] for each in own], float).reshape(-1, 4)
        box[:, 2:] += box[:, :2]
        return frame, label, box

    scores = [each["score"] for each in rows if each["image_id"] in place]
    return frames, Truth(*boxes(truth["annotations"])), Detections(*boxes(rows), np.array(scores))


def _row(table, **wanted):
    (row,) = [r for r in table.to_pylist() if all(r[n] == v for n, v in wanted.items())]
    return row


def test_rows_are_the_formulas_on_the_files_own_numbers(lake):
    root, manifest, (truth, rows, record), _ = lake
    table = compute_detection_metrics(root)
    frames, there, found = _arrays(truth, rows)
    scores = pm_k_map(frames, there, found, range(REACH + 1))
    intervals = paired_intervals(scores, draws_of_sets(np.arange(6)))
    for k in range(REACH + 1):
        row = _row(table, metric=f"pm{k}_map50", variant="detection", rule="101-point")
        assert row["value"] == pytest.approx(scores.value[k], abs=1e-12)
        assert (row["ci_lo"], row["ci_hi"]) == pytest.approx(intervals.value[k])
        assert (row["k"], row["n"], row["n_frames"], row["n_left_out"]) == (k, 6, 29, 0)
        assert row["dataset_version"] == row["mined_version"] == manifest.version
        assert row["detections_key"] == record.key
    drop = _row(table, metric="pm_map50_drop", k=REACH, variant="detection", rule="101-point")
    assert drop["value"] == pytest.approx(scores.value[0] - scores.value[REACH])
    assert (drop["ci_lo"], drop["ci_hi"]) == pytest.approx(intervals.drop[REACH])
    assert scores.value[0] > scores.value[REACH]
    assert {(row["variant"], row["rule"]) for row in table.to_pylist()} == {
        *(
            (v, r)
            for v in ("detection", "localisation")
            for r in ("101-point", "all-point", "11-point", "ilsvrc_vid")
        ),
        ("localisation_nms", "101-point"),
    }


def test_pm_0_is_pycocotools_on_the_exported_files(lake):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    root, _, (truth, _, _), folder = lake
    with contextlib.redirect_stdout(io.StringIO()):
        there = COCO(str(folder / "truth.json"))
        evaluation = COCOeval(there, there.loadRes(str(folder / "results.json")), "bbox")
        evaluation.params.imgIds = [i["id"] for i in truth["images"] if i["frame_offset"] == 0]
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    row = _row(
        compute_detection_metrics(root), metric="pm0_map50", variant="detection", rule="101-point"
    )
    # The second of its twelve numbers is AP at IoU 0.5, all areas, 100 detections.
    assert row["value"] == pytest.approx(evaluation.stats[1], abs=1e-12)


def test_the_accepted_frames_of_a_review_are_scored_beside_all(lake):
    root, manifest, (truth, rows, _), _ = lake
    keys = [i["file_name"] for i in truth["images"] if i["frame_set"] != "clip01/000030"]
    keys = [key for key in keys if not key.endswith("000032")]
    reviewed = seal_reviewed_frame_sets(root, manifest, keys)
    table = compute_detection_metrics(root)
    row = _row(
        table,
        benchmark="reviewed_frame_sets",
        metric=f"pm{REACH}_map50",
        variant="detection",
        rule="101-point",
    )
    expected = pm_k_map(*_arrays(truth, rows, lambda i: i["file_name"] in keys), (REACH,))
    assert row["value"] == pytest.approx(expected.value[0], abs=1e-12)
    assert (row["n"], row["n_frames"]) == (5, 5 * 4 - 1)
    assert (row["dataset_version"], row["mined_version"]) == (reviewed.version, manifest.version)
    # A review of other frames than the boxes are of is not scored.
    other = reviewed.model_copy(update={"parameters": {"mined_version": "0" * 16}})
    root.write_json(f"shards/{other.name}/manifest.json", other.model_dump(mode="json"))
    again = compute_detection_metrics(root)
    assert set(again["benchmark"].to_pylist()) == {"frame_sets"}


def test_what_stands_is_kept_and_what_changed_is_stale_until_it_is_computed(lake, monkeypatch):
    root, _, _, folder = lake
    first = compute_detection_metrics(root)
    written = root.read_bytes("results/detection_metrics.parquet")
    import ops.results.detection_rows as detection_rows

    real = detection_rows.detection_rows
    monkeypatch.setattr(detection_rows, "detection_rows", None)
    assert compute_detection_metrics(root).equals(first)
    assert root.read_bytes("results/detection_metrics.parquet") == written
    _import(root, folder, seed=1)
    assert set(read_detection_metrics(root)["stale"].to_pylist()) == {True}
    monkeypatch.setattr(detection_rows, "detection_rows", real)
    second = compute_detection_metrics(root)
    assert second.num_rows == first.num_rows
    assert not second.equals(first)
    assert set(read_detection_metrics(root)["stale"].to_pylist()) == {False}
    # Frames mined anew: the boxes are of pictures that are no longer there.
    seal_frame_sets(root, n_sets=6, seed=9)
    assert set(read_detection_metrics(root)["stale"].to_pylist()) == {True}
    assert compute_detection_metrics(root).num_rows == 0


def test_two_detectors_in_any_order_give_the_same_bytes(lake):
    root, _, _, folder = lake
    compute_detection_metrics(root)
    _import(root, folder, seed=2, model="another")
    compute_detection_metrics(root)
    step_by_step = root.read_bytes("results/detection_metrics.parquet")
    root.remove("results/detection_metrics.parquet")
    compute_detection_metrics(root)
    assert root.read_bytes("results/detection_metrics.parquet") == step_by_step


def test_sets_without_boxes_have_no_number(tmp_path):
    root = open_root(tmp_path / "lake")
    # The anchor of the first set is unknown, and all of the second.
    seal_frame_sets(root, n_sets=2, unannotated=(2, 5, 6, 7, 8, 9))
    _import(root, tmp_path, seed=0)
    assert compute_detection_metrics(root).num_rows == 0
    seal_frame_sets(root, n_sets=3, unannotated=(2,))
    _import(root, tmp_path, seed=0)
    row = compute_detection_metrics(root).to_pylist()[0]
    assert (row["n"], row["n_left_out"]) == (2, 1)


def test_a_damaged_table_is_computed_again(lake):
    root = lake[0]
    first = compute_detection_metrics(root)
    root.write_bytes("results/detection_metrics.parquet", b"PAR1 no more")
    assert read_detection_metrics(root).num_rows == 0
    assert compute_detection_metrics(root).equals(first)


def test_boxes_that_were_changed_are_refused(lake):
    root, _, (_, _, record), _ = lake
    path = f"{record.folder()}/detections.parquet"
    root.write_bytes(path, root.read_bytes(path)[:-1] + b"0")
    with pytest.raises(ShiftlakeError, match="not the one that was sealed"):
        compute_detection_metrics(root)


@pytest.mark.parametrize("what", ["run.json", "detections.parquet", "missing"])
def test_what_is_damaged_is_named_and_costs_nothing_else(lake, what):
    root, _, (_, _, record), folder = lake
    _, _, other = _import(root, folder, seed=1, model="other")
    whole = compute_detection_metrics(root)
    # An older set of boxes of the same model does not stand in for the damaged one.
    _, _, newest = _import(root, folder, seed=2)
    file = "detections.parquet" if what == "missing" else what
    path = f"{newest.folder()}/{file}"
    root.remove(path) if what == "missing" else root.write_bytes(path, b"{")
    root.remove("results/detection_metrics.parquet")
    with pytest.raises(ShiftlakeError) as refused:
        compute_detection_metrics(root)
    assert newest.key in str(refused.value)
    damaged: list[ShiftlakeError] = []
    found = compute_detection_metrics(root, damaged=damaged)
    assert [newest.key in str(error) for error in damaged] == [True]
    assert found.to_pylist() == [row for row in whole.to_pylist() if row["model"] == "other"]
    assert {row["detections_key"] for row in found.to_pylist()} == {other.key}
    with connect(root) as connection:
        rows = connection.execute("SELECT DISTINCT model, stale FROM detection_metrics").fetchall()
    assert rows == [("other", False)]
    assert record.key != newest.key


def test_sql_sees_the_table(lake):
    root = lake[0]
    compute_detection_metrics(root)
    with connect(root) as connection:
        rows = connection.execute(
            "SELECT k, value, stale FROM detection_metrics WHERE metric LIKE 'pm%_map50' "
            "AND variant = 'detection' AND rule = '101-point' ORDER BY k"
        ).fetchall()
    assert [row[0] for row in rows] == list(range(REACH + 1))
    assert {row[2] for row in rows} == {False}
    assert "pm0_map50" in str(query(root, "SELECT DISTINCT metric FROM detection_metrics"))


def test_a_bundle_takes_detectors_along(lake, catalog, tmp_path):
    root, _, _, folder = lake
    _import(root, folder, seed=1, model="other")
    compute_detection_metrics(root)
    for chosen, names in (((), ["found", "other"]), (("oth*",), ["other"])):
        export_results(root, catalog, tmp_path / "bundle", models=chosen, rows=False)
        table = pq.read_table(tmp_path / "bundle/tables/detection_metrics.parquet")
        assert sorted(set(table["model"].to_pylist())) == names


def test_the_asset_shows_the_anchors_and_the_largest_k_that_was_mined(lake):
    from assets.lake import Lake
    from assets.pm_k import pmk_detection

    shown = pmk_detection(Lake(root=lake[0].url)).metadata["detection"].value.records
    reach = f"pm{REACH}_map50"
    assert {row.data["metric"] for row in shown} == {"pm0_map50", reach, "pm_map50_drop"}
    assert len(shown) == 3 * 3


def test_the_commands(lake, monkeypatch):
    from typer.testing import CliRunner

    from pipelines.cli.main import app

    root, _, _, folder = lake
    monkeypatch.setenv("SHIFTLAKE_ROOT", root.url)

    def shiftlake(*arguments):
        done = CliRunner().invoke(app, ["detections", *arguments])
        told = done.exception is None or isinstance(done.exception, SystemExit)
        return done.output if told else f"refused: {done.exception}"

    shiftlake("ground-truth", "made", str(folder / "again.json"))
    assert (folder / "again.json").read_bytes() == (folder / "truth.json").read_bytes()
    results = str(folder / "results.json")
    shiftlake("import", "second", "frame_sets/made", results)
    assert [each.model for each in list_detections(root)] == ["found", "second"]
    (folder / "bad.json").write_text("[1]")
    assert "row 0" in shiftlake("import", "x", "made", str(folder / "bad.json"))
    assert "own or coco91" in shiftlake("import", "x", "made", results, "--categories", "voc")
    assert "one of 101-point" in shiftlake("score", "--rule", "voc")
    weights = ["--weights", results, "--kwargs", "[1]"]
    assert "a JSON object" in shiftlake("run", "x", "made", "ssd300_vgg16", *weights)
    root.write_bytes("detections/lost/frame_sets/made/0/run.json", b"{")
    for command in ("list", "score"):
        said = shiftlake(command)
        # What can be read is shown first; the error's place may be broken over lines.
        assert said.index("second") < said.index("cannot be read"), said
    assert set(read_detection_metrics(root)["model"].to_pylist()) == {"found", "second"}


def test_the_command_line_itself_prints_them(lake):
    root = lake[0]
    environment = {**os.environ, "SHIFTLAKE_ROOT": root.url, "COLUMNS": "160"}
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "detections", "score"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("localisation_nms") == 1
