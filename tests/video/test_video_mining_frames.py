"""Which frames become anchors and neighbours, and the reason for each that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mined_source import CAR, CAT, DOG, box, clip_of, seen_in

from ops.video.clip import Annotation, Clip, Segment
from ops.video.mining import MiningConfig
from ops.video.mining.anchors import draw_anchors
from ops.video.mining.neighbours import PlannedFrame, plan_set
from ops.video.mining.rows import samples_of
from ops.video.mining.seen import SeenFrames
from ops.video.mining.similarity import Similarity
from ops.video.mining.taking import TakenFrame, TakenSet

VIDEO = Path("v.mp4")


def evenly(frames: int, fps: float = 30.0) -> np.ndarray:
    return np.arange(frames) / fps


def seen_of(
    clip: Clip, frames: int, seconds: Sequence[float] | None = None, side: int = 100
) -> SeenFrames:
    times = evenly(frames) if seconds is None else np.asarray(seconds, float)
    return SeenFrames(clip, times, side, side)


def labelled(labels: dict[int, tuple[int, ...]], *, dense: bool = True) -> Clip:
    return clip_of(VIDEO, seen_in(labels), dense=dense)


def planned(
    clip: Clip, anchor: int, config: MiningConfig, *, frames: int = 30, rule: str = "frame",
    seconds: Sequence[float] | None = None,
) -> tuple[dict[int, tuple[int, ...]], dict[int, str]]:  # fmt: skip
    """Labels of the frames of a set, and the reasons of those it lacks, by offset."""
    times = evenly(frames) if seconds is None else np.asarray(seconds, float)
    seen = seen_of(clip, frames, times)
    found = plan_set(anchor, seen, times, 30.0, config, rule)  # type: ignore[arg-type]
    return {each.offset: each.labels for each in found.frames}, dict(found.left_out)


def test_near_the_end_of_a_video_places_are_beyond_its_boundary() -> None:
    clip = labelled(dict.fromkeys(range(30), (DOG,)))
    frames, left = planned(clip, 1, MiningConfig(k=3))
    assert sorted(frames) == [-1, 0, 1, 2, 3]
    assert left == {-3: "boundary", -2: "boundary"}
    assert planned(clip, 29, MiningConfig(k=3))[1] == {1: "boundary", 2: "boundary", 3: "boundary"}


def test_the_label_rule_shares_a_class_or_wants_the_same_ones() -> None:
    clip = labelled({9: (DOG,), 10: (DOG, CAT), 11: (CAR, CAT), 12: (CAR,), 13: (DOG, CAT)})
    frames, left = planned(clip, 10, MiningConfig(k=3))
    assert frames == {-1: (DOG,), 0: (DOG, CAT), 1: (CAR, CAT), 3: (DOG, CAT)}
    assert left == {-3: "label", -2: "label", 2: "label"}, "a dense video's bare frames show none"
    frames, left = planned(clip, 10, MiningConfig(k=3, label_rule="equal"))
    assert sorted(frames) == [0, 3]
    assert set(left.values()) == {"label"}
    # Where one class is what the set is for, it is the one to share.
    _, left = planned(clip, 10, MiningConfig(k=3, classes=(DOG,)))
    assert left[1] == "label"
    assert -1 not in left


def test_labels_spread_from_the_anchor_only_where_nothing_is_known() -> None:
    sparse = labelled({10: (DOG,), 12: (CAT,), 13: (), 8: (DOG, CAT)}, dense=False)
    frames, left = planned(sparse, 10, MiningConfig(k=3))
    assert frames == {-3: (DOG,), -2: (DOG, CAT), -1: (DOG,), 0: (DOG,), 1: (DOG,)}
    assert left == {2: "label", 3: "label"}, "known to show something else, or nothing"
    frames, _ = planned(sparse, 10, MiningConfig(k=3), rule="anchor")
    assert frames[-2] == (DOG,), "the anchor's, as Youtube-BB has it"


def test_another_objects_annotation_says_nothing_of_this_one() -> None:
    clip = clip_of(VIDEO, seen_in({10: (DOG,)}, "dog"), seen_in({12: (CAR,)}, "car"))
    frames, left = planned(clip, 10, MiningConfig(k=3), rule="anchor")
    assert len(frames) == 7
    assert not left
    absent = clip_of(VIDEO, seen_in({10: (DOG,), 12: ()}, "dog"), seen_in({12: (CAR,)}, "car"))
    assert planned(absent, 10, MiningConfig(k=3), rule="anchor")[1] == {2: "label"}


def test_a_label_of_the_whole_video_holds_for_each_of_its_frames() -> None:
    clip = clip_of(VIDEO, Segment("", (), (DOG,)))
    seen = seen_of(clip, 5)
    assert list(seen.eligible(0, MiningConfig())) == [0, 1, 2, 3, 4]
    assert seen.labels(3) == (DOG,)
    assert seen.annotated(3) is None


def test_a_stride_counts_frames_between_neighbours() -> None:
    clip = labelled(dict.fromkeys(range(30), (DOG,)))
    seen = seen_of(clip, 30)
    found = plan_set(10, seen, evenly(30), 30.0, MiningConfig(k=3, stride=4), "frame")
    assert [each.frame for each in found.frames] == [2, 6, 10, 14, 18, 22]
    assert [each.offset for each in found.frames] == [-2, -1, 0, 1, 2, 3]
    assert found.left_out == {-3: "boundary"}


def test_a_gap_in_time_ends_the_set_on_that_side_and_only_if_asked() -> None:
    clip = labelled(dict.fromkeys(range(20), (DOG,)))
    times = [*(at / 30 for at in range(12)), *(1 + at / 30 for at in range(8))]
    assert not planned(clip, 10, MiningConfig(k=3), frames=20, seconds=times)[1]
    _, left = planned(clip, 10, MiningConfig(k=3, max_gap=1.5), frames=20, seconds=times)
    assert left == {2: "gap", 3: "gap"}
    # Times rounded to milliseconds, as Matroska has them, are no gaps.
    rounded = [round(at / 30, 3) for at in range(20)]
    assert not planned(clip, 10, MiningConfig(k=3, max_gap=1.02), frames=20, seconds=rounded)[1]


@given(
    k=st.integers(1, 12),
    stride=st.integers(1, 4),
    frames=st.integers(1, 40),
    at=st.integers(0, 39),
    labels=st.dictionaries(st.integers(0, 39), st.sets(st.sampled_from([DOG, CAT]), max_size=2)),
    dense=st.booleans(),
    rule=st.sampled_from(["frame", "anchor"]),
)
@settings(max_examples=150, deadline=None)
def test_every_place_of_a_set_is_a_frame_or_has_a_reason(
    k: int, stride: int, frames: int, at: int, labels: dict[int, set[int]], dense: bool, rule: str
) -> None:
    anchor = at % frames
    of = {frame: tuple(sorted(found)) for frame, found in labels.items()}
    clip = labelled({**of, anchor: (DOG,)}, dense=dense)
    config = MiningConfig(k=k, stride=stride)
    taken, left = planned(clip, anchor, config, frames=frames, rule=rule)
    assert Counter([*taken, *left]) == Counter(range(-k, k + 1))
    assert all(DOG in found for found in taken.values())
    assert taken[0] == (DOG,)


def test_an_annotated_time_means_the_first_frame_at_or_after_it() -> None:
    def frame(seconds: float, times: np.ndarray) -> int:
        clip = clip_of(VIDEO, Segment("", (Annotation((DOG,), seconds=seconds),)))
        return next(iter(seen_of(clip, len(times), times).eligible(0, MiningConfig())), -1)

    assert frame(1.0, evenly(60)) == 30
    assert frame(1.01, evenly(60)) == 31
    assert frame(0.0, evenly(60)) == 0
    assert frame(59 / 30, evenly(60)) == 59
    assert frame(2.0, evenly(60)) == -1, "the video ends before"
    # 16/15 s is 1067 ms in a table of milliseconds, and 1.067 s in Matroska.
    assert frame(1.067, evenly(60)) == frame(16 / 15, np.round(evenly(60), 3)) == 32
    assert frame(31 / 30, np.round(evenly(60), 3)) == 31
    # A variable rate: by time, and never by time times rate.
    assert frame(0.5, np.array([0, 0.1, 0.2, 0.9, 1.0])) == 3
    assert frame(0.0, np.full(5, np.nan)) == -1, "numbered pictures of an unknown rate have none"


def test_an_anchor_shows_a_wanted_class_large_enough() -> None:
    def at(frame: int, *boxes: tuple[int, float]) -> Annotation:
        labels = tuple(sorted({label for label, _ in boxes}))
        return Annotation(labels, frame=frame, boxes=tuple(box(*each) for each in boxes))

    known = (at(0, (DOG, 50)), at(1, (CAT, 50)), at(2, (DOG, 9), (CAT, 50)), at(3),
             at(4, (DOG, 10)), Annotation((DOG,), frame=5))  # fmt: skip
    seen = seen_of(clip_of(VIDEO, Segment("", known), dense=True), 10)
    dogs = MiningConfig(classes=(DOG,))
    assert seen.eligible(0, MiningConfig()) == [0, 1, 2, 4, 5]
    assert seen.eligible(0, dogs) == [0, 2, 4, 5]
    large = dogs.model_copy(update={"min_object_size": 0.1})
    assert seen.eligible(0, large) == [0, 4], "the dog, not the cat beside it; and it is known"


def drawn(clip: Clip, config: MiningConfig, frames: int = 100) -> list[int]:
    return draw_anchors("s", clip, seen_of(clip, frames), config)


def whole(key: str) -> Clip:
    return clip_of(VIDEO, Segment("", (), (DOG,)), key=key)


def test_an_anchor_is_drawn_by_its_video_and_the_seed_alone() -> None:
    config = MiningConfig()
    assert drawn(whole("a"), config) == drawn(whole("a"), config)
    assert len({drawn(whole(f"v{at}"), config)[0] for at in range(40)}) > 20
    other = config.model_copy(update={"seed": 1})
    assert [drawn(whole(f"v{at}"), config) for at in range(9)] != [
        drawn(whole(f"v{at}"), other) for at in range(9)
    ]
    # Neither k nor the stride moves it: the same anchors with more around them.
    assert drawn(whole("a"), MiningConfig(k=3, stride=2)) == drawn(whole("a"), config)


def test_anchors_are_spread_evenly_and_do_not_avoid_the_ends() -> None:
    found = [drawn(whole(f"v{at}"), MiningConfig())[0] for at in range(3000)]
    counts, _ = np.histogram(found, bins=10, range=(0, 100))
    # Chi squared with nine degrees of freedom: 27.9 has probability 0.001.
    assert ((counts - 300) ** 2 / 300).sum() < 27.9


def test_several_anchors_of_a_video_are_different_frames() -> None:
    clip = labelled({5: (DOG,), 6: (DOG,), 7: (CAT,)})
    assert drawn(clip, MiningConfig(anchors_per_video=3)) == [5, 6, 7]
    assert drawn(clip, MiningConfig(anchors_per_video=9)) == [5, 6, 7], "as many as there are"
    assert len(drawn(clip, MiningConfig(anchors_per_video=2))) == 2
    first = drawn(whole("a"), MiningConfig(anchors_per_video=1))
    assert set(first) <= set(drawn(whole("a"), MiningConfig(anchors_per_video=4)))
    assert not drawn(labelled({}), MiningConfig())


def test_segments_have_anchors_of_their_own_and_never_the_same_frame() -> None:
    both = {5: (DOG,)}
    clip = clip_of(VIDEO, seen_in(both, "dog-0"), seen_in(both, "dog-1"), seen_in({9: (CAT,)}, "c"))
    per_segment = MiningConfig(per="segment")
    assert drawn(clip, per_segment) == [5, 9]
    assert len(drawn(clip, MiningConfig())) == 1
    turned = clip_of(VIDEO, *clip.segments[::-1])
    assert drawn(turned, per_segment) == [5, 9]
    many = clip_of(VIDEO, seen_in(dict.fromkeys(range(50), (DOG,)), "a"),
                   seen_in(dict.fromkeys(range(50, 99), (CAT,)), "b"))  # fmt: skip
    alone = clip_of(VIDEO, many.segments[1])
    assert set(drawn(alone, per_segment)) < set(drawn(many, per_segment)), "another one's stays"


def test_the_same_choice_has_one_form() -> None:
    assert MiningConfig(classes=(3, 1, 3)) == MiningConfig(classes=(1, 3))
    assert MiningConfig(k=2).offsets == (-2, -1, 0, 1, 2)
    for wrong in ({"k": 0}, {"stride": 0}, {"quality": 101}, {"max_gap": 0}, {"kk": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MiningConfig.model_validate(wrong)


def test_keys_ascend_also_where_their_numbers_gain_a_digit() -> None:
    taken = TakenSet(999_999)
    for offset in (-1, 0, 1, 2):
        frame = 999_999 + offset
        planned = PlannedFrame(offset, frame, (DOG,), "propagated")
        similarity = Similarity(1.0, 1.0, 1.0, 1.0) if offset else None
        taken.frames.append(TakenFrame(planned, b"", "", frame / 30, None, 9, 9, similarity))
    clip = whole("a")
    samples, rows = samples_of(taken, clip, seen_of(clip, 5), 30.0, "s")
    keys = [sample.key for sample in samples]
    assert keys == sorted(keys) == [row["sample_key"] for row in rows["frames"]]
    assert keys[0] == "a/999999/1000000"
    assert [row["frame_offset"] for row in rows["frames"]] == [1, 2, -1, 0]
