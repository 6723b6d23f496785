"""What an address says by itself."""

import pytest

from ops.catalog.addresses import (
    file_name,
    is_direct_download,
    mirrored,
    without_secrets,
    zenodo_record,
)


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("https://huggingface.co/datasets/cais/imagenet-o/resolve/main/imagenet-o.tar", True),
        ("https://huggingface.co/datasets/presencesw/ILSVRC2012", False),
        ("https://www.kaggle.com/datasets/wanghaohan/imagenetsketch", False),
        ("https://www.kaggle.com/c/imagenet-object-localization-challenge", False),
        ("https://drive.google.com/uc?id=1r6o0pSROcV1_VwT4oSjA2FBUSCWGuxLK", True),
        ("https://drive.google.com/drive/folders/1HDVw6CmX3HiG0ODFtI75iIfBDxSiSz2K", False),
        ("https://opendatalab.com/OpenDataLab/SUN397", False),
        ("https://zenodo.org/records/2235448/files/noise.tar?download=1", True),
        ("http://127.0.0.1:8000/imagenet-a.tar", True),
        ("https://example.org/folder/", False),
    ],
)
def test_a_landing_page_is_no_download(url, direct):
    assert is_direct_download(url) is direct


def test_file_name_has_no_query():
    assert file_name("https://x.org/a/caltech%20101.zip?download=1#top") == "caltech 101.zip"


@pytest.mark.parametrize(
    ("url", "record"),
    [
        ("https://zenodo.org/record/2235448/files/noise.tar", "2235448"),
        ("https://zenodo.org/records/3565846/files/blur.tar?download=1", "3565846"),
        ("https://zenodo.org/communities/x", None),
        ("https://notzenodo.org/record/1/files/a.tar", None),
    ],
)
def test_zenodo_record(url, record):
    assert zenodo_record(url) == record


def test_a_mirror_is_laid_out_by_benchmark_and_name():
    assert mirrored("https://m.org/x/", "b", "a b.tar") == "https://m.org/x/b/a%20b.tar"


def test_secrets_are_left_out_of_what_is_shown():
    assert without_secrets("https://u:p@h.org:8/a.yaml?t=s#f") == "https://h.org:8/a.yaml"
    assert without_secrets("overlays/mine.yaml") == "overlays/mine.yaml"
