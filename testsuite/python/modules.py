"""Small networks of PyTorch with the layouts that torchvision's classifiers do not have."""
import torch
from torch import nn
from torchvision.models import convnext


class Flattened(nn.Module):
    """Two maps are flattened and joined; a vector becomes a map."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(3, 5, (3, 1), padding=(1, 0))
        self.deep = nn.Conv2d(3, 4, 5, stride=3, padding=(2, 4), dilation=(1, 2))
        self.norm = nn.BatchNorm1d(5 * 7 * 6 + 4 * 3 * 2)
        self.first = nn.Linear(5 * 7 * 6 + 4 * 3 * 2, 48)
        self.second = nn.BatchNorm1d(48, eps=1e-3)
        self.up = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.last = nn.Linear(6 * 8 * 6, 10, bias=False)

    def forward(self, x):
        wide = torch.flatten(torch.tanh(self.wide(x)), 1)
        deep = self.deep(x).relu_().view(x.size(0), -1)
        y = self.norm(torch.cat([wide, deep], 1))
        y = self.second(nn.functional.leaky_relu(self.first(y), 0.2))
        y = self.up(y.view(-1, 4, 4, 3))
        return self.last(y.flatten(1))


class Mixed(nn.Module):
    """Slices, permutations, norms, pools and sums."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, (2, 4), padding="same")
        self.group = nn.GroupNorm(4, 8)
        self.layer = nn.LayerNorm(8, eps=1e-6)
        self.point = nn.Linear(8, 12)
        self.scale = nn.Parameter(torch.ones(12, 1, 1))
        self.norm = nn.BatchNorm2d(12, affine=False)
        self.excite = nn.Linear(12, 12)
        self.head = nn.Conv2d(15, 10, 1)
        self.layer.requires_grad_(False)
        self.stem.weight.requires_grad_(False)

    def forward(self, x):
        y = nn.functional.elu(self.group(self.stem(x)), 0.5)
        y = self.point(self.layer(y.permute(0, 2, 3, 1))).permute(0, 3, 1, 2)
        y = self.norm(y * self.scale)
        gate = torch.sigmoid(self.excite(y.mean([2, 3]))).view(-1, 12, 1, 1)
        y = torch.cat([y * gate, x[:, 1:2] / 2 - x[:, :1], -x[:, ::1][:, 1:]], 1)
        first, second = y.chunk(2, 1)
        y = torch.cat([second, nn.functional.pad(first, (1, 0, 2, 1))[:, :, 1:-2, 1:]], 1)
        y = nn.functional.avg_pool2d(y, 3, 2, 1, ceil_mode=True)
        y = nn.functional.interpolate(y, scale_factor=2, mode="bilinear")
        return self.head(torch.maximum(y, nn.functional.max_pool2d(y, 3, 1, 1) * 0.5))


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6, momentum=0.3)
        self.slope = nn.PReLU(6)
        self.last = nn.Linear(6 * 4 * 4, 7)

    def forward(self, x):
        return self.last(self.slope(self.norm(self.conv(x))).flatten(1))


class Siamese(nn.Module):
    """Modules that are called again, and two whose parameters are the same."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 1)
        self.right.weight, self.right.bias = self.left.weight, self.left.bias
        self.left.requires_grad_(False)
        self.step = nn.Conv2d(4, 4, 3, padding=1)
        self.tower = Tower()
        self.head = nn.Linear(7, 10)

    def forward(self, x):
        left, right = x.chunk(2, 3)
        left = self.left(left)
        right = self.right(right)
        for _ in range(3):
            left = nn.functional.relu(self.step(left))
        return self.head((self.tower(left) - self.tower(right)).square())


def small_convnext():
    blocks = [convnext.CNBlockConfig(16, 24, 1), convnext.CNBlockConfig(24, None, 2)]
    return convnext.ConvNeXt(blocks, num_classes=10)


# By name, the module and the side of its images.
OWN = {"flattened": (Flattened, (7, 6)), "mixed": (Mixed, (9, 11)),
       "siamese": (Siamese, (4, 8)), "small_convnext": (small_convnext, (32, 32))}
