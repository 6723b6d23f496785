"""Rendered benchmarks as assets: several partitions a run, each recorded, checked and shown."""

from __future__ import annotations

import dagster as dg
import pytest
import yaml

from assets.lake import Lake
from ops.catalog import load
from ops.fetch import fetch
from ops.miniature import serve
from ops.results import query
from ops.shards import build_many, read_manifest
from ops.storage import open_root
from pipelines.definitions import build_definitions
from pipelines.stages import Stage, run_stage

PUBLISHED = [f"imagenet_c/{name}/{n}" for name in ("brightness", "contrast") for n in range(1, 6)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory, miniature):
    """The validation images and two published corruptions, sealed."""
    folder = tmp_path_factory.mktemp("rendered")
    with serve(miniature.folder) as server:
        overlay = folder / "catalog.yaml"
        overlay.write_text(yaml.safe_dump(miniature.overlay(server.url)))
        made = Lake(root=str(folder / "lake"), catalog=str(overlay))
        root, catalog = made.open(), made.load()
        names = ["imagenet_1k/val", *PUBLISHED]
        for name in names:
            for file in catalog.sources(name):
                fetch(root, file)
        build_many(root, catalog, names)
    return made


@pytest.fixture(scope="module")
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture(scope="module")
def run(lake, instance):
    """One run over two corruptions."""
    stage = Stage(
        "imagenet_c_rendered", (("imagenet_c_rendered", "shards"),), ("brightness", "contrast")
    )
    return run_stage(build_definitions(lake=lake), instance, stage, lambda line: None)


def test_one_run_records_every_partition_with_its_checks(run, instance):
    key = dg.AssetKey(["imagenet_c_rendered", "shards"])
    assert instance.get_materialized_partitions(key) == {"brightness", "contrast"}
    checks = [
        event.asset_check_evaluation_data
        for event in run.all_events
        if event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    assert len(checks) == 2 * 4
    assert all(check.passed for check in checks)
    assert {check.partition for check in checks} == {"brightness", "contrast"}


def test_a_partition_shows_its_severities_its_renderer_and_its_speed(run):
    made = {
        event.partition: event.materialization.metadata
        for event in run.all_events
        if event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION
    }
    metadata = made["contrast"]
    assert metadata["contact_sheet"].value.startswith("![samples](data:image/webp;base64,")
    assert "Synthetic" in metadata["warning"].value
    assert metadata["images_per_second"].value > 0
    assert metadata["dagster/row_count"].value == 5 * 24
    recipes = metadata["renderer"].value
    assert [recipe["severity"] for recipe in recipes] == [1, 2, 3, 4, 5]
    assert {recipe["mode"] for recipe in recipes} == {"fast"}
    assert {recipe["source"] for recipe in recipes} == {"imagenet_1k/val"}


def test_a_second_run_renders_nothing(run, lake, instance):
    root = open_root(lake.root)
    before = read_manifest(root, "imagenet_c_rendered/contrast/3")
    stage = Stage(
        "imagenet_c_rendered", (("imagenet_c_rendered", "shards"),), ("contrast", "contrast")
    )
    again = run_stage(build_definitions(lake=lake), instance, stage, lambda line: None)
    (event,) = [
        event
        for event in again.all_events
        if event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION
    ]
    assert event.materialization.metadata["sealed_before"].value is True
    checks = [
        each.asset_check_evaluation_data
        for each in again.all_events
        if each.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    assert [check.partition for check in checks] == ["contrast"] * 4
    assert read_manifest(root, "imagenet_c_rendered/contrast/3") == before


def test_the_parity_report_finds_what_draws_nothing_within_a_level(run, lake, instance):
    report = run_stage(build_definitions(lake=lake), instance, Stage("parity"), lambda line: None)
    made = {
        event.asset_key.to_user_string(): event.materialization.metadata
        for event in report.all_events
        if event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION
    }
    metadata = made["imagenet_c_rendered/parity"]
    assert metadata["conditions"].value == 10
    assert metadata["contact_sheet"].value.startswith("![conditions](data:image/webp")
    answer = query(
        lake.root,
        "SELECT min(n_common), max(n_common), max(mean_abs_difference) < 1 FROM parity",
        format="csv",
    )
    # Four published images; the JPEG settings agree, so pixels do but for the odd rounding.
    assert answer.splitlines()[1] == "4,4,True" or answer.splitlines()[1] == "4,4,true"


def test_published_and_rendered_are_different_datasets(run, lake):
    root = open_root(lake.root)
    published = read_manifest(root, "imagenet_c/contrast/3")
    rendered = read_manifest(root, "imagenet_c_rendered/contrast/3")
    assert published.version != rendered.version
    assert published.renderer is None
    answer = query(
        lake.root,
        "SELECT dataset, renderer_form FROM datasets "
        "WHERE dataset LIKE 'imagenet_c%/contrast/3' ORDER BY ALL",
        format="csv",
    )
    assert answer.splitlines()[1:] == [
        "imagenet_c/contrast/3,published",
        "imagenet_c_rendered/contrast/3,stored",
    ]


def test_every_rendered_family_is_an_asset_with_a_job():
    jobs = {job.name for job in build_definitions().resolve_all_job_defs()}
    families = {
        spec.family for spec in load().datasets.values() if spec.layout.startswith("rendered_")
    }
    assert families <= jobs
    assert {"imagenet_c_rendered", "imagenet_p_rendered", "mini_imagenet_c_rendered"} <= jobs
