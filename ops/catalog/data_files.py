"""Reading the packaged data files, and nothing else; what they mean is for their readers."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import yaml

# The C loader is ten times faster; a build of PyYAML without libyaml only has the other one.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(name: str) -> Any:
    """Content of ``data/<name>``, a JSON or YAML file of this package."""
    text = resources.files("ops.catalog").joinpath("data", name).read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> Any:
    """Content of a JSON or YAML document.

    Raises
    ------
    ValueError or yaml.YAMLError
        If it is neither.
    """
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            # A YAML flow mapping opens with a brace, too.
            return yaml.load(text, Loader=_LOADER)
    return yaml.load(text, Loader=_LOADER)
