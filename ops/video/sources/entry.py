"""``source.yaml``: what a person says of a source. Paths are relative to the file, or absolute.

Nothing here is ever stored in the lake, for paths are only true on one machine.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from ops.video.mining.config import MiningConfig

NAME = r"[a-z0-9_]{1,64}"


def _on_disk(text: str) -> str:
    if "\0" in text or "://" in text:
        raise ValueError("expected a path on this machine")
    return text


def _listed(given: object) -> object:
    return [given] if isinstance(given, str) else given


Stated = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
PathText = Annotated[Stated, AfterValidator(_on_disk)]
LabelSpace = Annotated[str, StringConstraints(pattern=rf"^{NAME}$")]
Flag = Annotated[bool, Field(strict=True)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    synthetic: Flag = False
    licence: Stated | None = None
    mining: MiningConfig = MiningConfig()


class FrameSetFiles(BaseModel):
    """The two files that ImageNet-Vid-Robust is published as."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pmsets: PathText
    labels: PathText


class ImagenetVidEntry(_Entry):
    """ImageNet-Vid as it is unpacked.

    Attributes
    ----------
    root : str
        The folder that holds ``Data``, ``Annotations`` and ``ImageSets``.
    split : {"train", "val"}
        The test split has no annotations.
    pictures : {"frames", "snippets"}
        Whether pixels come from the published JPEG files, or from the clips these were cut from:
        only those tell I-, P- and B-frames and the frame rate, but their pixels are others.
    frame_sets : FrameSetFiles, optional
        Published frame sets, to be taken in place of drawn ones.
    """

    kind: Literal["imagenet_vid"]
    root: PathText
    split: Literal["train", "val"] = "val"
    pictures: Literal["frames", "snippets"] = "frames"
    label_space: Literal["imagenet_vid30"] = "imagenet_vid30"
    frame_sets: FrameSetFiles | None = None


class YoutubeBbEntry(_Entry):
    """YouTube-BoundingBoxes: its tables, and a folder of the videos one has.

    Attributes
    ----------
    labels : tuple of str
        Tables of classification or detection, ``.csv`` or ``.csv.gz``.
    videos : str
        Folder of files named ``<YouTube id>.<suffix>``.
    """

    kind: Literal["youtube_bb"]
    labels: Annotated[tuple[PathText, ...], BeforeValidator(_listed), Field(min_length=1)]
    videos: PathText
    label_space: Literal["ytbb24"] = "ytbb24"


class FolderEntry(_Entry):
    """A folder of videos and one file of labels, ``.csv`` or ``.json``.

    Attributes
    ----------
    videos : str
        Folder of videos, or of folders of numbered frames.
    labels : str
    label_space : str
        Of the catalog or an overlay of it; classes have names in ``imagenet_vid30``, ``ytbb24`` and
        ``ilsvrc1000``.
    boxes : {"pixels", "shares"}
        What coordinates count: pixels as displayed, or shares of width and height.
    dense : bool
        Whether every frame of a video whose frames are labelled is: a frame that is not named
        then shows no class. Otherwise its labels are unknown, and a neighbour has its anchor's.
    fps : float, optional
        Frames a second of folders of frames; a file tells its own.
    """

    kind: Literal["folder"]
    videos: PathText
    labels: PathText
    label_space: LabelSpace
    boxes: Literal["pixels", "shares"] = "pixels"
    dense: Flag = False
    fps: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None

    @field_validator("labels")
    @classmethod
    def _known_suffix(cls, labels: str) -> str:
        if not labels.lower().endswith((".csv", ".json")):
            raise ValueError("expected a file that ends in .csv or .json")
        return labels


SourceEntry: TypeAlias = ImagenetVidEntry | YoutubeBbEntry | FolderEntry
KINDS: dict[str, type[SourceEntry]] = {
    "imagenet_vid": ImagenetVidEntry,
    "youtube_bb": YoutubeBbEntry,
    "folder": FolderEntry,
}
