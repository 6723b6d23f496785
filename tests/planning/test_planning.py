"""What is told of downloads, disk and time before anything is begun is what it comes to."""

import pytest
import yaml

from ops import catalog as catalog_room
from ops.fetch import fetch
from ops.inference import evaluate
from ops.models import ModelEntry, Transform, register
from ops.planning import plan, plan_remarks, plan_table
from ops.shards import build, read_manifest
from ops.storage import open_root

CATALOG = catalog_room.load()
A_TAR = 687_552_512


def names(*families):
    return [name for name, spec in CATALOG.datasets.items() if spec.family in families]


@pytest.fixture
def empty(tmp_path):
    return open_root(tmp_path / "lake")


@pytest.fixture(scope="module")
def lake(tmp_path_factory, miniature):
    """A, O and the validation images; a network that was run on A alone."""
    folder = tmp_path_factory.mktemp("planning")
    overlay = folder / "catalog.yaml"
    files = (miniature.folder / "files").absolute().as_uri()
    overlay.write_text(yaml.safe_dump(miniature.overlay(files)))
    catalog, root = catalog_room.load(str(overlay)), open_root(folder / "lake")
    for name in ("imagenet_a/clean", "imagenet_o/clean", "imagenet_1k/val"):
        for file in catalog.sources(name):
            fetch(root, file)
    entry = ModelEntry(
        name="tiny",
        kind="callable",
        reference="ops.models.smallcnn:SmallCNN",
        kwargs={"num_classes": 1000, "width": 4},
        transform=Transform(resize=32, crop=32),
        label_space="ilsvrc1000",
    )
    register(root, entry)
    foretold = {row.benchmark: row for row in told(root, catalog).rows}
    for name in ("imagenet_a", "imagenet_o", "imagenet_1k/val"):
        build(root, catalog, name, workers=1)
    evaluate(root, catalog, "tiny", "imagenet_a", workers=1, device="cpu")
    return root, catalog, foretold


def told(root, catalog, **how):
    wanted = ["imagenet_1k/val", "imagenet_a/clean", "imagenet_o/clean", "cifar_100/test"]
    return plan(root, catalog, wanted, **how)


def test_an_archive_of_many_conditions_is_counted_once(empty):
    found = plan(empty, CATALOG, names("imagenet_a", "imagenet_c", "mini_imagenet_c"))
    of = {row.benchmark: row for row in found.rows}
    assert of["imagenet_a"].downloads.bytes == A_TAR
    assert of["imagenet_a"].images == 7_500
    assert of["imagenet_c"].images == 95 * 50_000
    whole = {
        file.id: file.bytes.value for name in names("imagenet_c") for file in CATALOG.sources(name)
    }
    assert of["imagenet_c"].downloads.bytes == sum(whole.values())
    assert found.downloads.bytes == A_TAR + sum(whole.values())
    # The images are copied: the shards hold what the archive holds, and a little beside each.
    assert A_TAR < of["imagenet_a"].shards < 1.1 * A_TAR


def test_what_nobody_states_is_unknown_and_not_nothing(empty):
    found = plan(empty, CATALOG, names("imagenet_a", "imagenet_p"))
    (_, perturbed) = found.rows
    assert perturbed.images is None
    assert perturbed.shards is None
    assert len(perturbed.downloads.unsized) == 4
    text = "\n".join(plan_remarks(found, free=10**9))
    assert "imagenet-p/blur.tar" in text
    assert "at least" in text
    assert "it will not fit" in text
    assert [str(cell) for cell in plan_table(found).columns[2].cells][1] == "unknown"


def test_a_rendered_set_names_what_it_is_made_of_and_a_file_behind_a_login(empty):
    found = plan(empty, CATALOG, names("imagenet_c_rendered", "imagenet_c_on_the_fly"))
    stored, on_the_fly = found.rows
    assert stored.needs == on_the_fly.needs == ("imagenet_1k/val",)
    assert stored.downloads.by_hand == ("imagenet-1k/ILSVRC2012_img_val.tar",)
    assert on_the_fly.shards == 0
    # The guide says 50 GB for 75 of the 95.
    assert stored.shards == pytest.approx(50e9 * 95 / 75, rel=0.1)
    together = plan(empty, CATALOG, [*names("imagenet_1k"), *names("imagenet_c_rendered")])
    assert not any(row.needs for row in together.rows)


def test_what_was_foretold_of_the_disk_came_true(lake):
    root, _, foretold = lake
    for name in ("imagenet_a/clean", "imagenet_o/clean", "imagenet_1k/val"):
        row = foretold[name.partition("/")[0]]
        assert row.downloads.bytes == 0
        assert row.sealed == 0
        # Tars are padded to 10 kB, which is much of a small one.
        assert row.shards == pytest.approx(read_manifest(root, name).bytes, rel=0.3)


def test_what_is_done_is_not_asked_for_again(lake):
    root, catalog, _ = lake
    found = told(root, catalog, model="tiny")
    val, a, o, cifar = found.rows
    assert (a.sealed, a.shards, a.downloads.bytes) == (1, 0, 0)
    assert (a.evaluated, a.to_evaluate, a.seconds) == (1, 0, 0)
    assert o.to_evaluate == read_manifest(root, "imagenet_o/clean").n_samples
    assert o.seconds > 0
    assert val.evaluated == 0
    assert not cifar.understood


def test_times_are_by_what_the_model_did_on_that_kind_of_device(lake):
    root, catalog, _ = lake
    assert told(root, catalog, model="tiny", device="cpu").rows[0].seconds > 0
    assert told(root, catalog, model="tiny", device="cuda").rows[0].seconds is None
    # Sequences and what is rendered as it is read cost something else.
    fly = plan(root, catalog, names("imagenet_c_on_the_fly"), model="tiny")
    assert fly.rows[0].seconds is None
