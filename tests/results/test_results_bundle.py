"""Bundles: complete and readable without the project, the same twice, and safe to take in."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_lake import Lake, made_logits, rows_of, val_name
from made_video import answers, frame, mined, reviewed

from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.models import load, read_model
from ops.results import compute_metrics, connect, status
from ops.results.bundle import export_results, import_results
from ops.results.connection import TABLES, VIEWS
from ops.storage import open_root, paths

CLEAN = [3, 1, 4, 1, 5, 9, 2, 6]


def fill(lake, models=("resnet50", "vit_b_16")):
    """Two models on the validation images, seen through the masks, and on a corruption."""
    masks = ("imagenet_a", "imagenet_o", "imagenet_r")
    val = lake.dataset("imagenet_1k/val", len(CLEAN))
    fog = lake.dataset("imagenet_c/fog/3", 4, n_shards=1)
    for seed, name in enumerate(models):
        entry = lake.model(name, f"w{seed}")
        logits = made_logits(CLEAN, seed)
        lake.run(entry, val, rows_of(CLEAN, logits, masks=masks, source=val_name))
        lake.run(entry, fog, rows_of(CLEAN[:4], logits[:4], source=val_name))


@pytest.fixture(scope="module")
def made(tmp_path_factory, catalog):
    """A lake, and a bundle of all of it. Do not change either."""
    folder = tmp_path_factory.mktemp("bundle")
    lake = Lake(open_root(folder / "lake"))
    fill(lake)
    compute_metrics(lake.root, catalog)
    lake.root.write_bytes(paths.results("report.html"), b"<!DOCTYPE html><title>r</title>")
    return lake, export_results(lake.root, catalog, folder / "bundle"), folder / "bundle"


@pytest.fixture
def bundle(made, tmp_path):
    """A copy of the bundle, to damage."""
    return Path(shutil.copytree(made[2], tmp_path / "copy"))


def hashes(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def rewrite(folder, change):
    """Change the manifest as an attacker would, with right hashes."""
    manifest = manifest_of(folder)
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def relist(folder, path):
    data = (folder / path).read_bytes()
    stated = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    rewrite(folder, lambda manifest: manifest["files"].update({path: stated}))


def test_it_opens_in_plain_duckdb(made, monkeypatch):
    lake, _, folder = made
    monkeypatch.chdir(folder)
    with duckdb.connect("results.duckdb", read_only=True) as theirs, connect(lake.root) as ours:
        for name in sorted({*TABLES, *VIEWS} - {"review_events", "videos"}):
            columns = [row[:2] for row in ours.execute(f"DESCRIBE {name}").fetchall()]
            assert [row[:2] for row in theirs.execute(f"DESCRIBE {name}").fetchall()] == columns
            query = f"FROM {name} ORDER BY ALL"
            assert theirs.execute(query).fetchall() == ours.execute(query).fetchall(), name
        (accuracies,) = theirs.execute("SELECT count(*) FROM accuracy").fetchone()
        (rows,) = theirs.execute("SELECT count(*) FROM predictions").fetchone()
        assert (accuracies > 0, rows) == (True, 2 * 12)
        query = "SELECT sample_key, p_a FROM disagreements('resnet50', 'vit_b_16') ORDER BY ALL"
        assert theirs.execute(query).fetchall() == ours.execute(query).fetchall()


def test_who_reviewed_and_what_was_filmed_stay_at_home(catalog, tmp_path):
    lake = Lake(open_root(tmp_path / "lake"))
    frames = [frame("a", 20, offset, [3], "birthday of eve") for offset in (-1, 0, 1)]
    lake.run(lake.model("m"), mined(lake, "films", frames), answers(frames, [3, 3, 4]))
    reviewed(lake, catalog, "films", dissimilar=("a/000020/000019",))
    compute_metrics(lake.root, catalog)
    for rows in (True, False):
        folder = tmp_path / f"bundle {rows}"
        export_results(lake.root, catalog, folder, rows=rows)
        tables = {path.stem for path in (folder / "tables").iterdir()}
        assert not tables & {"review_events", "videos"}
        for path in folder.rglob("*.parquet"):
            text = str(pq.read_table(path, partitioning=None).to_pylist())
            assert "ada" not in text.split("'"), path
            assert "a.mp4" not in text, path
            # Single frames, whose keys name their videos, only come with the predictions.
            assert rows or ("birthday" not in text and "a/000020" not in text), path
        manifest = (folder / "manifest.json").read_text()
        assert '"ada"' not in manifest
        assert "birthday" not in manifest
        with duckdb.connect(str(folder / "results.duckdb"), read_only=True) as theirs:
            (scores,) = theirs.execute("SELECT count(*) FROM pmk WHERE metric = 'pm10'").fetchone()
            assert scores


def test_the_manifest_names_every_file(made):
    lake, done, folder = made
    manifest = manifest_of(folder)
    found = hashes(folder)
    assert found.pop("results.duckdb") in (folder / "results.duckdb.sha256").read_text()
    for name in ("manifest.json", "results.duckdb.sha256"):
        found.pop(name)
    assert {path: file["sha256"] for path, file in manifest["files"].items()} == found
    assert "report.html" in found
    assert [entry["name"] for entry in manifest["models"]] == ["resnet50", "vit_b_16"]
    assert {run["dataset"] for run in manifest["runs"]} == {"imagenet_1k/val", "imagenet_c/fog/3"}
    assert {each["dataset"]: each["n_samples"] for each in manifest["datasets"]} == {
        "imagenet_1k/val": 8,
        "imagenet_c/fog/3": 4,
    }
    assert manifest["written_with"]["duckdb"] == duckdb.__version__
    assert (done.runs, done.files, done.models) == (4, len(found), ("resnet50", "vit_b_16"))
    text = (folder / "manifest.json").read_text()
    assert str(lake.root.url) not in text, "no local path is stored"


def test_the_same_results_give_the_same_bytes(made, catalog, tmp_path):
    lake, _, folder = made
    export_results(lake.root, catalog, tmp_path / "again")
    first, second = hashes(folder), hashes(tmp_path / "again")
    for name in ("results.duckdb", "results.duckdb.sha256"):
        assert first.pop(name)
        assert second.pop(name)
    assert first == second


def test_some_models_alone_in_place_of_an_older_bundle(made, catalog, bundle, monkeypatch):
    lake, _, _ = made
    (bundle / "notes.txt").write_text("mine")
    export_results(lake.root, catalog, bundle, models=["vit*"])
    assert not (bundle / "models/resnet50.json").exists()
    assert (bundle / "notes.txt").read_text() == "mine"
    monkeypatch.chdir(bundle)
    with duckdb.connect("results.duckdb", read_only=True) as connection:
        for name in ("metrics", "runs", "models", "status", "accuracy", "predictions"):
            (models,) = connection.execute(f"SELECT list(DISTINCT model) FROM {name}").fetchone()
            assert models == ["vit_b_16"], name
    with pytest.raises(ShiftlakeError, match=r"resnet50, vit_b_16[\s\S]*resnet101"):
        export_results(lake.root, catalog, bundle, models=["resnet101"])


def test_without_rows_it_is_small_and_no_import(made, catalog, tmp_path):
    lake, _, _ = made
    export_results(lake.root, catalog, tmp_path / "few", rows=False)
    assert not (tmp_path / "few/predictions").exists()
    # Anywhere: nothing but tables is in it.
    with duckdb.connect(str(tmp_path / "few/results.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM accuracy").fetchone() != (0,)
        assert connection.execute("FROM relative_robustness('resnet50')").fetchall()
    assert len(manifest_of(tmp_path / "few")["runs"]) == 4
    with pytest.raises(ShiftlakeError, match="no rows to import"):
        import_results(tmp_path / "other", tmp_path / "few")


def test_a_folder_of_something_else_is_left_alone(made, catalog, tmp_path):
    lake, _, _ = made
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter1.tex").write_text("x")
    with pytest.raises(ShiftlakeError, match=r"other files[\s\S]*chapter1"):
        export_results(lake.root, catalog, tmp_path / "thesis")
    assert (tmp_path / "thesis/chapter1.tex").read_text() == "x"


def test_a_damaged_prediction_file_is_not_passed_on(made, catalog, tmp_path):
    lake, _, _ = made
    root = open_root(shutil.copytree(lake.root.url, tmp_path / "lake"))
    (path, *_) = [p for p in root.list("predictions") if p.endswith(".parquet")]
    data = bytearray(root.read_bytes(path))
    data[100] ^= 1
    root.write_bytes(path, bytes(data))
    with pytest.raises(ShiftlakeError, match=r"not what its record says"):
        export_results(root, catalog, tmp_path / "bad")
    assert not (tmp_path / "bad/manifest.json").exists(), "unfinished is no bundle"


def test_imported_runs_are_runs_like_any_other(made, catalog, tmp_path):
    lake, _, folder = made
    other = Lake(open_root(tmp_path / "other"))
    for name, n in (("imagenet_1k/val", 8), ("imagenet_c/fog/3", 4)):
        other.dataset(name, n, n_shards=2 if n == 8 else 1)
    done = import_results(other.root, folder)
    assert (len(done.runs), done.already_here, done.models) == (4, (), ("resnet50", "vit_b_16"))
    compute_metrics(other.root, catalog)
    with connect(lake.root) as ours, connect(other.root) as theirs:
        for query in (
            "SELECT * EXCLUDE (inputs) FROM metrics ORDER BY ALL",
            "FROM predictions ORDER BY ALL",
            "SELECT model, dataset, run_id, stale, versions, ended_at FROM runs ORDER BY ALL",
        ):
            assert theirs.execute(query).fetchall() == ours.execute(query).fetchall()
        assert theirs.execute(
            "SELECT DISTINCT state FROM status WHERE run_id IS NOT NULL"
        ).fetchall() == [("done",)]
    (note,) = other.root.list("results/imports")
    assert other.root.read_json(note)["models"] == ["resnet50", "vit_b_16"]


def test_an_imported_model_is_never_run_until_it_is_registered(made, bundle, catalog, tmp_path):
    """Its entry names whatever its author likes, and importing a package runs it."""
    path = bundle / "models/resnet50.json"
    path.write_text(
        json.dumps(
            json.loads(path.read_text())
            | {"reference": "IPython:start_kernel", "normaliser": True, "origin": "/home/x"}
        )
    )
    relist(bundle, "models/resnet50.json")
    root = open_root(tmp_path / "other")
    Lake(root).dataset("imagenet_sketch/clean", 2)
    import_results(root, bundle)
    entry = read_model(root, "resnet50")
    assert (entry.imported, entry.normaliser, entry.origin) == (True, False, None)
    for run in (
        lambda: load(root, entry),
        lambda: evaluate(root, catalog, "resnet50", "imagenet_sketch/clean"),
    ):
        with pytest.raises(ShiftlakeError, match=r"cannot be run here[\s\S]*register resnet50"):
            run()
    assert not [path for path in root.list("predictions") if path.endswith("failure.json")]
    states = {row.state for row in status(root, catalog) if row.dataset == "imagenet_sketch/clean"}
    assert states == {"imported"}


def test_a_second_import_changes_nothing(made, tmp_path):
    _, _, folder = made
    import_results(tmp_path / "other", folder)
    (tmp_path / "other/results/imports").rename(tmp_path / "imports")
    before = hashes(tmp_path / "other")
    done = import_results(tmp_path / "other", folder)
    assert (done.runs, len(done.already_here), done.models) == ((), 4, ())
    shutil.rmtree(tmp_path / "other/results/imports")
    assert hashes(tmp_path / "other") == before


def test_the_same_model_here_keeps_its_entry(made, tmp_path):
    _, _, folder = made
    other = Lake(open_root(tmp_path / "other"))
    other.model("resnet50", "w0", note="ours")
    done = import_results(other.root, folder)
    assert done.models == ("vit_b_16",)
    assert other.root.read_json(paths.model("resnet50"))["note"] == "ours"


def test_another_model_of_the_same_name_is_not_replaced(made, tmp_path):
    _, _, folder = made
    other = Lake(open_root(tmp_path / "other"))
    other.model("resnet50", "another")
    before = hashes(tmp_path / "other")
    with pytest.raises(ShiftlakeError, match=r"is another one[\s\S]*weights"):
        import_results(other.root, folder)
    assert hashes(tmp_path / "other") == before


def test_another_run_under_the_same_key_is_not_replaced(made, tmp_path):
    lake, _, folder = made
    root = open_root(shutil.copytree(lake.root.url, tmp_path / "other"))
    (seal, *_) = [path for path in root.list("predictions") if path.endswith("run.json")]
    record = root.read_json(seal)
    record["files"][0]["sha256"] = "0" * 64
    root.write_json(seal, record)
    with pytest.raises(ShiftlakeError, match="Another run stands here"):
        import_results(root, folder)


def test_unfinished_shards_here_must_be_the_same(made, tmp_path):
    lake, _, folder = made
    root = open_root(shutil.copytree(lake.root.url, tmp_path / "other"))
    (seal, *_) = [path for path in root.list("predictions") if path.endswith("run.json")]
    root.remove(seal)
    assert len(import_results(root, folder).runs) == 1, "the same shards, unsealed"
    root.remove(seal)
    part = next(p for p in root.list(seal.rpartition("/")[0]) if p.endswith(".parquet"))
    root.write_bytes(part, b"other rows")
    with pytest.raises(ShiftlakeError, match="Another run stands here"):
        import_results(root, folder)
    assert root.read_bytes(part) == b"other rows"


def other_rows(change):
    """Rewrite a file of a run, and everything that states its hash, as an attacker would."""

    def damage(folder):
        path = some(folder, ".parquet", "predictions/resnet50/imagenet_1k")
        table = change(pq.read_table(folder / path, partitioning=None))
        pq.write_table(table, folder / path)
        relist(folder, path)
        stated = manifest_of(folder)["files"][path]
        seal = f"{path.rpartition('/')[0]}/run.json"
        record = json.loads((folder / seal).read_text())
        for file in record["files"]:
            if path.endswith(file["name"]):
                file.update(stated)
        (folder / seal).write_text(json.dumps(record))
        relist(folder, seal)

    return damage


def with_column(name, value):
    def change(table):
        at = table.schema.get_field_index(name)
        column = pa.array([value] * len(table), table.schema.field(at).type)
        return table.set_column(at, table.schema.field(at), column)

    return change


def of_type(name, kind):
    def change(table):
        at = table.schema.get_field_index(name)
        return table.set_column(at, name, table[name].cast(kind))

    return change


def no_parquet(folder):
    other_rows(lambda table: table)(folder)
    path = some(folder, ".parquet", "predictions/resnet50/imagenet_1k")
    data = bytearray((folder / path).read_bytes())
    data[-8:] = b"\xff" * 8
    (folder / path).write_bytes(bytes(data))
    relist(folder, path)
    seal = f"{path.rpartition('/')[0]}/run.json"
    record = json.loads((folder / seal).read_text())
    for file in record["files"]:
        if path.endswith(file["name"]):
            file.update(manifest_of(folder)["files"][path])
    (folder / seal).write_text(json.dumps(record))
    relist(folder, seal)


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (other_rows(lambda t: t.slice(1)), "rows"),
        (other_rows(lambda t: pa.concat_tables([t.slice(0, 1), t.slice(0, len(t) - 1)])), "once"),
        (other_rows(with_column("model", "vit_b_16")), "model resnet50"),
        (other_rows(with_column("benchmark", "imagenet_a")), "benchmark imagenet_1k"),
        (other_rows(with_column("run_id", "0" * 16)), "run_id"),
        (other_rows(with_column("dataset_version", "0" * 16)), "dataset_version"),
        (other_rows(with_column("status", "decode_error")), "seen"),
        (other_rows(lambda t: t.drop_columns(["correct"])), "the column correct"),
        (other_rows(lambda t: t.append_column("more", pa.nulls(len(t)))), "more, too"),
        (other_rows(of_type("pred", pa.int64())), "pred: int16"),
        (no_parquet, "a Parquet file"),
    ],
)
def test_rows_are_checked_not_only_hashes(bundle, tmp_path, damage, match):
    damage(bundle)
    with pytest.raises(ShiftlakeError, match=match):
        import_results(tmp_path / "other", bundle)
    assert not open_root(tmp_path / "other").list("")
    assert not list((tmp_path / "other/.scratch").iterdir())


def test_only_a_bundle_makes_room_for_a_bundle(made, catalog, tmp_path):
    """A manifest.json alone says nothing: a dataset's seal is one, too."""
    lake, _, _ = made
    folder = tmp_path / "sealed"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables/mine.csv").write_text("1")
    shutil.copy(lake.root.local_path("shards/imagenet_1k/val/manifest.json"), folder)
    before = hashes(folder)
    with pytest.raises(ShiftlakeError, match="other files"):
        export_results(lake.root, catalog, folder)
    assert hashes(folder) == before


def test_what_no_manifest_names_stays(made, catalog, bundle):
    lake, _, _ = made
    (bundle / "tables/mine.csv").write_text("1")
    export_results(lake.root, catalog, bundle, models=["vit*"])
    assert (bundle / "tables/mine.csv").read_text() == "1"


def test_a_file_of_ones_own_is_not_written_over(made, catalog, tmp_path):
    lake, _, _ = made
    export_results(lake.root, catalog, tmp_path / "few", rows=False)
    (tmp_path / "few/models").mkdir()
    (tmp_path / "few/models/resnet50.json").write_text("mine")
    with pytest.raises(ShiftlakeError, match=r"other files[\s\S]*resnet50"):
        export_results(lake.root, catalog, tmp_path / "few")
    assert (tmp_path / "few/models/resnet50.json").read_text() == "mine"
    assert (tmp_path / "few/manifest.json").exists(), "the older bundle is still there"


@pytest.mark.parametrize("place", ["", "bundle", "predictions/../x"])
def test_no_bundle_in_the_lake(made, catalog, place):
    lake, _, _ = made
    before = hashes(Path(lake.root.url))
    with pytest.raises(ShiftlakeError, match="into the storage root"):
        export_results(lake.root, catalog, Path(lake.root.url) / place)
    assert hashes(Path(lake.root.url)) == before


def test_an_interrupted_export_can_be_tried_again(made, catalog, tmp_path):
    lake, _, folder = made

    class Stopped(Exception):
        pass

    def stop(done, _):
        if done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        export_results(lake.root, catalog, tmp_path / "new", progress=stop)
    assert hashes(tmp_path / "new"), "it had begun"
    with pytest.raises(ShiftlakeError, match="no bundle"):
        import_results(tmp_path / "other", tmp_path / "new")
    export_results(lake.root, catalog, tmp_path / "new")
    assert hashes(tmp_path / "new").keys() == hashes(folder).keys()


def test_large_tables_are_views_over_the_rows(made):
    _, _, folder = made
    with duckdb.connect(str(folder / "results.duckdb"), read_only=True) as connection:
        kinds = dict(
            connection.execute(
                "SELECT table_name, table_type FROM information_schema.tables"
            ).fetchall()
        )
    assert {kinds[name] for name in ("predictions", "flips", "counts")} == {"VIEW"}
    assert not (folder / "tables/flips.parquet").exists()


def flip(folder, path):
    data = bytearray((folder / path).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / path).write_bytes(bytes(data))


def some(folder, ending, top="predictions"):
    return next(p for p in hashes(folder) if p.startswith(top) and p.endswith(ending))


def a_cut_file(folder):
    path = folder / some(folder, ".parquet")
    path.write_bytes(path.read_bytes()[:-1])


def a_missing_file(folder):
    (folder / some(folder, ".parquet")).unlink()


def a_file_nobody_named(folder):
    (folder / "predictions/extra.parquet").write_bytes(b"x")


def another_database(folder):
    flip(folder, "results.duckdb")


def a_link(folder):
    path = folder / some(folder, ".parquet")
    elsewhere = folder.parent / "elsewhere.parquet"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def a_record_elsewhere(folder):
    path = some(folder, "run.json")
    record = json.loads((folder / path).read_text()) | {"model": "../../escape"}
    (folder / path).write_text(json.dumps(record))
    relist(folder, path)


def a_file_outside(folder):
    path = some(folder, "run.json")
    record = json.loads((folder / path).read_text())
    record["files"][0]["name"] = "../../../../../evil.parquet"
    (folder / path).write_text(json.dumps(record))
    relist(folder, path)


def no_model(folder):
    (folder / "models/resnet50.json").unlink()
    rewrite(folder, lambda manifest: manifest["files"].pop("models/resnet50.json"))


def a_model_of_another_name(folder):
    path = folder / "models/resnet50.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"name": "vit_b_16"}))
    relist(folder, "models/resnet50.json")


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda f: flip(f, some(f, ".parquet")), "sha256"),
        (lambda f: flip(f, some(f, ".parquet", "tables")), "sha256"),
        (a_cut_file, "bytes"),
        (a_missing_file, "no file"),
        (a_file_nobody_named, "only the files"),
        (another_database, "results.duckdb"),
        (a_link, "symbolic link"),
        (a_record_elsewhere, "the record of"),
        (a_file_outside, "a path that a bundle has"),
        (no_model, "the entry of every model"),
        (a_model_of_another_name, "the entry of models/resnet50.json"),
        (lambda f: rewrite(f, lambda m: m.update(format_version=2)), "format version 1"),
        (lambda f: (f / "manifest.json").unlink(), "no bundle of results"),
    ],
)
def test_a_bundle_that_is_not_right_is_refused_whole(bundle, tmp_path, damage, match):
    damage(bundle)
    with pytest.raises(ShiftlakeError, match=match):
        import_results(tmp_path / "other", bundle)
    assert not (tmp_path / "other").exists() or not open_root(tmp_path / "other").list("")


FOREIGN = (
    "../evil",
    "/etc/passwd",
    "predictions/../../evil.parquet",
    "tables\\x.parquet",
    "shards/x.tar",
    "models/weights/x.pt",
    "models/.hidden.json",
    "tables//x.parquet",
    "gates.yaml/x",
    "weights",
)


@pytest.mark.parametrize("path", FOREIGN)
def test_foreign_paths_are_refused(bundle, tmp_path, path):
    stated = {"sha256": "0" * 64, "bytes": 1}
    rewrite(bundle, lambda manifest: manifest["files"].update({path: stated}))
    with pytest.raises(ShiftlakeError, match="must not hold"):
        import_results(tmp_path / "other", bundle)
