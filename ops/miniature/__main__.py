"""Command line: `python -m ops.miniature build|serve`, to try a miniature by hand."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Annotated, get_args

import typer

from ops.miniature import build, serve
from ops.miniature.sizes import SizeName, size_named

app = typer.Typer(help="Small synthetic copies of every benchmark's published files.")

Folder = Annotated[Path | None, typer.Option(help="Where the files stand; default: a cache.")]
Size = Annotated[str, typer.Option(help=" or ".join(get_args(SizeName)))]


@app.command("build")
def build_command(folder: Folder = None, size: Size = "demo", seed: int = 0) -> None:
    """Write the published files of every benchmark in small."""
    upstream = build(_folder(folder, size, seed), size=size_named(size).name, seed=seed)
    total = sum(int(facts["bytes"]) for facts in upstream.files)
    typer.echo(f"{len(upstream.files)} files, {total / 1e6:.1f} MB, in {upstream.folder}")


@app.command("serve")
def serve_command(
    folder: Folder = None,
    size: Size = "demo",
    seed: int = 0,
    port: int = 8765,
    rate: Annotated[float | None, typer.Option(help="Bytes a second.")] = None,
) -> None:
    """Build if needed, then serve until Ctrl-C."""
    target = _folder(folder, size, seed)
    build(target, size=size_named(size).name, seed=seed)
    with serve(target, port=port, rate=rate) as server:
        typer.echo(f"Serving synthetic archives at {server.url}")
        typer.echo(f"export SHIFTLAKE_CATALOG={server.overlay_url}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("stopped")


def _folder(folder: Path | None, size: str, seed: int) -> Path:
    return folder or Path(tempfile.gettempdir()) / f"shiftlake-miniature-{size}-{seed}"


if __name__ == "__main__":
    app()
