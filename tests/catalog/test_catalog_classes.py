"""Class lists and labels: a slip of one index here would falsify every number downstream."""

import hashlib
from collections import Counter

import pytest

from ops.catalog import classes
from ops.errors import ShiftlakeError


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_ilsvrc_index_is_the_rank_of_the_wnid():
    wnids = classes.ilsvrc().wnids
    assert len(wnids) == len(classes.ilsvrc().names) == 1000
    assert list(wnids) == sorted(set(wnids))
    assert classes.index_of("n01440764") == 0
    assert classes.index_of("n15075141") == 999
    # The published imagenet_synsets.txt, one wnid a line.
    assert (
        digest("".join(f"{wnid}\n" for wnid in wnids))
        == "70002b0ff5de60a3a17a82dbfcff291931f96225ddf941ad2e182fc39e183d15"
    )
    names = classes.ilsvrc().names
    assert names[:3] == ("tench", "goldfish", "great_white_shark")
    assert names[134] == names[517] == "crane"
    assert names[638] == names[639] == "maillot"


def test_a_foreign_wnid_is_refused():
    with pytest.raises(ShiftlakeError, match="n02691156"):
        classes.index_of("n02691156")


def test_validation_labels_are_the_published_ones():
    labels = classes.val_labels()
    assert labels[:10] == (65, 970, 230, 809, 516, 57, 334, 415, 674, 332)
    assert set(Counter(labels).values()) == {50}
    assert len(Counter(labels)) == 1000
    wnids = classes.ilsvrc().wnids
    assert (
        digest("".join(f"{wnids[label]}\n" for label in labels))
        == "313fc3f23c864dde9183c9a368809065765dd1b657a6904fded44e3e46d34604"
    )
    assert (
        digest("".join(f"{label}\n" for label in labels))
        == "098d797749a19d2c76f3243494b4d38079446eab41f3b8775212a33e4558a35f"
    )


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("imagenet_a", "973e8c3e530bf5dbd49999d046e74084ba5184ab98036b42b111d8dcdecf1015"),
        ("imagenet_o", "38e74578856f9077f4f72e9e1012a19e0c120633ccad665a934b08d1d0ff52be"),
        ("imagenet_r", "a1d9a9ace3098120f5db861d97049116efe80683f4e48c65a62f9bd30fc3366a"),
    ],
)
def test_subsets_are_the_published_lists(mask, expected):
    indices = classes.subset(mask)
    assert len(set(indices)) == 200
    assert list(indices) == sorted(indices)
    assert digest(",".join(map(str, indices))) == expected


def test_the_three_subsets_differ():
    a, o, r = (set(classes.subset(mask)) for mask in classes.MASKS)
    assert (len(a & o), len(a & r), len(o & r)) == (59, 86, 36)


def test_an_unknown_subset_or_space_is_refused():
    with pytest.raises(ShiftlakeError, match="imagenet_a, imagenet_o, imagenet_r"):
        classes.subset("imagenet_x")
    with pytest.raises(ShiftlakeError, match="ytbb24"):
        classes.video("kinetics")


def test_vid_classes_map_to_disjoint_indices():
    vid = classes.video("imagenet_vid30")
    indices = [index for group in vid.ilsvrc_indices for index in group]
    assert len(vid.names) == len(vid.wnids) == 30
    assert len(indices) == len(set(indices)) == 288
    assert all(vid.ilsvrc_indices)
    assert vid.names[:3] == ("airplane", "antelope", "bear")
    assert vid.wnids[0] == "n02691156"
    assert vid.ilsvrc_indices[0] == (404,)


def test_ytbb_classes_leave_five_unmapped():
    ytbb = classes.video("ytbb24")
    indices = [index for group in ytbb.ilsvrc_indices for index in group]
    assert len(ytbb.names) == 24
    assert len(indices) == len(set(indices)) == 231
    unmapped = {
        name for name, group in zip(ytbb.names, ytbb.ilsvrc_indices, strict=True) if not group
    }
    assert unmapped == {"cow", "giraffe", "skateboard", "toilet", "none"}
    assert ytbb.ilsvrc_indices[ytbb.names.index("person")] == (981, 982, 983)
    cat_vid = classes.video("imagenet_vid30")
    assert len(ytbb.ilsvrc_indices[ytbb.names.index("cat")]) == 7
    assert len(cat_vid.ilsvrc_indices[cat_vid.names.index("domestic_cat")]) == 5
