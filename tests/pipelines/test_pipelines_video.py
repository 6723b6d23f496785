"""Frame sets on the Dagster side: mined, reviewed, sealed anew, and followed by sensors."""

import json

import dagster as dg
import pytest

from assets.frame_sets import CHECKS
from assets.lake import Lake
from assets.partitions import datasets_of
from ops.miniature import labelled_videos
from ops.shards import read_manifest
from ops.video.datasets import MINED
from ops.video.review import Event, Review, freeze
from pipelines.definitions import build_definitions
from pipelines.video_sensors import frozen_reviews, new_video_sources

SOURCE = "filmed"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("video")
    labelled_videos.write(folder / "videos" / SOURCE)
    return Lake(root=str(folder / "lake"), videos=str(folder / "videos"), workers=1)


@pytest.fixture(scope="module")
def definitions(lake):
    return build_definitions(lake=lake)


@pytest.fixture(scope="module")
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def run(definitions, instance, job):
    instance.add_dynamic_partitions("video_source", [SOURCE])
    return definitions.resolve_job_def(job).execute_in_process(
        instance=instance, partition_key=SOURCE, raise_on_error=False
    )


def shown(result, key):
    (event,) = result.asset_materializations_for_node("__".join(key))
    return event.metadata


def checks(result):
    return {
        (*found.asset_key.path, found.check_name): found.passed
        for found in result.get_asset_check_evaluations()
    }


@pytest.fixture(scope="module")
def mined(definitions, instance, lake):
    return run(definitions, instance, "frame_sets")


def reviewed_by(root, catalog, verdict):
    """Every anchor is usable, and of every pair the verdict is what `verdict` says."""
    review = Review.open(root, SOURCE, catalog)
    anchors = [
        Event(
            id=f"{n:032x}",
            kind="anchor",
            reviewer="ada",
            at="2026-11-20T12:00:00+00:00",
            mined_version=review.mined_version,
            subject=item.frame_set,
            verdict="usable",
        )
        for n, item in enumerate(review.anchors)
    ]
    pairs = [
        anchors[0].model_copy(
            update={
                "id": f"{n:032x}",
                "kind": "pair",
                "subject": item.sample_key,
                "verdict": verdict(item),
            }
        )
        for n, item in enumerate(review.pairs, start=len(anchors))
    ]
    joint = [
        event.model_copy(update={"id": f"{n:032x}", "kind": "joint"})
        for n, event in enumerate(
            (event for event in pairs if event.verdict != "similar"),
            start=len(anchors) + len(pairs),
        )
    ]
    review.record([*anchors, *pairs, *joint])
    return review


def test_a_source_is_mined_sealed_and_checked(mined, lake):
    assert mined.success
    assert checks(mined) == {("video", "frame_sets", name): True for name in CHECKS}
    manifest = read_manifest(lake.open(), f"frame_sets/{SOURCE}")
    metadata = shown(mined, ("video", "frame_sets"))
    assert metadata["dagster/row_count"].value == manifest.n_samples
    assert metadata["contact_strip"].value.startswith("![frame sets](data:image/")
    assert "Synthetic" in metadata["warning"].value
    missing = metadata["videos_without_sets"].records
    reasons = {record.data["file"]: record.data["reason"] for record in missing}
    assert labelled_videos.EMPTY in str(reasons)
    assert all(reasons.values())


def test_no_folder_of_this_machine_reaches_the_lake(mined, lake):
    root = lake.open()
    folder = str(lake.video_folder())
    for path in root.list("video") + root.list("shards"):
        if not path.endswith((".tar", ".parquet")):
            assert folder not in root.read_bytes(path).decode(), path
    assert folder not in json.dumps(
        {name: str(value) for name, value in shown(mined, ("video", "frame_sets")).items()}
    )


def test_the_mined_set_is_a_dataset_that_models_are_run_on(mined, lake):
    catalog = lake.load()
    assert datasets_of(catalog, MINED) == [f"frame_sets/{SOURCE}"]
    assert catalog.dataset(f"frame_sets/{SOURCE}").evaluate


def test_mining_again_changes_nothing(mined, definitions, instance):
    again = run(definitions, instance, "frame_sets")
    assert shown(again, ("video", "frame_sets"))["sealed_before"].value is True


def test_a_new_source_gets_its_partition_and_one_run(lake, tmp_path):
    empty = Lake(root=str(tmp_path / "lake"), videos=lake.videos, workers=1)
    with dg.DagsterInstance.ephemeral() as fresh:
        context = dg.build_sensor_context(instance=fresh, definitions=build_definitions(lake=empty))
        found = new_video_sources(context, lake=empty)
        assert [request.partition_key for request in found.run_requests] == [SOURCE]
        assert found.asset_events == []
        fresh.add_dynamic_partitions("video_source", [SOURCE])
        assert isinstance(new_video_sources(context, lake=empty), dg.SkipReason)


def test_what_is_mined_already_is_not_mined_again_by_itself(mined, lake):
    """It may have been with other options, and be under review."""
    version = read_manifest(lake.open(), f"frame_sets/{SOURCE}").version
    with dg.DagsterInstance.ephemeral() as fresh:
        context = dg.build_sensor_context(instance=fresh, definitions=build_definitions(lake=lake))
        found = new_video_sources(context, lake=lake)
    assert found.run_requests == []
    assert [request.partition_keys for request in found.dynamic_partitions_requests] == [[SOURCE]]
    (told,) = found.asset_events
    assert (told.partition, told.metadata["version"].value) == (SOURCE, version)


def test_a_frozen_review_becomes_a_new_version_and_is_asked_for_once(
    mined, definitions, instance, lake
):
    root = lake.open()
    context = dg.build_sensor_context(instance=instance, definitions=definitions)
    assert isinstance(frozen_reviews(context, lake=lake), dg.SkipReason)

    reviewed_by(
        root,
        lake.load(),
        lambda item: "similar" if abs(item.frame_offset) < 8 else "dissimilar",
    )
    first = freeze(root, SOURCE, lake.load())
    (request,) = frozen_reviews(context, lake=lake).run_requests
    assert request.partition_key == SOURCE
    assert first.version in request.run_key
    result = run(definitions, instance, "reviewed_frame_sets")
    assert result.success
    assert checks(result) == {("video", "reviewed_frame_sets", "stands"): True}
    manifest = read_manifest(root, f"reviewed_frame_sets/{SOURCE}")
    assert manifest.parameters["frozen_version"] == first.version
    accepted = manifest.n_samples
    assert 0 < accepted < read_manifest(root, f"frame_sets/{SOURCE}").n_samples
    assert isinstance(frozen_reviews(context, lake=lake), dg.SkipReason)

    review = Review.open(root, SOURCE, lake.load())
    item = next(item for item in review.pairs if abs(item.frame_offset) == 1)
    changed = [
        Event(
            id=f"{n:032x}",
            kind=kind,
            reviewer="ada",
            at="2026-11-20T13:00:00+00:00",
            mined_version=review.mined_version,
            subject=item.sample_key,
            verdict="dissimilar",
        )
        for n, kind in ((10**9, "pair"), (10**9 + 1, "joint"))
    ]
    review.record(changed)
    second = freeze(root, SOURCE, lake.load())
    assert second.version != first.version
    assert len(frozen_reviews(context, lake=lake).run_requests) == 1
    assert run(definitions, instance, "reviewed_frame_sets").success
    manifest = read_manifest(root, f"reviewed_frame_sets/{SOURCE}")
    assert manifest.parameters["frozen_version"] == second.version
    assert manifest.n_samples == accepted - 1

    # Dagster runs a key once: the first version must be asked for under another one.
    review.undo("ada")
    review.undo("ada")
    assert freeze(root, SOURCE, lake.load()).version == first.version
    instance.add_dynamic_partitions("video_source", ["damaged"])
    root.write_bytes("video/damaged/frozen/0123456789abcdef/freeze.json", b"{")
    (back,) = frozen_reviews(context, lake=lake).run_requests
    root.remove("video/damaged/frozen/0123456789abcdef/freeze.json")
    instance.delete_dynamic_partition("video_source", "damaged")
    assert back.run_key != request.run_key


def test_a_labels_file_that_cannot_be_read_fails_its_run_and_says_why(tmp_path):
    labelled_videos.write(tmp_path / "videos" / "broken")
    (tmp_path / "videos" / "broken" / "labels.json").write_text("{")
    lake = Lake(root=str(tmp_path / "lake"), videos=str(tmp_path / "videos"))
    definitions = build_definitions(lake=lake)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("video_source", ["broken"])
        result = definitions.resolve_job_def("frame_sets").execute_in_process(
            instance=instance, partition_key="broken", raise_on_error=False
        )
        assert not result.success
        (failed,) = result.get_step_failure_events()[:1]
        assert "labels.json" in str(failed.step_failure_data.error)
