"""Video: whether an answer lasts over frames that people cannot tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from ops.catalog import Catalog
from ops.report.cast import Cast
from ops.report.document import Flicker, Pair, Picture, Plot, Section
from ops.report.figures.video import figure_pm_k
from ops.report.figures.video_offsets import figure_offsets
from ops.report.figures.video_scatter import figure_pm_k_scatter
from ops.report.flicker import SIDE, Flip, Shown, flips_of, with_flips
from ops.report.marks import explained
from ops.report.names import frame_set_name
from ops.report.pictures import Found, Wanted, read_pictures
from ops.report.sections.video_detection import detection_table
from ops.report.sections.video_reviews import review_tables
from ops.report.sections.video_scores import review_impact_table, scores_table
from ops.report.svg import as_svg
from ops.storage import Root

if TYPE_CHECKING:
    import duckdb


def video(
    root: Root, connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast
) -> Section:
    """What models lose over neighbouring frames, how sets were reviewed, and frames that flip."""
    section = Section(
        "video",
        "Video",
        "A neighbouring frame shows the same object to a person. pm-0 counts anchors that are "
        "right, pm-10 those with every frame within 10 right as well; where fewer frames were "
        "mined, pm-k is of those.",
        missing="no set of video frames is evaluated",
        short="Video",
    )
    blocks = section.blocks
    if (figure := figure_pm_k_scatter(connection, models)) is not None:
        caption = (
            "Original against perturbed accuracy. Bars are exact 95 % intervals; both are of the "
            "same anchors, so that what is lost is known better than they look. Fine lines: 10, 20 "
            "and 30 points lost."
        )
        blocks.append(Plot(as_svg(figure), caption))
    if (table := scores_table(connection)) is not None:
        blocks += [table, *explained(table)]
    if (figure := figure_pm_k(connection, models)) is not None:
        caption = (
            "An anchor counts as right only if every similar frame within k of it is right, too. "
            "Bands are exact 95 % intervals over anchors."
        )
        blocks.append(Plot(as_svg(figure), caption))
    if (figure := figure_offsets(connection, models)) is not None:
        caption = (
            "Of the anchors that are right, how many have a wrong frame at each distance; of every "
            "distance the sets that have a frame there. Bands, where few models are in colour, "
            "are exact 95 % intervals."
        )
        blocks.append(Plot(as_svg(figure), caption))
    if (table := review_impact_table(connection)) is not None:
        blocks += [table, *explained(table)]
    blocks += review_tables(root, connection)
    if (table := detection_table(connection)) is not None:
        blocks.append(table)
    blocks += _gallery(root, connection, catalog, models)
    return section


def _gallery(
    root: Root, connection: duckdb.DuckDBPyConnection, catalog: Catalog, models: Cast
) -> list[Flicker]:
    by_model = {model: flips_of(connection, model) for model in with_flips(connection, models)}
    wanted = [
        shown.wanted
        for flips in by_model.values()
        for flip in flips
        for shown in (flip.anchor, flip.frame)
    ]
    pictures = read_pictures(root, catalog, wanted, side=SIDE)
    return [
        Flicker(
            f"Frames that flip {model}",
            [_pair(flip, pictures) for flip in flips],
            "An anchor it has right, and the nearest frame it has wrong; those it was surest "
            "about both times, one a video. Point at a pair, or reach it with the Tab key, and the "
            "two alternate in one place.",
        )
        for model, flips in by_model.items()
        if flips
    ]


def _pair(flip: Flip, pictures: dict[Wanted, Found]) -> Pair:
    name = frame_set_name(flip.benchmark, flip.condition)
    return Pair(
        f"{name}: {unquote(flip.frame_set)}",
        _picture(flip.anchor, pictures, "right", "anchor"),
        _picture(flip.frame, pictures, "wrong", f"{flip.away}, shows {flip.label}"),
    )


def _picture(shown: Shown, pictures: dict[Wanted, Found], kind: str, where: str) -> Picture:
    sure = "" if shown.p_max is None else f" {100 * shown.p_max:.0f} %"
    found = pictures[shown.wanted]
    lines = [(kind, f"{kind}: {shown.said}{sure}"), ("key", where)]
    return Picture(found.uri, lines, found.missing)
