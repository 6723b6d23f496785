"""From sealed rows to answers, as Dagster records them: metrics, gates, plots, report."""

import dagster as dg
import pytest
from made_lake import Lake as MadeLake
from made_lake import decode_error, made_logits, rows_of

from assets.lake import Lake
from ops.catalog.classes import ilsvrc
from ops.storage import open_root, paths
from pipelines.definitions import build_definitions
from pipelines.stages import ANSWERS, run_stage

GATES = """
gates:
  release:
    baseline: {model: old}
    candidates: [new, same]
    margins: {imagenet_1k: 3.0}
"""
# What the new model has forgotten.
FORGOTTEN = 207


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Events of the two stages after a planted regression: a class that is never right."""
    made = MadeLake(open_root(tmp_path_factory.mktemp("answers") / "lake"))
    labels = [FORGOTTEN] * 20 + [i % 100 for i in range(180)]
    val = made.dataset("imagenet_1k/val", len(labels))
    logits = made_logits(labels, 0, skill=8.0)
    rows = rows_of(labels, logits, masks=("imagenet_a",), prefix="v")
    for name in ("old", "same"):
        made.run(made.model(name, weights=name), val, rows)
    logits[:20, FORGOTTEN] -= 30
    worse = rows_of(labels, logits, masks=("imagenet_a",), prefix="v")
    made.run(made.model("new", weights="new"), val, [*worse[:-1], decode_error(worse[-1])])
    made.root.write_bytes(paths.gates(), GATES.encode())
    definitions = build_definitions(lake=Lake(root=made.root.url))
    with dg.instance_for_test() as instance:
        events = [
            event
            for stage in ANSWERS
            for event in run_stage(definitions, instance, stage, lambda line: None).all_events
        ]
    return made.root, events


def metadata_of(events, key):
    return next(
        event.materialization.metadata
        for event in events
        if event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION
        and event.asset_key.to_user_string() == key
    )


def checks_of(events):
    return {
        (check.asset_key.to_user_string(), check.check_name): check
        for event in events
        if event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION
        for check in [event.asset_check_evaluation_data]
    }


def test_a_planted_regression_is_a_red_check_that_names_class_and_images(answers):
    _, events = answers
    check = checks_of(events)["results/gate", "non_inferior_imagenet_1k"]
    assert not check.passed
    assert check.severity == dg.AssetCheckSeverity.ERROR
    (lost,) = check.metadata["classes new lost"].value.records[:1]
    assert lost.data["name"] == ilsvrc().names[FORGOTTEN]
    assert lost.data["lost"] >= 19
    images = check.metadata["images new lost"].value
    assert {"v00000000", "v00000019"} <= set(images)
    assert "same: pass" in check.description


def test_what_no_gate_is_about_passes_and_says_so(answers):
    _, events = answers
    check = checks_of(events)["results/gate", "non_inferior_imagenet_sketch"]
    assert check.passed
    assert check.description == "no gate is about this benchmark"


def test_numbers_nobody_published_are_not_missed(answers):
    _, events = answers
    check = checks_of(events)["results/metrics", "golden_numbers"]
    assert check.passed
    assert check.metadata["compared"].value == 0
    assert check.description == "no model with published results has been evaluated"


def test_plots_are_on_the_pages_of_the_assets(answers):
    _, events = answers
    picture = metadata_of(events, "results/metrics")["reliability"].value
    assert picture.startswith("![reliability](data:image/png;base64,")
    assert len(picture) < 300_000
    assert metadata_of(events, "results/leaderboard")["ladder"].value.startswith("![ladder](data:")


def test_the_report_is_written_and_linked(answers):
    root, events = answers
    metadata = metadata_of(events, "results/report")
    assert metadata["report"].value.startswith("http://127.0.0.1:")
    page = root.read_bytes(metadata["file"].value).decode()
    assert metadata["bytes"].value == len(page.encode())
    assert "new" in page
    assert ilsvrc().names[FORGOTTEN] in page
