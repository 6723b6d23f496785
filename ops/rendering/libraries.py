"""Which libraries a rendering used: told in its manifest, and no part of any version.

JPEG, PNG and lossless video give the same pixels under every version that the tests have seen, so
that a newer library makes nothing stale. Where a library does decide the pixels, its version
stands in the recipe's `encoding` instead.
"""

from __future__ import annotations

import re
from functools import cache

from ops.rendering.recipe import EngineName


@cache
def libraries(engine: EngineName) -> dict[str, str]:
    """Versions of what decodes, computes and encodes, by name.

    Parameters
    ----------
    engine : {"corruptions", "perturbations", "distortions"}
        Videos need PyAV; the others do without it.
    """
    import cv2
    import numba
    import numpy
    import PIL
    from PIL import features

    built = re.search(r"libjpeg-turbo \(ver ([\d.]+)", cv2.getBuildInformation())
    found = {
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "opencv": cv2.__version__,
        "opencv_libjpeg_turbo": built.group(1) if built else "unknown",
        "pillow": PIL.__version__,
        "pillow_libjpeg_turbo": str(features.version("libjpeg_turbo") or "unknown"),
    }
    if engine == "perturbations":
        import av

        found["pyav"] = av.__version__
        found["libavcodec"] = ".".join(map(str, av.library_versions["libavcodec"]))
    return found
