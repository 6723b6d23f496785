"""The demo's far end: miniature archives, built once, served over HTTP on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from ops.miniature import MiniatureServer, build, serve
from pipelines.environment import Workplace


@contextmanager
def serve_miniature(place: Workplace) -> Iterator[MiniatureServer]:
    """Build if need be, serve, and write the catalog overlay that points there."""
    upstream = build(place.miniature)
    with serve(upstream.folder) as server:
        place.overlay.write_text(yaml.safe_dump(upstream.overlay(server.url), sort_keys=False))
        yield server
