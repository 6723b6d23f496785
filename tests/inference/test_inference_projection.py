"""Outputs land in the dataset's label space; a class without an output is never predicted."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_parts import TINY, add_model, seal

from ops.catalog import classes
from ops.errors import ShiftlakeError
from ops.inference.projection import projection
from ops.inference.scores import summarise
from ops.models import ModelEntry
from ops.storage import Root


def entry(**fields: object) -> ModelEntry:
    given = {"name": "m", "kind": "callable", "reference": "a:b", "transform": TINY, **fields}
    return ModelEntry(**given)


def test_a_class_map_places_outputs_and_leaves_the_rest_without_a_logit(root: Root) -> None:
    manifest = seal(root)
    project = projection(entry(class_map=(700, 3, 42)), manifest)
    logits = project(np.array([[1.0, 5.0, 2.0]], dtype=np.float32))
    assert logits.shape == (1, 1000)
    assert {int(i): float(logits[0, i]) for i in np.flatnonzero(np.isfinite(logits[0]))} == {
        3: 5.0,
        42: 2.0,
        700: 1.0,
    }


def test_video_classes_are_the_maximum_of_their_ilsvrc_classes(root: Root) -> None:
    manifest = seal(root, "ytbb_robust/clean", 4, lambda _: [0], label_space="ytbb24")
    video = classes.video("ytbb24")
    rng = np.random.default_rng(0)
    outputs = rng.normal(0, 1, (8, 1000)).astype(np.float32)
    found = projection(entry(), manifest)(outputs)
    for index, group in enumerate(video.ilsvrc_indices):
        expected = [max((row[i] for i in group), default=-np.inf) for row in outputs]
        assert found[:, index].tolist() == [pytest.approx(value) for value in expected]


def test_a_cow_can_never_be_predicted(root: Root) -> None:
    # ILSVRC has no cow. A score of 0 in its place, where every mapped logit is negative, is the
    # mistake that makes one.
    manifest = seal(root, "ytbb_robust/clean", 4, lambda _: [0], label_space="ytbb24")
    cow = classes.video("ytbb24").names.index("cow")
    outputs = np.full((3, 1000), -9.0, dtype=np.float32)
    found = summarise(projection(entry(), manifest)(outputs))
    assert cow not in found.pred
    mapped = sum(1 for group in classes.video("ytbb24").ilsvrc_indices if group)
    assert found.p_max == pytest.approx(1 / mapped)


def test_a_model_of_the_video_space_itself_is_not_projected(root: Root) -> None:
    manifest = seal(root, "ytbb_robust/clean", 4, lambda _: [0], label_space="ytbb24")
    outputs = np.arange(24, dtype=np.float32)[None]
    found = projection(entry(label_space="ytbb24"), manifest)(outputs)
    assert np.array_equal(found, outputs)


def test_other_label_spaces_are_refused(root: Root) -> None:
    manifest = seal(root, "cifar_100/test", 4, lambda _: [0], label_space="cifar100")
    with pytest.raises(ShiftlakeError, match="another label space") as caught:
        projection(entry(), manifest)
    assert "cifar100" in str(caught.value)
    assert "ilsvrc1000" in str(caught.value)


@pytest.mark.parametrize("class_map", [None, (1, 2, 3)])
def test_a_wrong_number_of_outputs_is_refused(
    root: Root, class_map: tuple[int, ...] | None
) -> None:
    project = projection(entry(class_map=class_map), seal(root))
    with pytest.raises(ShiftlakeError, match="number of outputs"):
        project(np.zeros((2, 21_843), dtype=np.float32))


def test_every_mask_is_reported_on_clean_images_and_its_own_on_a_benchmark(root: Root) -> None:
    clean = projection(entry(), seal(root, "imagenet_1k/val"))
    assert set(clean.masks) == {"imagenet_a", "imagenet_o", "imagenet_r"}
    assert clean.mask is None
    hard = projection(entry(), seal(root, "imagenet_a/clean", mask="imagenet_a"))
    assert hard.masks == {"imagenet_a": classes.subset("imagenet_a")}
    assert projection(entry(), seal(root)).masks == {}


def test_a_model_that_knows_no_class_of_the_mask_is_refused(root: Root) -> None:
    outside = next(i for i in range(1000) if i not in classes.subset("imagenet_a"))
    manifest = seal(root, "imagenet_a/clean", mask="imagenet_a")
    with pytest.raises(ShiftlakeError, match="mask imagenet_a"):
        projection(entry(class_map=(outside,)), manifest)


def test_a_model_that_knows_no_video_class_is_refused(root: Root) -> None:
    known = {i for group in classes.video("ytbb24").ilsvrc_indices for i in group}
    outside = next(i for i in range(1000) if i not in known)
    manifest = seal(root, "ytbb_robust/clean", 4, lambda _: [0], label_space="ytbb24")
    model = add_model(root, outputs=1, class_map=(outside,))
    with pytest.raises(ShiftlakeError, match="no output for any class"):
        projection(model, manifest)(np.zeros((2, 1), dtype=np.float32))


@pytest.mark.parametrize(
    ("space", "size"), [("cifar100", 100), ("caltech256", 257), ("ytbb24", 24)]
)
def test_every_label_space_has_its_number_of_outputs(root: Root, space: str, size: int) -> None:
    manifest = seal(root, "cifar_100/test", 2, lambda _: [0], label_space=space)
    project = projection(entry(label_space=space), manifest)
    assert project(np.zeros((2, size), dtype=np.float32)).shape == (2, size)
    with pytest.raises(ShiftlakeError, match="number of outputs"):
        project(np.zeros((2, size + 1), dtype=np.float32))


def test_a_class_map_gives_logits_of_the_whole_label_space(root: Root) -> None:
    manifest = seal(root, "cifar_100/test", 2, lambda _: [0], label_space="cifar100")
    project = projection(entry(label_space="cifar100", class_map=(5,)), manifest)
    assert project(np.zeros((2, 1), dtype=np.float32)).shape == (2, 100)
    with pytest.raises(ShiftlakeError, match="leaves its label space"):
        projection(entry(label_space="cifar100", class_map=(100,)), manifest)


def test_only_ilsvrc_outputs_can_be_read_in_another_label_space() -> None:
    assert classes.understands("ilsvrc1000", "ytbb24")
    assert classes.understands("cifar100", "cifar100")
    assert not classes.understands("ytbb24", "ilsvrc1000")
    assert not classes.understands("ilsvrc1000", "cifar100")
