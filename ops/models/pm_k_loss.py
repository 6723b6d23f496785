"""Cross entropy in a dataset's label space, and the frame of a set on which it is largest.

Of a model with more classes than the dataset, as one of the 1,000 ILSVRC classes on videos, the
logit of a class is the largest of those it stands for, as it is when the model is evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ops.inference.projection import Projection


class ProjectedLoss:
    """Cross entropy of a model's outputs against accepted labels of a dataset.

    Parameters
    ----------
    projection : Projection
        Of :func:`ops.inference.projection.projection`.
    """

    def __init__(self, projection: Projection) -> None:
        columns = _columns(projection)
        self._known = [index for index, column in enumerate(columns) if column]
        self._columns = [torch.tensor(columns[index]) for index in self._known]
        self._place = {label: place for place, label in enumerate(self._known)}

    def knows(self, labels: Sequence[int]) -> bool:
        """Whether the model has an output for one of these labels."""
        return any(label in self._place for label in labels)

    def logits(self, outputs: torch.Tensor) -> torch.Tensor:
        """Logits of the classes the model knows, in the order of the label space.

        Parameters
        ----------
        outputs : float tensor, shape (frames, outputs)

        Returns
        -------
        float tensor, shape (frames, known classes)
            Gradients flow to the largest output of each class.
        """
        return torch.stack([outputs[:, column].amax(dim=1) for column in self._columns], dim=1)

    def __call__(
        self, outputs: torch.Tensor, labels: Sequence[Sequence[int]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss of every frame, and whether it is right.

        Parameters
        ----------
        outputs : float tensor, shape (frames, outputs)
        labels : sequence of sequence of int
            Accepted labels of every frame; the model knows one of each.

        Returns
        -------
        losses : float tensor, shape (frames,)
            ``-log`` of the probability of all accepted labels together: of a frame with one label
            the cross entropy.
        right : bool tensor, shape (frames,)
            The argmax is an accepted label; of equal logits the first class counts.
        """
        logits = self.logits(outputs)
        accepted = torch.zeros_like(logits, dtype=torch.bool)
        for row, own in enumerate(labels):
            for label in own:
                if label in self._place:
                    accepted[row, self._place[label]] = True
        of_labels = logits.masked_fill(~accepted, -torch.inf).logsumexp(dim=1)
        right = accepted.gather(1, logits.argmax(dim=1, keepdim=True))[:, 0]
        return logits.logsumexp(dim=1) - of_labels, right

    def to(self, device: torch.device) -> ProjectedLoss:
        """The same, for outputs on a device."""
        self._columns = [column.to(device) for column in self._columns]
        return self


def _columns(projection: Projection) -> list[list[int]]:
    """For every class of the dataset, the outputs of the model that stand for it."""
    of_class = projection.class_map or tuple(range(projection.n_classes))
    outputs = {label: output for output, label in enumerate(of_class)}
    groups = projection.groups or tuple((label,) for label in range(projection.n_classes))
    return [[outputs[label] for label in group if label in outputs] for group in groups]
