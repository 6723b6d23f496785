"""Every query of the SQL cookbook runs, and finds something, on a full lake."""

import csv
import io
import re
import shutil
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from made_lake import Lake
from made_video import answers, frame, mined, reviewed

from ops.models import read_model
from ops.results import compute_metrics, query, run_gates
from ops.results.reference import REFERENCE, write_reference
from ops.storage import open_root, paths

TEXT = (Path(__file__).parents[2] / "docs" / "sql-cookbook.md").read_text("utf-8")
QUERIES = dict(re.findall(r"### \d+\. ([^\n]+)\n(?:(?!###).)*?```sql\n(.*?)```", TEXT, re.S))
EMPTY_WHEN_ALL_IS_WELL = {
    "Runs whose numbers are not yet in the table of metrics",
    "Why something was not evaluated",
}


def test_the_test_sees_every_query():
    assert len(QUERIES) == TEXT.count("```sql") >= 15


GATES = """
gates:
  release:
    baseline: {model: resnet50}
    candidates: [vit_b_16]
    margins: {imagenet_1k: 1.0, imagenet_r: 2.0, imagenet_c: 1.0}
"""


@pytest.fixture(scope="module")
def answered_lake(full_lake, catalog, tmp_path_factory):
    """The full lake, its gate judged, and results of others beside its own."""
    folder = tmp_path_factory.mktemp("answered") / "lake"
    shutil.copytree(full_lake.root.url, folder)
    root = open_root(folder)
    root.write_bytes(paths.gates(), GATES.encode())
    run_gates(root, catalog, date(2026, 1, 1))
    publish(root)
    film(Lake(root), catalog)
    compute_metrics(root, catalog)
    return root


def film(lake, catalog):
    """Two sets of frames, on which two models are wrong here and there; one pair is rejected."""
    frames = [frame(clip, 40, offset, [8]) for clip in ("a", "b") for offset in range(-10, 10)]
    manifest = mined(lake, "zoo", frames)
    for name, wrong in (("resnet50", (3, 27)), ("vit_b_16", (3,))):
        preds = [9 if at in wrong else 8 for at in range(len(frames))]
        lake.run(read_model(lake.root, name), manifest, answers(frames, preds))
    reviewed(lake, catalog, "zoo", dissimilar=(frames[1]["sample_key"],))


def publish(root):
    """Thirty made-up models on the validation set and on V2."""
    rows = [
        dict.fromkeys(REFERENCE.names)
        | {
            "source": "made_up",
            "revision": "1",
            "model": f"published_{i}",
            "setting": benchmark,
            "benchmark": benchmark,
            "condition": condition,
            "metric": "top1",
            "variant": "unmasked",
            "value": 0.56 + i / 100 - less - (i % 3) / 200,
            "model_kind": "standard",
            "synthetic": True,
        }
        for i in range(30)
        for benchmark, condition, less in (
            ("imagenet_1k", "val", 0.0),
            ("imagenetv2", "matched_frequency", 0.1),
        )
    ]
    write_reference(root, pa.Table.from_pylist(rows, schema=REFERENCE))


@pytest.mark.parametrize("title", QUERIES)
def test_a_query_of_the_cookbook_finds_rows(answered_lake, title):
    rows = list(csv.reader(io.StringIO(query(answered_lake, QUERIES[title], "csv"))))
    assert (len(rows) > 1) != (title in EMPTY_WHEN_ALL_IS_WELL)
