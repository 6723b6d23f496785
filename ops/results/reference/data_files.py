"""Reading the data files of this package."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def read_yaml(name: str) -> Any:
    """Content of ``data/<name>``; not to be changed, since it is kept."""
    text = (
        resources.files("ops.results.reference").joinpath("data", name).read_text(encoding="utf-8")
    )
    return yaml.safe_load(text)
