"""The command line as a user meets it: words, tables, exit codes, and S3."""

import csv
import io
import json
import os

import boto3
import pytest
from lake_by_command import Lake
from moto.server import ThreadedMotoServer

from ops.miniature import serve
from ops.shards import read_manifest
from ops.storage import open_root, paths

TINY = ("model", "add", "tiny", "ops.models.smallcnn:SmallCNN")
SETTINGS = ("--kwargs", '{"num_classes": 1000, "width": 4}', "--resize", "32", "--crop", "32")


@pytest.fixture(scope="module")
def upstream(miniature):
    with serve(miniature.folder) as server:
        yield server


@pytest.fixture(scope="module")
def lake(tmp_path_factory, upstream, miniature):
    made = Lake(tmp_path_factory.mktemp("cli"), upstream.url, miniature)
    made.run("fetch", "imagenet-a", "imagenet-o", "ilsvrc2012_val")
    made.run("build", "imagenet_a", "imagenet_o", "imagenet_1k/val")
    made.run(*TINY, *SETTINGS)
    made.run("evaluate", "tiny")
    return made


def test_the_catalog_lists_every_benchmark_its_state_and_what_to_do_for_a_login(lake):
    text = lake.run("catalog").stdout
    for benchmark in ("imagenet-1k", "imagenetv2", "youtube-bb", "sun-397", "caltech-256"):
        assert benchmark in text
    assert "here" in text
    assert "can be fetched" in text
    bare = Lake(lake.folder / "bare", lake.upstream_url, lake.miniature)
    (bare.folder / "catalog.yaml").write_text("{}")
    text = " ".join(bare.run("catalog", "imagenet-1k").stdout.split())
    assert "by hand" in text
    assert "shiftlake add ILSVRC2012_img_val.tar" in text
    assert "SHIFTLAKE_COOKIE_IMAGE_NET_ORG" in text


def test_a_file_got_by_hand_is_recognised_whatever_its_name(lake, tmp_path, miniature):
    other = Lake(tmp_path, lake.upstream_url, miniature)
    strange = tmp_path / "download (3)"
    strange.write_bytes(miniature.path("imagenet-r", "imagenet_r_tar").read_bytes())
    assert "imagenet-r/imagenet_r_tar" in other.run("add", str(strange)).stdout
    other.run("build", "imagenet_r")
    assert read_manifest(open_root(other.root), "imagenet_r/clean").n_samples > 0


def test_status_and_sql_answer_in_every_format(lake):
    assert "done" in lake.run("status").stdout
    query = "SELECT benchmark, n FROM leaderboard WHERE benchmark = 'imagenet_a'"
    n = read_manifest(open_root(lake.root), "imagenet_a/clean").n_samples
    assert json.loads(lake.run("sql", query, "--format", "json").stdout) == [
        {"benchmark": "imagenet_a", "n": n}
    ]
    rows = list(csv.reader(io.StringIO(lake.run("sql", query, "--format", "csv").stdout)))
    assert rows == [["benchmark", "n"], ["imagenet_a", str(n)]]
    assert "imagenet_a" in lake.run("sql", query).stdout


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine AS SELECT 1",
        "DELETE FROM predictions",
        "COPY predictions TO 'stolen.csv'",
        "ATTACH 'other.duckdb'",
        "SELECT * FROM read_csv('/etc/passwd')",
    ],
)
def test_sql_only_reads(lake, statement):
    before = lake.files()
    answer = lake.run("sql", statement, ok=False)
    assert answer.returncode == 1
    assert "expected" in answer.stderr
    assert lake.files() == before


def test_verify_names_a_damaged_shard_and_fails(lake):
    root = open_root(lake.root)
    entry = read_manifest(root, "imagenet_o/clean").shards[0]
    shard = root.local_path(paths.shard("imagenet_o/clean", entry.name))
    whole = shard.read_bytes()
    assert lake.run("verify", "--hash").stdout.count("hashes match") == 3
    shard.write_bytes(whole[:-512])
    try:
        answer = lake.run("verify", "imagenet_o", ok=False)
        assert answer.returncode == 1
        assert entry.name in "".join(answer.stdout.split())
    finally:
        shard.write_bytes(whole)


def test_export_gives_the_published_folders_back(lake, tmp_path, miniature):
    lake.run("export", "imagenet_a", str(tmp_path / "loose"))
    found = {
        path.relative_to(tmp_path / "loose").as_posix()
        for path in (tmp_path / "loose").rglob("*")
        if path.is_file()
    }
    assert found == set(miniature.truth["imagenet_a/clean"])


def test_a_problem_says_what_was_expected_found_where_and_what_to_do(lake):
    answer = lake.run("build", "imagenet_sketch", ok=False)
    assert answer.returncode == 1
    for word in ("expected:", "found:", "where:", "to do:", "ImageNet-Sketch.zip"):
        assert word in answer.stderr
    assert "Traceback" not in answer.stderr
    answer = lake.run("build", "imagenet_sketh", ok=False)
    assert "perhaps imagenet_sketch" in answer.stderr


def test_the_same_commands_on_s3_give_the_same_bytes(lake, tmp_path, upstream, miniature):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "a-secret-that-must-not-leak",
        "AWS_DEFAULT_REGION": "us-east-1",
        "SHIFTLAKE_SCRATCH": str(tmp_path / "scratch"),
    }
    client = boto3.client(
        "s3",
        endpoint_url=keys["AWS_ENDPOINT_URL"],
        aws_access_key_id="test",
        aws_secret_access_key="a-secret-that-must-not-leak",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="lab")
    remote = Lake(tmp_path, upstream.url, miniature, root="s3://lab/lake", extra=keys)
    try:
        remote.run("run", "natural_shifts")
        remote.run(*TINY, *SETTINGS)
        remote.run("evaluate", "tiny")
        assert "hashes match" in remote.run("verify", "--hash").stdout
        answer = remote.run("sql", "SELECT count(*) AS n FROM predictions "
                            "WHERE benchmark = 'imagenet_a'", "--format", "json")  # fmt: skip
        os.environ.update(keys)
        try:
            there = read_manifest(open_root(remote.root), "imagenet_a/clean")
        finally:
            for name in keys:
                del os.environ[name]
        here = read_manifest(open_root(lake.root), "imagenet_a/clean")
        assert there == here
        assert json.loads(answer.stdout) == [{"n": here.n_samples}]
        for stored in client.list_objects_v2(Bucket="lab")["Contents"]:
            body = client.get_object(Bucket="lab", Key=stored["Key"])["Body"].read()
            assert b"a-secret-that-must-not-leak" not in body
            assert str(tmp_path).encode() not in body
    finally:
        server.stop()


def test_help_tells_what_each_argument_means(lake):
    for words, told in (
        (("sql",), "standard input"),
        (("build",), "patterns"),
        (("fetch",), "datasets"),
        (("model", "add"), "module:callable"),
    ):
        assert told in " ".join(lake.run(*words, "--help").stdout.split())


def test_every_command_stands_in_a_panel_of_the_help(lake):
    from pipelines.cli.main import PANELS

    text = lake.run("--help").stdout
    assert "Other" not in text
    for panel, names in PANELS.items():
        assert panel in text
        for name in names:
            assert f" {name} " in text


def test_a_plan_tells_what_is_left_and_begins_nothing(lake):
    before = lake.files()
    answer = lake.run("plan", "imagenet_a", "imagenet_r", "--model", "tiny")
    text = " ".join(answer.stdout.split())
    assert "1 of 1" in text
    assert "0 of 1" in text
    assert "free" in text
    assert lake.files() == before
    assert "imagenet_a" in lake.run("plan", "imagenet_aa", ok=False).stderr


def test_an_empty_lake_says_what_to_do_first(lake, tmp_path, miniature):
    bare = Lake(tmp_path, lake.upstream_url, miniature)
    for words in (("status",), ("model", "list")):
        assert "shiftlake model add" in bare.run(*words).stdout


def test_a_name_that_matches_nothing_is_an_error_beside_one_that_does(lake):
    for words in (("build", "imagenet_a", "nope"), ("verify", "imagenet_a", "nope")):
        answer = lake.run(*words, ok=False)
        assert answer.returncode == 1
        assert "nope" in answer.stderr


def test_an_archive_that_is_gone_or_not_what_is_stated_is_not_sealed(lake, tmp_path, miniature):
    other = Lake(tmp_path, lake.upstream_url, miniature)
    other.run("fetch", "imagenet-a")
    archive = next((tmp_path / "lake" / "sources").rglob("imagenet-a.tar"))
    archive.unlink()
    answer = other.run("build", "imagenet_a", ok=False)
    assert answer.returncode == 1
    assert "a receipt, but no file" in answer.stderr
    assert "gone, or not what is stated" in " ".join(
        other.run("catalog", "imagenet-a").stdout.split()
    )


def test_one_file_that_fails_does_not_keep_the_others(lake, tmp_path, miniature):
    other = Lake(tmp_path, lake.upstream_url, miniature)
    answer = other.run("fetch", "imagenet-1k", ok=False)
    assert answer.returncode == 1
    assert "ILSVRC2012_img_test" in answer.stderr
    assert "ILSVRC2012_img_val.tar" in answer.stdout
    assert "imagenet_synsets.txt" in answer.stdout


def test_ordinary_mistakes_are_told_in_a_sentence(lake):
    for words in (
        ("model", "add", "bad name/x", "ops.models.smallcnn:SmallCNN"),
        ("model", "add", "m", "ops.models.smallcnn:SmallCNN", "--kwargs", "{n:3}"),
        ("model", "add", "m", "os:system", "--kwargs", '{"command": "true"}'),
        ("run", "nope"),
        ("run", "imagenet_c"),
        ("evaluate", "nope"),
        ("export", "imagenet_a", "/etc/hostname"),
    ):
        answer = lake.run(*words, ok=False)
        assert answer.returncode == 1, words
        assert "Traceback" not in answer.stderr, words
        assert answer.stderr.strip(), words
