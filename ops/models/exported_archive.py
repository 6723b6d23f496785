"""A ``.pt2`` archive, read so that nothing in it can run.

`torch.export.load` unpickles whatever an archive brings (example inputs, constants, weights that
are no plain tensors), hands the text of shapes to sympy, which evaluates it as Python, and puts
guards, names and types from the archive into code it executes. So the archive is never given to
it. It is read here, entry by entry; what is not plain tensors and a graph of torch's own
operators is refused; and a new archive is written that has neither pickles nor free text.
"""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ops.errors import ShiftlakeError

_PROGRAM = "models/model.json"
_WEIGHTS = "data/weights/model_weights_config.json"
_CONSTANTS = "data/constants/model_constants_config.json"
_EXAMPLE = "data/sample_inputs/model.pt"
_PLAIN = (
    re.compile(r"archive_format|archive_version|byteorder|\.format_version|\.storage_alignment"),
    re.compile(r"\.data/(version|serialization_id)"),
    re.compile(r"data/weights/weight_\d+|data/constants/tensor_\d+"),
    re.compile(r"extra/[\w./-]+"),
)
_TENSOR_FILE = re.compile(r"(weight|tensor)_\d+")
# No quote, bracket or sign of assignment: such a text is harmless wherever it is pasted.
_HARMLESS = re.compile(r"[A-Za-z0-9_.,:>+ -]*")
# aten's operators are arithmetic, but for those that read and write files.
_OPERATORS = (
    re.compile(r"torch\.ops\.(aten|prims)\.(?!(save|from_file|_print|warn)\b)\w+\.\w+"),
    re.compile(r"torch\.ops\.higher_order\.(wrap_with_set_grad_enabled|wrap_with_autocast|cond)"),
    re.compile(r"_operator\.(add|sub|mul|truediv|floordiv|mod|neg|pow|getitem|and_|or_|not_)"),
    re.compile(r"_operator\.(eq|ne|lt|le|gt|ge)"),
    re.compile(r"math\.(ceil|floor|trunc|sqrt|pow)"),
    re.compile(r"torch\.(_sym_sqrt|sym_(float|int|ite|max|min|not|sqrt|sum))"),
)
# What sympy writes for sizes: numbers, symbols, comparisons, and torch's own integer arithmetic.
_EXPRESSIONS = re.compile(
    r"Symbol|Integer|Rational|Float|Add|Mul|Pow|Mod|Max|Min|Abs|And|Or|Not|Where|Identity"
    r"|Equality|Unequality|StrictLessThan|LessThan|StrictGreaterThan|GreaterThan"
    r"|Eq|Ne|Lt|Le|Gt|Ge|FloorDiv|CleanDiv|CeilDiv|ModularIndexing|IntTrueDiv|FloatTrueDiv"
    r"|CeilToInt|FloorToInt|TruncToInt|RoundToInt|ToFloat|PythonMod|PowByNatural|FloatPow"
)
_NAMES = frozenset({"true", "false", "oo", "int_oo"})
_KEYWORDS = frozenset({"positive", "integer", "nonnegative", "real", "evaluate", "precision"})
_CONTAINERS = frozenset({None, "builtins.tuple", "builtins.list", "builtins.dict"})


def clean_archive(path: Path, where: object = None) -> io.BytesIO:
    """Read a ``.pt2`` file and write it again without anything that could run.

    Parameters
    ----------
    path : Path
        As `torch.export.save` wrote it.
    where : object
        What to call the file in an error; `path` by default.

    Returns
    -------
    io.BytesIO
        For `torch.export.load`. The tensors and the graph are the file's; example inputs,
        guards, stack traces and extra files are left out, and everything is on the CPU.

    Raises
    ------
    ShiftlakeError
        If the file is no such archive, or holds pickles, compiled code, foreign operators or text
        that would be executed.
    """
    where = where or path
    try:
        return _cleaned(path)
    except _Hostile as found:
        raise ShiftlakeError(
            "The exported program is refused: to load it could run code that is inside it.",
            expected="tensors, and a graph of torch's own operators",
            found=found,
            where=where,
            remedy="export the model again where you trust it, from parameters that are plain "
            "tensors, or register its state dict with module:callable",
        ) from found
    except (
        *(zipfile.BadZipFile, OSError, KeyError, ValueError, TypeError, AttributeError),
        # JSON in JSON in JSON: nothing that torch writes is as deep.
        RecursionError,
    ) as error:
        raise ShiftlakeError(
            "The exported program cannot be read.",
            expected="a .pt2 file that torch.export.save of torch 2.8 or later wrote",
            found=f"{type(error).__name__}: {error}",
            where=where,
            remedy=f"get the file again, or export the model with torch {torch.__version__}",
        ) from error


class _Hostile(Exception):
    """Something that has no place in a program of tensors."""


def _cleaned(path: Path) -> io.BytesIO:
    cleaned = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(cleaned, "w") as target:
        entries = {info.filename: info for info in source.infolist()}
        if len(entries) != len(source.infolist()):
            raise _Hostile("two entries of one name")
        folder = next(iter(entries), "").partition("/")[0] + "/"
        strange = [name for name in entries if not name.startswith(folder)]
        if strange or f"{folder}{_PROGRAM}" not in entries:
            raise ValueError(f"no {_PROGRAM} in {', '.join(list(entries)[:3]) or 'an empty file'}")
        if compressed := [name for name, info in entries.items() if info.compress_type]:
            raise _Hostile(f"compressed entries: {compressed[0]}")
        for name in entries:
            entry = name.removeprefix(folder)
            data = source.read(name)
            if entry == _PROGRAM:
                data = _as_bytes(_program(json.loads(data)))
            elif entry in (_WEIGHTS, _CONSTANTS):
                data = _as_bytes(_payloads(json.loads(data), entry))
            elif entry == _EXAMPLE:
                _refuse_code(data)
                data = b""
            elif not any(pattern.fullmatch(entry) for pattern in _PLAIN):
                raise _Hostile(f"the entry {entry}")
            if not entry.startswith("extra/"):
                target.writestr(name, data)
    cleaned.seek(0)
    return cleaned


def _as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def _refuse_code(example: bytes) -> None:
    # Read only to tell; nothing of it is kept.
    if not example:
        return
    try:
        torch.load(io.BytesIO(example), weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        told = [line for line in str(error).splitlines() if "GLOBAL" in line or "Unsupp" in line]
        found = (told or ["no tensors"])[0].split(". ")[0].strip()
        raise _Hostile(f"a pickle as example input: {found}") from error


def _payloads(config: Any, entry: str) -> Any:
    for name, payload in config["config"].items():
        if payload["use_pickle"] or not _TENSOR_FILE.fullmatch(payload["path_name"]):
            raise _Hostile(f"{name} is no plain tensor: {payload['path_name']} in {entry}")
    return _harmless(config)


def _program(program: Any) -> Any:
    module = program["graph_module"]
    if module.get("treespec_namedtuple_fields"):
        raise _Hostile("named tuples among its inputs or outputs")
    program["guards_code"] = []
    for graph in _graphs(program):
        for node in graph["nodes"]:
            # Names of files, lines and modules where it was exported.
            node["metadata"] = {}
            if not any(pattern.fullmatch(node["target"]) for pattern in _OPERATORS):
                raise _Hostile(f"the operator {node['target']}")
            for argument in node["inputs"]:
                stated = argument["arg"]
                if argument["name"] in ("training", "train") and stated.get("as_bool"):
                    raise ValueError(
                        f"{node['target']} in training mode; call eval() before the export"
                    )
    return _harmless(program)


def _graphs(value: Any) -> Iterator[Any]:
    """All graphs, those inside of conditions and context managers too."""
    if isinstance(value, dict):
        if "nodes" in value and "tensor_values" in value:
            yield value
        for inner in value.values():
            yield from _graphs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _graphs(inner)


def _harmless(value: Any, key: str = "") -> Any:
    """The value, with every device a CPU; refuses text that could be more than a name."""
    if isinstance(value, dict):
        if set(value) == {"type", "index"} and value["type"] in ("cuda", "mps", "xpu", "cpu"):
            return {"type": "cpu", "index": None}
        for name in value:
            if not _HARMLESS.fullmatch(name):
                raise _Hostile(f"the name {name[:80]!r}")
            if name in ("as_custom_obj", "as_operator") and value[name] is not None:
                raise _Hostile("an object of a class of its own")
        return {name: _harmless(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_harmless(inner, key) for inner in value]
    if isinstance(value, str):
        if key == "expr_str":
            _refuse_odd_expression(value)
        elif key in ("in_spec", "out_spec"):
            _refuse_odd_structure(value)
        elif not _HARMLESS.fullmatch(value):
            raise _Hostile(f"the text {value[:80]!r} as {key}")
    return value


def _refuse_odd_expression(whole: str) -> None:
    """Refuse what is no expression of sympy's over integers and symbols."""
    try:
        parsed = ast.parse(whole, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _Hostile(f"the size {whole[:80]!r}") from error
    waiting: list[ast.AST] = [parsed]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            known = _EXPRESSIONS.fullmatch(node.func.id) is not None
            if known and all(word.arg in _KEYWORDS for word in node.keywords):
                waiting += [*node.args, *(word.value for word in node.keywords)]
                continue
        elif isinstance(node, ast.Constant):
            text = node.value
            if not isinstance(text, str) or re.fullmatch(r"[A-Za-z_]\w*|[0-9.e+-]+", text):
                continue
        elif isinstance(node, ast.Name):
            if node.id in _NAMES:
                continue
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            waiting.append(node.operand)
            continue
        raise _Hostile(f"the size {whole[:80]!r}")


def _refuse_odd_structure(text: str) -> None:
    """Refuse inputs and outputs that are not tuples, lists and dicts of tensors."""
    protocol, structure = json.loads(text)
    if protocol != 1:
        raise ValueError(f"structure protocol {protocol}")
    waiting = [structure]
    while waiting:
        node = waiting.pop()
        context = json.loads(node["context"]) if node["context"] else None
        names = context if isinstance(context, list) else []
        plain = context is None or isinstance(context, list)
        if node["type"] not in _CONTAINERS or not plain:
            raise _Hostile(f"the structure {node['type']}")
        if not all(isinstance(name, str) and _HARMLESS.fullmatch(name) for name in names):
            raise _Hostile(f"the structure {str(names)[:80]}")
        waiting += node["children_spec"]
