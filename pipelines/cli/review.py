"""Reviewing mined frame sets: the page ``review``, and ``reviews`` about what people decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ops.errors import ShiftlakeError
from ops.storage import paths
from pipelines.cli.terminal import err, lake, out

if TYPE_CHECKING:
    from ops.video.review import Agreement, SuspicionBand

PORT = 3002
# Published forms, and the files of each.
_PUBLISHED = {
    "pmsets": ("pmsets.json", "labels.json"),
    "ytbb": ("anchor_labels.json", "pmk_labels.json"),
}
_FORMS = "csv (every decision); pmsets or ytbb (the published files, in a folder)."

reviews = typer.Typer(
    help="What people decided about mined frame sets: status, export, import, freeze, carry.",
    no_args_is_help=True,
)

_Source = Annotated[str, typer.Argument(help="A source whose frame sets are mined.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(review)
    app.add_typer(reviews, name="reviews")


def review(
    source: Annotated[
        str | None, typer.Argument(help="A source whose frame sets are mined; all by default.")
    ] = None,
    port: Annotated[int, typer.Option(help="TCP port; 0 takes a free one.")] = PORT,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, for reviewers at other machines.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name of this page, such as a proxy's; may be given again."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option(help="Sign in under this name in the printed address.")
    ] = None,
    repeats: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Share of the pairs that a reviewer is shown again later, to see how steady "
            "verdicts are; it decides nothing, and 0 turns it off.",
        ),
    ] = 0.05,
) -> None:
    """Review mined frame sets in a browser, until interrupted."""
    from ops.video.review.events import reviewer_name
    from pipelines.review_page import make_application, serve_reviews
    from pipelines.review_page.opened import Reviews
    from pipelines.review_page.serving import address_of, listening, names_of

    _, root, catalog = lake()
    mined = Reviews(root, catalog).sources()
    if source is not None and source not in mined:
        raise ShiftlakeError(
            f"The source {source} has no frame sets to review.",
            expected=", ".join(mined) or "a source that is mined",
            found=source,
            where=root.at(paths.dataset("frame_sets")),
            remedy=f"mine it: shiftlake video mine {source}",
        )
    if reviewer is not None:
        try:
            reviewer_name(reviewer)
        except ValueError as error:
            raise ShiftlakeError(
                "This cannot be a reviewer's name.",
                expected=str(error),
                found=repr(reviewer),
                where="--reviewer",
                remedy="choose another name",
            ) from error
    where = listening(host, port)
    taken = int(where.getsockname()[1])
    names = names_of(host, taken, allow_host or ())
    address = address_of(host, taken, source, reviewer)
    if host is not None and host not in ("127.0.0.1", "localhost", "::1"):
        err.print(
            f"[yellow]Whoever reaches {host} can review under any name: there is no password, and "
            "nothing is encrypted. Answers to: "
            f"{', '.join(names)}[/yellow]",
            highlight=False,
        )

    def started() -> None:
        out.print(f"Review at {address}", highlight=False, soft_wrap=True)
        out.print("Interrupt to stop; every decision that was confirmed is on disk.")

    serve_reviews(make_application(root, catalog, names, source, repeats), where, started)


@reviews.command()
def status(source: _Source) -> None:
    """How far a review is, how well people agree, and what came of it."""
    from ops.video.review import Review, agreement, by_suspicion, funnel, older_minings

    _, root, catalog = lake()
    opened = Review.open(root, source, catalog)
    progress = opened.progress()
    table = Table(title=f"{source}, mining {opened.mined_version}")
    for name in ("", "in all", "states", "by reviewer"):
        table.add_column(name)
    for name in ("anchors", "pairs", "joint"):
        stage = getattr(progress, name)
        table.add_row(name, f"{stage.total:,}", _counts(stage.states), _counts(stage.done))
    out.print(table)
    flow = Table(title="Funnel")
    for name in ("", "reviewed", "accepted", "share"):
        flow.add_column(name, justify="right" if name else "left")
    for name, reviewed, accepted, share in funnel(opened).rows():
        flow.add_row(name, f"{reviewed:,}", f"{accepted:,}", f"{share:.1%}")
    out.print(flow)
    agreed = agreement(opened)
    if agreed.kappas:
        found = Table(title="Agreement before joint review")
        for name in ("", "reviewers", "items", "Fleiss' kappa"):
            found.add_column(name, justify="right" if name else "left")
        for kappa in agreed.kappas:
            value = "-" if kappa.kappa is None else f"{kappa.kappa:.3f}"
            name = f"{kappa.stage}, {kappa.question}"
            found.add_row(name, str(kappa.raters), f"{kappa.items:,}", value)
        out.print(found)
    if agreed.reviewers:
        out.print(_people(agreed))
    bands = by_suspicion(opened)
    if any(band.judged for band in bands):
        out.print(_suspicion(bands))
    for version, n in older_minings(root, source, opened.mined_version).items():
        out.print(
            f"mining {version}, older: {n:,} events; shiftlake reviews carry {source} {version}",
            highlight=False,
            soft_wrap=True,
        )


@reviews.command()
def export(
    source: _Source,
    target: Annotated[Path, typer.Argument(help="A CSV file, or a folder for published files.")],
    form: Annotated[str, typer.Option(help=_FORMS)] = "csv",
    any_mining: Annotated[
        bool,
        typer.Option("--any-mining", help="With csv: for any mining that has the same frame sets."),
    ] = False,
) -> None:
    """Write all decisions to a CSV file, or what is accepted as published files."""
    from ops.video.review import Review, export_csv, export_pmsets, export_ytbb

    _, root, catalog = lake()
    _require_form(form)
    opened = Review.open(root, source, catalog)
    if form == "csv":
        target.write_text(export_csv(opened, any_mining=any_mining), "utf-8")
        written = [target]
    else:
        found = export_pmsets(opened) if form == "pmsets" else export_ytbb(opened)
        target.mkdir(parents=True, exist_ok=True)
        written = [target / name for name in _PUBLISHED[form]]
        for path, content in zip(written, found, strict=True):
            path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for path in written:
        out.print(f"{path}", highlight=False, soft_wrap=True)


@reviews.command("import")
def import_(
    source: _Source,
    path: Annotated[Path, typer.Argument(help="A CSV file, or a folder of published files.")],
    form: Annotated[str, typer.Option(help=_FORMS)] = "csv",
    anchors_csv: Annotated[
        Path | None, typer.Option(help="With ytbb: the published table of anchors and classes.")
    ] = None,
    reviewer: Annotated[
        str, typer.Option(help="Of published files: the name the decisions are kept under.")
    ] = "official",
) -> None:
    """Take over decisions from files; importing twice adds nothing."""
    from ops.video.review import import_csv, import_pmsets, import_ytbb

    _, root, catalog = lake()
    _require_form(form)
    if form == "csv":
        found = import_csv(root, source, catalog, _text(path))
    elif form == "pmsets":
        files = [path / name for name in _PUBLISHED[form]]
        found = import_pmsets(root, source, catalog, files[0], files[1], reviewer)
    else:
        files = [path / name for name in _PUBLISHED[form]]
        found = import_ytbb(root, source, catalog, files[0], files[1], anchors_csv, reviewer)
    out.print(
        f"{found.recorded:,} decisions recorded, {found.known:,} were known"
        + (f"; {len(found.left):,} names are not of this mining" if found.left else ""),
        highlight=False,
    )


@reviews.command()
def freeze(
    source: _Source,
    allow_pending: Annotated[
        bool, typer.Option("--allow-pending", help="Leave out what is not decided yet.")
    ] = False,
    seal: Annotated[
        bool, typer.Option(help="Also seal what is accepted as a dataset of labels.")
    ] = True,
) -> None:
    """Give the decisions as they stand a version, and seal what is accepted."""
    from ops.video.review import freeze as freeze_review
    from ops.video.review import seal_reviewed

    _, root, catalog = lake()
    frozen = freeze_review(root, source, catalog, allow_pending=allow_pending)
    out.print(f"Frozen: {source}, version {frozen.version}", highlight=False)
    if seal:
        sealed = seal_reviewed(root, catalog, source, frozen.version)
        out.print(f"Sealed: {sealed.name}, {sealed.n_samples:,} frames", highlight=False)


@reviews.command()
def carry(
    source: _Source,
    from_version: Annotated[
        str | None,
        typer.Argument(help="The older mining; that with the most decisions by default."),
    ] = None,
) -> None:
    """Take over decisions about an older mining whose pictures are still the same."""
    from ops.shards.manifest import read_manifest
    from ops.video.datasets import mined_dataset
    from ops.video.review import carry as carry_review
    from ops.video.review import older_minings

    _, root, catalog = lake()
    if from_version is None:
        sealed = read_manifest(root, mined_dataset(source)).version
        older = older_minings(root, source, sealed)
        if not older:
            raise ShiftlakeError(
                f"Nothing was decided on an older mining of {source}.",
                expected=f"decisions on another mining than {sealed}",
                found="none",
                where=root.at(paths.reviews(source)),
                remedy=f"nothing is to be taken over: shiftlake review {source}",
            )
        from_version = next(iter(older))
    found = carry_review(root, source, from_version, catalog)
    out.print(
        f"{from_version}: {found.recorded:,} decisions taken over, {found.known:,} were known; "
        f"{found.changed:,} are about frames that changed or are gone.",
        highlight=False,
    )


def _people(agreed: Agreement) -> Table:
    found = Table(title="Reviewers")
    for name in ("", "pass", "judged", "accepted", "as the majority", "same verdict twice"):
        found.add_column(name, justify="right" if name not in ("", "pass") else "left")
    twice = {each.reviewer: each for each in agreed.repeats}
    for each in agreed.reviewers:
        again = twice.get(each.reviewer) if each.stage == "pairs" else None
        found.add_row(
            each.reviewer,
            each.stage,
            f"{each.judged:,}",
            f"{each.accepted:.1%}",
            "-" if each.agrees is None else f"{each.agrees:.1%} of {each.compared:,}",
            "-" if again is None else f"{again.agrees:.1%} of {again.pairs:,}",
        )
    return found


def _suspicion(bands: Sequence[SuspicionBand]) -> Table:
    found = Table(title="Called similar by everybody, by suspicion")
    for name in ("suspicion", "pairs", "judged", "similar", "of those drawn at random"):
        found.add_column(name, justify="right")
    for band in bands:
        found.add_row(
            f"{band.lowest:.2f} to {band.highest:.2f}",
            f"{band.pairs:,}",
            f"{band.judged:,}",
            _without(band.objected, band.judged),
            _without(band.drawn_objected, band.drawn_judged),
        )
    return found


def _without(objected: int, judged: int) -> str:
    return f"{1 - objected / judged:.1%} of {judged:,}" if judged else "-"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ShiftlakeError(
            "This is no CSV of decisions.",
            expected="text in UTF-8",
            found=f"the byte 0x{error.object[error.start]:02x} at {error.start:,}",
            where=str(path),
            remedy="save it in UTF-8, which spreadsheets offer beside plain CSV",
        ) from error
    except IsADirectoryError as error:
        raise ShiftlakeError(
            "This is no CSV of decisions.",
            expected="a file",
            found="a folder",
            where=str(path),
            remedy="for the published files of a folder say --form pmsets or --form ytbb",
        ) from error


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found.items() if count)


def _require_form(form: str) -> None:
    known = ("csv", *_PUBLISHED)
    if form not in known:
        raise ShiftlakeError(
            "There is no such form.",
            expected=", ".join(known),
            found=form,
            where="--form",
            remedy="choose one of these",
        )
