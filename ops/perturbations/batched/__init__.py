"""The sequences of batches of images, in torch, on a CPU or a CUDA device.

Here: the same frames with the same keyed draws as the compiled kernels beside, for whoever has the
images on a device already and wants the sequences there: nothing is read or written.
"""

from ops.perturbations.batched.sequence import sequence_batch

__all__ = ["sequence_batch"]
