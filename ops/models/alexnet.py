"""AlexNet as it was trained for two graphics cards: the network other errors are divided by.

Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural
Networks", 2012, section 3, in the form Caffe published it (``bvlc_alexnet``). torchvision's
AlexNet is another network: it has one group, no local response normalisation and 61,100,840
parameters.
"""

from __future__ import annotations

import torch
from torch import nn

from ops.models.transform import Transform

PARAMETERS = 60_965_224

# Means of the training images on the scale 0 to 255, red first; Caffe subtracts them and leaves
# the scale as it is.
_MEAN = (122.67891434, 116.66876762, 104.00698793)
TRANSFORM = Transform(
    resize=(256, 256),
    crop=227,
    interpolation="bilinear",
    mean=(_MEAN[0] / 255, _MEAN[1] / 255, _MEAN[2] / 255),
    std=(1 / 255, 1 / 255, 1 / 255),
)


class GroupedAlexNet(nn.Module):
    """Five convolutions, of which the second, fourth and fifth have two groups.

    Parameters
    ----------
    num_classes : int
        Number of logits; 60,965,224 parameters for 1,000.

    Notes
    -----
    The input is float32 of shape (samples, 3, 227, 227): red, green and blue on the scale 0 to
    255 less their mean, as `TRANSFORM` makes them. Layers have Caffe's names. Dropout of the
    training is left out.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, 11, stride=4)
        self.conv2 = nn.Conv2d(96, 256, 5, padding=2, groups=2)
        self.conv3 = nn.Conv2d(256, 384, 3, padding=1)
        self.conv4 = nn.Conv2d(384, 384, 3, padding=1, groups=2)
        self.conv5 = nn.Conv2d(384, 256, 3, padding=1, groups=2)
        self.fc6 = nn.Linear(256 * 6 * 6, 4096)
        self.fc7 = nn.Linear(4096, 4096)
        self.fc8 = nn.Linear(4096, num_classes)
        self.normalise = nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0)
        self.pool = nn.MaxPool2d(3, stride=2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of a batch."""
        maps = self.pool(self.normalise(torch.relu(self.conv1(images))))
        maps = self.pool(self.normalise(torch.relu(self.conv2(maps))))
        maps = torch.relu(self.conv4(torch.relu(self.conv3(maps))))
        maps = self.pool(torch.relu(self.conv5(maps)))
        # Channel by channel, as Caffe flattens, whatever the layout in memory is.
        hidden = torch.relu(self.fc7(torch.relu(self.fc6(maps.flatten(1)))))
        logits: torch.Tensor = self.fc8(hidden)
        return logits
