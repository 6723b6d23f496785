"""The corruptions on batches of images, in torch, on a CPU or a CUDA device.

Here: the same corruptions with the same keyed draws as the compiled kernels beside, for whoever
has the images on a device already and wants them corrupted there: nothing is read or written.
"""

from ops.corruptions.batched.corrupt import corrupt_batch
from ops.corruptions.batched.jpeg import round_trip

__all__ = ["corrupt_batch", "round_trip"]
