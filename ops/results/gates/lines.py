"""YAML that a person writes: read strictly, with the line of everything in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from ops.errors import ShiftlakeError


class WrittenYaml:
    """A YAML document and where its parts stand.

    Parameters
    ----------
    text : str
    address : str
        For errors.

    Raises
    ------
    ShiftlakeError
        If it is no YAML, or a key stands twice in one mapping (YAML would take the last).
    """

    def __init__(self, text: str, address: str) -> None:
        self._address = address
        try:
            self._node = yaml.compose(text, Loader=yaml.SafeLoader)
            self._refuse_repeated(self._node)
            self.content: Any = yaml.safe_load(text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = f", line {mark.line + 1}" if mark else ""
            raise ShiftlakeError(
                "A file that was written by hand cannot be read.",
                expected="YAML",
                found=error.problem or str(error),
                where=f"{address}{line}",
                remedy="correct the line",
            ) from error

    def where(self, path: Sequence[int | str]) -> str:
        """Address, line and dotted name of a part, or of the nearest part around it."""
        node, line, within = self._node, 1, True
        for step in path:
            key, node = self._child(node, step) if within else (None, None)
            within = node is not None
            if key is not None:
                line = key.start_mark.line + 1
        # Alternatives of a type have names of their own in a path, which nobody has written.
        name = ".".join(str(step) for step in path if not str(step).startswith("function-"))
        return f"{self._address}, line {line}: {name or 'the whole file'}"

    def _child(self, node: Any, step: int | str) -> tuple[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(step):
                    return key, value
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            return node.value[step], node.value[step]
        return None, None

    def _refuse_repeated(self, node: Any) -> None:
        if isinstance(node, yaml.SequenceNode):
            for each in node.value:
                self._refuse_repeated(each)
        if not isinstance(node, yaml.MappingNode):
            return
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                raise ShiftlakeError(
                    "A file that was written by hand says one thing twice.",
                    expected=f"each key once, {key.value} is in line {seen[key.value]}",
                    found=f"{key.value} again",
                    where=f"{self._address}, line {line}",
                    remedy="keep one of the two",
                )
            seen[key.value] = line
            self._refuse_repeated(value)
