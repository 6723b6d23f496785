"""Miniature upstreams: the far end in small, to try the whole way without a single download.

`build` writes the files of every benchmark in exactly the published layout, with the published
names, nesting, compression and known traps, but with twelve classes and drawn pictures; `serve`
answers for them over HTTP, with faults if asked. Everything made here is synthetic and says so:
no number computed from it means anything about a model.

Beside it, `labelled_videos`, `imagenet_vid` and `youtube_bb` each write a tree of drawn videos with
labels, as they lie on the disk of somebody who has them: what frame sets are mined from.

Left out, because nothing that is tried here needs their content: ILSVRC2012_img_test, the full
ILSVRC2015/2017 VID archives, and the MiniImageNet-C upload (it is the severity-5 part of
ImageNet-C).

This room knows the published layouts but not how the project reads them: nothing here imports the
fetching or shard code, so that the two sides can contradict each other in a test.
"""

from ops.miniature.faults import Fault
from ops.miniature.overlay import OMITTED
from ops.miniature.server import serve
from ops.miniature.service import MiniatureServer
from ops.miniature.upstream import MiniatureUpstream, build

__all__ = ["OMITTED", "Fault", "MiniatureServer", "MiniatureUpstream", "build", "serve"]
