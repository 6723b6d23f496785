"""A class as people write it (its name, WordNet id or index) and its index in a label space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from ops.catalog import classes

NAMED = (*classes.VIDEO_LABEL_SPACES, classes.ILSVRC)
# As many as a label in a table can be.
_MOST = 1 << 15
# Classes that can be listed in a message.
_FEW = 40


def index_of_label(written: object, label_space: str) -> int:
    """Index of a class.

    Parameters
    ----------
    written : str or int
        A name (``domestic_cat`` or ``domestic cat``, in letters of any case), a WordNet id, or
        the index as a number or in digits.
    label_space : str
        In those of `NAMED` classes have names; in any other they are told by index alone.

    Raises
    ------
    ValueError
        If it is none; the message begins with what was expected.
    """
    known, count, twice = _known(label_space) if label_space in NAMED else ({}, _MOST, frozenset())
    if isinstance(written, bool) or not isinstance(written, str | int):
        raise ValueError(f"expected the name, WordNet id or index of a class, not {written!r:.80}")
    if isinstance(written, int) or (written.isascii() and written.isdigit() and len(written) < 9):
        index = int(written)
        if 0 <= index < count:
            return index
        raise ValueError(f"expected an index of {label_space}, 0 to {count - 1}, not {written!r}")
    name = _plain(written)
    if name in twice:
        raise ValueError(f"expected a WordNet id: two classes have the name {written!r}")
    if name in known:
        return known[name]
    if not known:
        raise ValueError(f"expected an index, for {label_space} has no names, not {written!r:.80}")
    raise ValueError(f"expected a class of {label_space}{_hint(name, known)}, not {written!r:.80}")


def _hint(name: str, known: Mapping[str, int]) -> str:
    """What may be meant by a name that is none: cat is a word of domestic_cat, lyon nearly lion."""
    within = [each for each in known if name in each.split("_")]
    near = list(dict.fromkeys([*within, *get_close_matches(name, known, 2, 0.6)]))[:3]
    if near:
        return f", perhaps {' or '.join(near)}"
    count = len(set(known.values()))
    # Names stand before the WordNet ids, in the order of their classes.
    return f": {', '.join(list(known)[:count])}" if count <= _FEW else ""


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


@cache
def _known(label_space: str) -> tuple[dict[str, int], int, frozenset[str]]:
    """Index by name and WordNet id; the number of classes; names that two classes have."""
    space: classes.VideoClasses | classes.IlsvrcClasses
    space = classes.ilsvrc() if label_space == classes.ILSVRC else classes.video(label_space)
    names = [_plain(name) for name in space.names]
    known = {name: index for index, name in enumerate(names)}
    known |= {wnid: index for index, wnid in enumerate(space.wnids) if wnid is not None}
    twice = frozenset(name for name, times in Counter(names).items() if times > 1)
    return known, len(names), twice
