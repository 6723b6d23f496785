"""A changed upstream is seen: by the catalog's word, or by what the publisher offers."""

import dagster as dg
import pytest
import yaml

from assets.lake import Lake
from ops.catalog import load
from ops.fetch import fetch, read_receipt
from ops.miniature import serve
from ops.storage import open_root
from pipelines.definitions import build_definitions
from pipelines.sensors import changed_upstream

FILE = ("imagenet-a", "imagenet_a_tar")


@pytest.fixture
def lake(tmp_path, miniature):
    with serve(miniature.folder) as server:
        overlay = miniature.overlay(server.url)
        (tmp_path / "catalog.yaml").write_text(yaml.safe_dump(overlay))
        found = Lake(root=str(tmp_path / "lake"), catalog=str(tmp_path / "catalog.yaml"))
        fetch(found.open(), found.load().file(*FILE))
        yield found, overlay, tmp_path / "catalog.yaml"


def look(lake):
    context = dg.build_sensor_context(definitions=build_definitions(lake=lake))
    return changed_upstream(context, lake=lake)


def facts(overlay):
    return next(
        file
        for benchmark in overlay["benchmarks"]
        if benchmark["id"] == FILE[0]
        for file in benchmark["files"]
        if file["id"] == FILE[1]
    )


def test_an_unchanged_upstream_asks_for_nothing(lake):
    assert isinstance(look(lake[0]), dg.SkipReason)


def test_a_new_hash_in_the_catalog_asks_for_just_that_file(lake):
    found, overlay, path = lake
    for name in ("md5", "sha1"):
        facts(overlay)[name] = None
    facts(overlay)["sha256"] = "0" * 64
    path.write_text(yaml.safe_dump(overlay))
    request = look(found).run_requests[0]
    assert request.asset_selection == [dg.AssetKey(["imagenet_a", "imagenet_a_tar"])]
    assert look(found).run_requests[0].run_key == request.run_key


def test_another_size_offered_where_no_hash_is_stated_fetches_again_and_replaces(lake, tmp_path):
    found, overlay, path = lake
    changed = tmp_path / "imagenet-a.tar"
    changed.write_bytes(b"\0" * 20_480)
    for name in ("md5", "sha1", "sha256", "git_blob_sha1", "bytes"):
        facts(overlay)[name] = None
    path.write_text(yaml.safe_dump(overlay))
    assert isinstance(look(found), dg.SkipReason)
    facts(overlay)["url"] = changed.as_uri()
    path.write_text(yaml.safe_dump(overlay))
    request = look(found).run_requests[0]
    assert request.run_config == {
        "ops": {"imagenet_a__imagenet_a_tar": {"config": {"again": True}}}
    }
    definitions = build_definitions(lake=found)
    result = definitions.resolve_job_def("sources").execute_in_process(
        instance=dg.DagsterInstance.ephemeral(),
        asset_selection=request.asset_selection,
        run_config=request.run_config,
    )
    assert result.success
    receipt = read_receipt(open_root(found.root), load(str(path)).file(*FILE))
    assert receipt.bytes == 20_480
    assert receipt.verified_by == ["first use"]
