"""What the Dagster page promises: every asset is named, described, owned and checked."""

import dagster as dg
import pytest

from assets.partitions import BENCHMARKS
from assets.suites import source_files, suites
from ops.catalog import load
from ops.corruptions import BENCHMARK_CORRUPTIONS, CORRUPTIONS
from ops.perturbations import PERTURBATIONS
from pipelines.definitions import build_definitions


@pytest.fixture(scope="module")
def definitions():
    return build_definitions()


def test_definitions_are_loadable(definitions):
    dg.Definitions.validate_loadable(definitions)


def test_every_asset_has_a_two_part_key_group_owner_description_and_kind(definitions):
    specs = list(definitions.resolve_all_asset_specs())
    assert len(specs) > 40
    for spec in specs:
        assert len(spec.key.path) == 2, spec.key
        groups = {"sources", "shards", "rendered", "video", "predictions", "results", "report"}
        assert spec.group_name in groups, spec.key
        assert spec.owners, spec.key
        assert spec.description, spec.key
        assert spec.kinds, spec.key


def test_every_dataset_of_the_catalog_is_in_exactly_one_suite_and_partition():
    named = [spec.name for suite in suites().values() for spec in suite.specs]
    assert sorted(named) == sorted(load().datasets)


def test_corruptions_and_perturbations_are_the_partitions():
    assert list(suites()["imagenet_c"].parts)[:3] == [
        "gaussian_noise",
        "shot_noise",
        "impulse_noise",
    ]
    assert {len(suites()[name].parts) for name in ("imagenet_c",)} == {19}
    assert len(suites()["mini_imagenet_c"].parts) == 15
    assert len(suites()["imagenet_p"].parts) == 10
    published = [name for name, suite in suites().items() if not suite.made_here]
    assert [name for name in published if suites()[name].partitioned] == [
        "imagenet_c",
        "mini_imagenet_c",
        "imagenet_p",
    ]
    assert list(suites()["imagenet_c_rendered"].parts) == list(CORRUPTIONS)
    assert list(suites()["mini_imagenet_c_rendered"].parts) == list(BENCHMARK_CORRUPTIONS)
    # The ten of the mean first, so that they are one range.
    assert list(suites()["imagenet_p_rendered"].parts)[:10] == list(PERTURBATIONS)
    assert len(suites()["imagenet_p_rendered"].parts) == 10 + 4 + 6
    assert list(suites()["distorted_imagenet"].parts) == ["gaussian_blur", "gaussian_noise"]


def test_a_corruption_holds_its_five_severities():
    names = [spec.name for spec in suites()["imagenet_c"].parts["fog"]]
    assert names == [f"imagenet_c/fog/{severity}" for severity in range(1, 6)]


def test_every_shard_asset_has_its_four_blocking_checks(definitions):
    keys = {
        (key.asset_key, key.name)
        for checks in definitions.get_repository_def().asset_checks_defs_by_key
        for key in [checks]
    }
    for suite in suites().values():
        for name in ("counts", "label_histogram", "hashes", "exactly_once"):
            assert (dg.AssetKey(list(suite.key)), name) in keys
    for official in ("imagenet_vid_robust", "ytbb_robust"):
        for name in ("within_k", "one_video", "decodes"):
            assert (dg.AssetKey([official, "shards"]), name) in keys


def test_shards_depend_on_the_files_they_are_made_of(definitions):
    graph = definitions.resolve_asset_graph()
    fog = graph.get(dg.AssetKey(["imagenet_c", "shards"])).parent_keys
    assert dg.AssetKey(["imagenet_c", "imagenet_c_weather"]) in fog
    mini = graph.get(dg.AssetKey(["mini_imagenet_c", "shards"])).parent_keys
    assert mini == {dg.AssetKey(["imagenet_c", "shards"])}
    rendered = graph.get(dg.AssetKey(["imagenet_c_rendered", "shards"])).parent_keys
    assert dg.AssetKey(["imagenet_1k", "val_shards"]) in rendered
    assert dg.AssetKey(["imagenet_c", "frost_texture_frost4"]) in rendered
    assert dg.AssetKey(["imagenet_c", "shards"]) not in rendered
    video = graph.get(dg.AssetKey(["ytbb_robust", "shards"])).parent_keys
    assert dg.AssetKey(["imagenet_vid_robust", "imagenet_vid_ytbb_robust_tar"]) in video


def test_the_named_jobs_the_schedule_and_the_sensors_are_there(definitions):
    repository = definitions.get_repository_def()
    jobs = set(repository.job_names)
    assert {"natural_shifts", "imagenet_c", "everything", "evaluate", "results", "parity"} <= jobs
    assert {"frame_sets", "reviewed_frame_sets"} <= jobs
    assert [schedule.name for schedule in repository.schedule_defs] == ["rebuild"]
    assert {sensor.name for sensor in repository.sensor_defs} == {
        "new_models",
        "watched_models",
        "changed_upstream",
        "results_follow_predictions",
        "new_video_sources",
        "frozen_reviews",
        "results_follow_reviews",
    }


def test_the_demo_is_defined_only_where_it_is_asked_for(monkeypatch, definitions):
    assert "demo" not in definitions.get_repository_def().job_names
    monkeypatch.setenv("SHIFTLAKE_DEMO", "1")
    assert "demo" in build_definitions().get_repository_def().job_names


def test_predictions_are_partitioned_by_every_evaluated_suite():
    assert "imagenet_1k_val" in BENCHMARKS.get_partition_keys()
    assert "imagenet_1k_train" not in BENCHMARKS.get_partition_keys()
    assert "imagenet_real" not in BENCHMARKS.get_partition_keys()
    assert "frame_sets" in BENCHMARKS.get_partition_keys()
    assert len(source_files()) == len(set(source_files()))
