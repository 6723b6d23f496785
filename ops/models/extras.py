"""Libraries that are not always there: imported when a model needs them, or said how to get."""

from __future__ import annotations

import importlib
from typing import Any

from ops.errors import ShiftlakeError


def extra(module: str, of: str, reference: str) -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    module : str
        Its full name.
    of : str
        The optional extra of this project that installs it.
    reference : str
        The model that needs it, for the error.

    Returns
    -------
    module

    Raises
    ------
    ShiftlakeError
        If the library is missing, or breaks while it is imported.
    """
    library = module.partition(".")[0]
    try:
        # The library first: without it an error would name its submodule.
        importlib.import_module(library)
        return importlib.import_module(module)
    except ImportError as error:
        raise ShiftlakeError(
            f"This model needs {library}.",
            expected=f"{library} installed",
            found=str(error),
            where=reference,
            remedy=f"pip install 'shiftlake[{of}]'",
        ) from error
    except (RuntimeError, OSError, AttributeError) as error:
        # torchvision beside a torch it was not built for fails like this, and so does all that
        # imports it.
        broken = "torchvision" if "torchvision" in str(error) else library
        raise ShiftlakeError(
            f"{library} is installed, but it cannot be imported.",
            expected=f"{broken} as it was built for the torch beside it",
            found=f"{type(error).__name__}: {error}",
            where=reference,
            remedy=f"install {broken} from the same index as torch, at the release that fits it",
        ) from error
