"""Fine-tuning on frame sets: the frame that is trained on is the worst, and only it is."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
import torch
from frame_set_parts import Brightness, Exponential, Normalised, add_model, seal_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.nn import functional

from ops import catalog
from ops.errors import ShiftlakeError
from ops.inference import evaluate
from ops.inference.projection import projection
from ops.models import list_models, load, read_model
from ops.models.fine_tuned import FineTuned, Score, read_training
from ops.models.frame_set_pixels import store_sets
from ops.models.pm_k_loss import ProjectedLoss
from ops.models.pm_k_trainer import Trainer, _steps
from ops.models.pm_k_training import _arguments, fine_tune, held_out_videos
from ops.shards import Sample, read_manifest, write_dataset
from ops.storage import Root, open_root

CATALOG = catalog.load()
# Class 0 is bright: the darker a frame, the larger the loss of that label.
LEVELS = {-3: 120, -2: 30, -1: 250, 0: 200, 1: 240, 2: 90}


def tune(root: Root, model: str, dataset: str = "frame_sets/made", **more) -> FineTuned:
    given_ = {"loss": "pm_k", "name": "tuned", "epochs": 1, "held_out": 0.0, "sets_per_step": 4}
    return fine_tune(root, CATALOG, model, dataset, **{**given_, **more})[1]


def trainer_of(root: Root, model: str, folder, dataset: str = "frame_sets/made", **more):
    entry, manifest = read_model(root, model), read_manifest(root, dataset)
    arguments = _arguments(**{
        "loss": "pm_k", "epochs": 1, "learning_rate": 0.01, "candidates": None, "mix": 1.0,
        "warm_up": 0, "sets_per_step": 4, "k": 10, "held_out": 0.0, "seed": 0, **more,
    })  # fmt: skip
    judge = ProjectedLoss(projection(entry, manifest))
    stored = store_sets(root, manifest, entry.transform, folder, k=arguments.k, knows=judge.knows)
    return Trainer(load(root, entry), entry, judge, stored, arguments), stored


def mixed(root: Root, clips: int = 6) -> None:
    """Sets of two classes, bright and dark, with neighbours that drift to the other side."""
    sets = {}
    for number in range(clips):
        bright = number % 2 == 0
        drift = {offset: abs(offset) * (18 + number) for offset in range(-4, 5)}
        levels = {o: 230 - d if bright else 25 + d for o, d in drift.items()}
        sets[f"clip{number:02d}"] = ([0 if bright else 1], levels)
    seal_sets(root, sets)


def test_the_worst_frame_is_the_one_with_the_largest_loss(root, tmp_path):
    seal_sets(root, {"a": ([0], LEVELS), "b": ([1], LEVELS)})
    add_model(root, "brightness", Brightness())
    trainer, stored = trainer_of(root, "brightness", tmp_path)
    first, second = stored.sets
    assert first.offsets[trainer.worst(first, 0)] == -2
    assert second.offsets[trainer.worst(second, 0)] == -1
    near, stored = trainer_of(root, "brightness", tmp_path, k=1)
    assert near.worst(stored.sets[0], 0) == stored.sets[0].anchor


def test_of_equal_losses_the_nearest_frame_and_then_the_earlier(root, tmp_path):
    same = {-2: 10, -1: 10, 0: 200, 1: 10, 2: 10}
    seal_sets(root, {"a": ([0], same), "b": ([0], dict.fromkeys(same, 90))})
    add_model(root, "brightness", Brightness())
    trainer, stored = trainer_of(root, "brightness", tmp_path)
    assert [each.offsets[trainer.worst(each, 0)] for each in stored.sets] == [-1, 0]


def test_a_frame_of_another_class_is_no_candidate(root, tmp_path):
    manifest = "frame_sets/made"
    from frame_set_parts import frame, png

    frames = [
        frame("a", 0, png(220), [0], manifest),
        frame("a", 1, png(0), [1], manifest),
        frame("a", 2, png(100), [0, 1], manifest),
    ]
    write_dataset(root, manifest, frames, label_space="imagenet_vid30")
    add_model(root, "brightness", Brightness())
    trainer, stored = trainer_of(root, "brightness", tmp_path)
    (only,) = stored.sets
    assert only.offsets[trainer.worst(only, 0)] == 2
    assert only.target(2) == (0,)


def test_searching_leaves_every_value_of_the_network_as_it_was(root, tmp_path):
    mixed(root)
    torch.manual_seed(3)
    add_model(root, "normalised", Normalised())
    trainer, stored = trainer_of(root, "normalised", tmp_path)
    before = {name: value.clone() for name, value in trainer._network.state_dict().items()}
    trainer._network.train()
    for each in stored.sets:
        trainer.worst(each, 0)
    after = trainer._network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_statistics_of_a_batch_normalisation_are_those_of_the_worst_frames_alone(
    root, tmp_path
):
    mixed(root, clips=4)
    torch.manual_seed(3)
    entry = add_model(root, "normalised", Normalised())
    trainer, stored = trainer_of(root, "normalised", tmp_path)
    worst = [trainer.worst(each, 0) for each in stored.sets]
    rows = [each.rows[place] for each, place in zip(stored.sets, worst, strict=True)]
    images = torch.from_numpy(np.array(stored.pixels[rows])).permute(0, 3, 1, 2).float() / 255
    by_hand = load(root, entry).train()
    by_hand((images - 0.5) / 0.5)
    tune(root, "normalised")
    tuned = load(root, read_model(root, "tuned"))
    assert int(tuned.norm.num_batches_tracked) == 1
    torch.testing.assert_close(tuned.norm.running_mean, by_hand.norm.running_mean)
    torch.testing.assert_close(tuned.norm.running_var, by_hand.norm.running_var)


def test_one_step_of_pm_k_is_one_step_on_the_worst_frames(root, tmp_path):
    mixed(root, clips=4)
    entry = add_model(root, "brightness", Brightness())
    _, stored = trainer_of(root, "brightness", tmp_path)
    # Of a bright set the darkest frame is the worst, of a dark one the brightest.
    levels = stored.pixels[:, 0, 0, 0]
    worst = [
        (min, max)[each.labels[0][0]](int(levels[row]) for row in each.rows) for each in stored.sets
    ]
    network = load(root, entry)
    images = (torch.tensor(worst).view(-1, 1, 1, 1).expand(-1, 3, 8, 8) / 255 - 0.5) / 0.5
    loss = functional.cross_entropy(network(images), torch.tensor([0, 1, 0, 1]))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=0.01)
    loss.backward()
    optimizer.step()
    record = tune(root, "brightness", learning_rate=0.01)
    tuned = load(root, read_model(root, "tuned"))
    assert tuned.gain.item() == pytest.approx(network.gain.item(), abs=1e-6)
    assert record.epochs[0].loss == pytest.approx(loss.item(), rel=1e-5)
    assert record.epochs[0].moved == 4


def test_plain_training_sees_anchors_alone(root):
    mixed(root)
    add_model(root, "brightness", Brightness())
    plain = tune(root, "brightness", loss="plain")
    assert plain.epochs[0].moved == 0
    warm = tune(root, "brightness", name="warm", warm_up=1, epochs=2)
    assert [epoch.moved > 0 for epoch in warm.epochs] == [False, True]
    anchors = tune(root, "brightness", name="k0", k=0)
    assert anchors.epochs == plain.epochs
    weights = {read_model(root, name).weights for name in ("tuned", "k0")}
    assert len(weights) == 1


def test_the_mixed_loss_lies_between_both(root):
    mixed(root)
    add_model(root, "brightness", Brightness())
    losses = [
        tune(root, "brightness", name=f"mix{mix}", mix=mix, sets_per_step=8).epochs[0].loss
        for mix in (1.0, 0.25, 0.0)
    ]
    assert losses[1] == pytest.approx(0.25 * losses[0] + 0.75 * losses[2], rel=1e-5)
    assert losses[0] > losses[2]


def test_candidates_are_drawn_anew_and_the_anchor_is_always_one(root, tmp_path):
    levels = {0: 5} | {offset: 200 + offset for offset in (*range(-10, 0), *range(1, 11))}
    seal_sets(root, {"a": ([0], levels), "b": ([1], levels)})
    add_model(root, "brightness", Brightness())
    trainer, stored = trainer_of(root, "brightness", tmp_path, candidates=4)
    first, second = stored.sets
    assert {trainer.worst(first, epoch) for epoch in range(8)} == {first.anchor}
    found = [second.offsets[trainer.worst(second, epoch)] for epoch in range(8)]
    assert len(set(found)) > 2
    again, _ = trainer_of(root, "brightness", tmp_path, candidates=4)
    assert found == [second.offsets[again.worst(second, epoch)] for epoch in range(8)]


def test_the_same_training_gives_the_same_bytes_and_is_not_run_twice(root, tmp_path):
    torch.manual_seed(0)
    made = Normalised()
    other = open_root(tmp_path / "other")
    found = []
    for place in (root, other):
        mixed(place, clips=7)
        add_model(place, "normalised", made)
        entry, record = fine_tune(
            place, CATALOG, "normalised", "frame_sets/made", loss="pm_k", name="tuned",
            epochs=3, sets_per_step=3, learning_rate=0.01, candidates=3,
        )  # fmt: skip
        found.append((entry.weights, record))
    assert found[0] == found[1]
    told: list[str] = []
    fine_tune(
        root, CATALOG, "normalised", "frame_sets/made", loss="pm_k", name="tuned", epochs=3,
        sets_per_step=3, learning_rate=0.01, candidates=3, log=told.append,
    )  # fmt: skip
    assert not any(line.startswith("epoch") for line in told)
    assert read_training(root, read_model(root, "tuned").training) == found[0][1]
    assert list_models(root) == ["normalised", "tuned"]


def test_a_thousand_way_model_is_trained_through_the_projection_that_evaluates_it(root, tmp_path):
    # Airplane is ILSVRC's 404, antelope 351 to 353; the fourth output is of no video class.
    torch.manual_seed(1)
    entry = add_model(
        root, "ilsvrc", Normalised(4), outputs=4, class_map=(404, 352, 353, 999),
        label_space="ilsvrc1000",
    )  # fmt: skip
    mixed(root)
    sets = read_manifest(root, "frame_sets/made")
    projected = projection(entry, sets)
    judge = ProjectedLoss(projected)
    outputs = torch.randn(50, 4)
    full = projected(outputs.numpy())
    labels = [(0,), (1,)] * 25
    losses, right = judge(outputs, labels)
    expected = functional.cross_entropy(
        torch.from_numpy(full), torch.tensor([0, 1] * 25), reduction="none"
    )
    torch.testing.assert_close(losses, expected)
    assert right.tolist() == [
        int(row.argmax()) in own for row, own in zip(full, labels, strict=True)
    ]
    assert not judge.knows((5,))
    tune(root, "ilsvrc", learning_rate=0.01, epochs=2)
    tuned = read_model(root, "tuned")
    assert (tuned.label_space, tuned.class_map) == ("ilsvrc1000", entry.class_map)
    assert tuned.weights != entry.weights
    # What stands for no class of the videos is left alone, but for the decay of all weights.
    before, after = load(root, entry).head.weight, load(root, tuned).head.weight
    assert not torch.allclose(before[:3], after[:3], rtol=1e-2)
    torch.testing.assert_close(before[3], after[3], rtol=1e-3, atol=0)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_loss_of_several_labels_is_that_of_any_of_them(data):
    from ops.inference.projection import Projection

    judge = ProjectedLoss(Projection("m", "d", None, 5, None, None))
    labels = data.draw(st.sets(st.integers(0, 4), min_size=1))
    logits = torch.tensor([data.draw(st.lists(st.floats(-8, 8), min_size=5, max_size=5))])
    loss, right = judge(logits, [tuple(labels)])
    share = float(logits.double().softmax(dim=1)[0, sorted(labels)].sum())
    assert float(loss) == pytest.approx(-math.log(share), abs=1e-4)
    assert bool(right) == (int(logits.argmax()) in labels)


def test_a_set_with_an_unreadable_frame_is_skipped_and_counted(root):
    mixed(root)
    whole = read_manifest(root, "frame_sets/made").n_samples
    target = io.BytesIO()
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(target, "JPEG")
    seal_sets(
        root,
        {
            "good": ([0], {0: 200, 1: 180}),
            "other": ([1], {0: 20, 1: 40}),
            "cut": ([0], {0: 200, 3: target.getvalue()[:200]}),
            "lost": ([0], {1: 200, 2: 180}),
            "foreign": ([9], {0: 200}),
        },
        "frame_sets/damaged",
    )
    add_model(root, "brightness", Brightness())
    record = tune(root, "brightness", "frame_sets/damaged")
    assert whole
    assert record.n_trained == 2
    assert "frame +3 cannot be read" in record.skipped["cut/000050"]
    assert "anchor" in record.skipped["lost/000050"]
    assert "no output" in record.skipped["foreign/000050"]


def test_a_loss_that_is_no_number_stops_and_registers_nothing(root):
    mixed(root)
    add_model(root, "brightness", Exponential())
    for loss in ("pm_k", "plain"):
        with pytest.raises(ShiftlakeError, match="no longer finite") as error:
            tune(root, "brightness", loss=loss, learning_rate=1e3, epochs=3)
        assert "epoch" in str(error.value.where)
        assert "learning-rate" in error.value.remedy
    assert list_models(root) == ["brightness"]


def test_a_reviewed_set_trains_on_accepted_frames_alone(root):
    mixed(root)
    mined = read_manifest(root, "frame_sets/made")
    accepted = [("clip00", 0), ("clip00", 1), ("clip01", 0), ("clip02", 3)]

    def seal(version: str) -> None:
        samples = [
            Sample(
                f"{clip}/000050/{50 + offset:06d}", None, "jpg", None,
                {"benchmark": "reviewed_frame_sets", "condition": "made", "labels": [0, 1],
                 "source_key": clip, "source_file": "", "frame_set": f"{clip}/000050",
                 "frame_offset": offset, "state": "accepted"},
            )
            for clip, offset in accepted
        ]  # fmt: skip
        made = write_dataset(
            root, "reviewed_frame_sets/made", samples, label_space="imagenet_vid30"
        )
        joined = {"joined_to": mined.name, "parameters": {"mined_version": version}}
        made = made.model_copy(update=joined)
        root.write_json("shards/reviewed_frame_sets/made/manifest.json", made.model_dump())

    add_model(root, "brightness", Brightness())
    seal(mined.version)
    record = tune(root, "brightness", "reviewed_frame_sets/made")
    assert record.n_trained == 2
    assert set(record.skipped) == {"clip02/000050"}
    # With both labels accepted every prediction is right, and the loss is nothing.
    assert record.epochs[0].loss == pytest.approx(0, abs=1e-6)
    seal("0" * 16)
    with pytest.raises(ShiftlakeError, match="mined again"):
        tune(root, "brightness", "reviewed_frame_sets/made", name="second")


def test_anchors_of_one_youtube_video_are_on_one_side(root):
    sets = {f"v{n // 4}_{1000 * n}": ([n % 2], {0: 200, 1: 90}) for n in range(12)}
    seal_sets(root, sets, "ytbb_robust/clean", "ytbb24")
    add_model(root, "brightness", Brightness(gain=0.5), label_space="ytbb24")
    record = tune(root, "brightness", "ytbb_robust/clean", held_out=0.3)
    assert (len(record.held_out_videos), record.n_held_out, record.n_trained) == (1, 4, 8)
    assert set(record.held_out_videos) < {"v0", "v1", "v2"}


def test_videos_are_held_out_by_their_names_and_scored_as_the_evaluation_scores_them(root):
    mixed(root, clips=10)
    add_model(root, "brightness", Brightness(gain=0.5))
    record = tune(root, "brightness", held_out=0.3, epochs=2)
    plain = tune(root, "brightness", loss="plain", name="plain", held_out=0.3, seed=5)
    assert record.held_out_videos == plain.held_out_videos
    assert (len(record.held_out_videos), record.n_trained) == (3, 7)
    assert record.before == plain.before
    videos = {f"clip{n:02d}" for n in range(10)}
    assert set(record.held_out_videos) == held_out_videos(videos, 0.3)
    # Another video moves at most one place.
    more = held_out_videos(videos | {"clip99"}, 0.3)
    assert len(more - set(record.held_out_videos)) <= 1
    assert record.after is not None
    rows = {name: (k, n) for name, k, n, _, _ in record.after.rows}
    assert rows["flips of right anchors"] == (record.after.flips, record.after.anchors)
    score = Score(n=1109, anchors=896, all_frames=729)
    name, k, _, lo, hi = score.rows[2]
    assert (name, k, round(100 * lo, 1), round(100 * hi, 1)) == ("drop", 167, 13.0, 17.3)


def test_the_score_is_that_of_the_stored_predictions(root, tmp_path):
    mixed(root, clips=8)
    torch.manual_seed(2)
    add_model(root, "normalised", Normalised())
    trainer, stored = trainer_of(root, "normalised", tmp_path)
    own = trainer.score(stored.sets)
    from pyarrow import parquet

    from ops.video.cataloguing import catalogued

    record = evaluate(root, catalogued(root, CATALOG), "normalised", "frame_sets/made")
    folder = root.local_path(f"predictions/normalised/frame_sets/made/{record.key}")
    rows = [r for f in record.files for r in parquet.read_table(folder / f.name).to_pylist()]
    assert own.anchors == sum(r["correct"] for r in rows if r["frame_offset"] == 0)
    sets = {r["frame_set"] for r in rows}
    wrong = {r["frame_set"] for r in rows if not r["correct"]}
    assert own.all_frames == len(sets - wrong)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"loss": "pmk"}, "plain"),
        ({"epochs": 0}, "greater than or equal to 1"),
        ({"learning_rate": float("nan")}, "--learning-rate"),
        ({"mix": 1.5}, "--mix"),
        ({"held_out": 1.0}, "--held-out"),
        ({"candidates": 1}, "--candidates"),
        ({"name": "../up"}, "cannot have this name"),
        ({"name": "brightness"}, "another model's"),
        ({"model": "absent"}, "no such model"),
        ({"dataset": "frame_sets/absent"}, "frame_sets"),
        ({"dataset": "imagenet_1k/stills"}, "holds no frame sets"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_trained(root, more, match):
    mixed(root, clips=2)
    still = {"benchmark": "imagenet_1k", "condition": "stills", "labels": [0], "format": "png",
             "source_key": "s", "source_file": "s.png"}  # fmt: skip
    from frame_set_parts import png

    write_dataset(
        root, "imagenet_1k/stills", [Sample("s", png(3), "jpg", 0, still)],
        label_space="imagenet_vid30",
    )  # fmt: skip
    add_model(root, "brightness", Brightness())
    chosen = {"model": "brightness", "dataset": "frame_sets/made", **more}
    with pytest.raises(ShiftlakeError, match=match):
        tune(root, **chosen)
    assert list_models(root) == ["brightness"]


@given(st.integers(1, 400), st.integers(1, 40))
def test_steps_take_every_set_once_and_never_one_alone(count, size):
    steps = _steps(count, size)
    assert [n for start, stop in steps for n in range(start, stop)] == list(range(count))
    sizes = [stop - start for start, stop in steps]
    assert max(sizes) <= max(size, 3)
    assert size == 1 or count == 1 or min(sizes) > 1
