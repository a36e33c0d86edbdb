"""Modules of PyTorch as neutral graphs: refusals, changes in place, tracing. Skipped without torch.

    check_torch.py

It runs by with_package.
"""
import sys
import unittest

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("no PyTorch here")
    sys.exit(77)

import cnnc


class Function(nn.Module):
    """A function of the module and of a map after a convolution."""

    def __init__(self, function):
        super().__init__()
        self.function, self.conv = function, nn.Conv2d(3, 4, 3, padding=1)
        self.side = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        return self.function(self, self.conv(x))


def converted(layer, *shape, **options):
    """A module, or a function of a Function and a map of four channels."""
    if not isinstance(layer, nn.Module):
        layer = Function(layer)
    return cnnc.from_torch(layer, torch.zeros(1, *(shape or (3, 8, 12))), **options)


def body(text):
    """The statements of a net."""
    return text.partition("\n\n")[2].partition("\n\n")[0].strip()


class Branches(nn.Module):
    """torch.fx can't follow it, and torch.export can."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4, momentum=0.2)
        self.fc = nn.Linear(4 * 2 * 3, 5)

    def forward(self, x):
        x = self.norm(self.conv(x))
        if x.shape[2] > 100:
            x = x * 2
        for _ in range(x.shape[1] // 4):
            x = x + F.hardtanh(F.relu_(x), 0.0, 6.0)
        return self.fc(F.adaptive_avg_pool2d(x, (2, 3)).flatten(1))


class Shared(nn.Module):
    """A module that is called twice, and two of the same parameters."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.turned, self.tied = nn.Conv2d(3, 3, 3, stride=2, padding=1), nn.Conv2d(3, 3, 3,
                                                                                  padding=1)
        for module in (self.turned, self.tied):
            module.weight, module.bias = self.conv.weight, self.conv.bias

    def forward(self, x):
        return self.tied(self.turned(self.conv(self.conv(x))))


class InPlace(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.conv, self.layer = nn.Conv2d(3, 4, 3, padding=1), layer

    def forward(self, x):
        x = self.conv(x)
        return x + self.layer(x)


class Conversions(unittest.TestCase):
    def test_in_place(self):
        text = converted(InPlace(nn.ReLU(inplace=True))).text
        self.assertEqual(body(text), "conv = x -> conv(4, 3) -> relu\n    add = conv + conv")
        self.assertIn("add = conv + layer", converted(InPlace(nn.ReLU())).text)
        text = converted(lambda m, x: F.relu_(x) - torch.sigmoid(x)).text
        self.assertIn("conv = x -> conv(4, 3) -> relu", text)

    def test_export(self):
        text = converted(Branches()).text
        self.assertIn("norm = conv -> batchnorm(momentum = 0.2) -> relu", text)
        self.assertIn("avgpool(4)", text)

    def test_compositions(self):
        for function, words in (
                (lambda m, x: x.clamp(0, 6), "-> relu6"),
                (lambda m, x: x.clamp(min=0), "-> relu"),
                (lambda m, x: x / 4, "scale(0.25)"),
                (lambda m, x: x + 0, "conv = x -> conv(4, 3)\n"),
                (lambda m, x: x ** 2, "-> square"),
                (lambda m, x: x.mean((2, 3)), "-> global_avgpool -> flatten"),
                (lambda m, x: x.amax((2, 3), keepdim=True), "-> global_maxpool"),
                (lambda m, x: F.adaptive_avg_pool2d(x, (4, 6)), "-> avgpool(2)"),
                (lambda m, x: F.adaptive_max_pool2d(x, (2, 3)), "-> maxpool(4)"),
                (lambda m, x: F.adaptive_avg_pool2d(x, (8, 12)), "conv = x -> conv(4, 3)\n"),
                (lambda m, x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
                 "maxpool(3, stride = 2, padding = 1, ceil = true)"),
                (lambda m, x: F.avg_pool2d(x, 3, 1, 1),
                 "avgpool(3, stride = 1, padding = 1, count_padding = true)"),
                (lambda m, x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
                 "avgpool(3, stride = 1, padding = 1)"),
                (lambda m, x: F.interpolate(x, (16, 36)), "upsample(2x3)"),
                (lambda m, x: F.interpolate(x, scale_factor=2, mode="bilinear"),
                 "upsample(2, mode = bilinear)"),
                (lambda m, x: F.pad(x, (1, 2, 3, 4), value=2.0), "pad(3x4x1x2, value = 2)"),
                (lambda m, x: F.pad(x, (-1, -2)), "crop(0x0x1x2)"),
                (lambda m, x: x + 1, "shift(1)"), (lambda m, x: 1 - x, "scale(-1) -> shift(1)"),
                (lambda m, x: 2 / x, "reciprocal -> scale(2)"),
                (lambda m, x: x ** 0.5, "-> sqrt"), (lambda m, x: x.abs().log(), "-> abs -> log"),
                (lambda m, x: x.clamp(-1, 2), "clamp(low = -1, high = 2)"),
                (lambda m, x: F.hardtanh(x), "clamp(low = -1, high = 1)"),
                (lambda m, x: F.softplus(F.mish(x)), "-> mish -> softplus"),
                (lambda m, x: F.log_softmax(x, 1), "-> log_softmax"),
                (lambda m, x: F.max_pool2d(x, 3, 1, 1, 2),
                 "maxpool(3, stride = 1, padding = 1, dilation = 2)"),
                (lambda m, x: F.adaptive_avg_pool2d(x, (3, 5)), "adaptive_avgpool(3x5)"),
                (lambda m, x: F.interpolate(x, (5, 7), mode="bilinear", align_corners=True),
                 "resize(5x7, mode = bilinear, align_corners = true)"),
                (lambda m, x: F.interpolate(x, (5, 7)), "resize(5x7)"),
                (lambda m, x: F.interpolate(x, (5, 7), mode="nearest-exact"),
                 "resize(5x7, mode = nearest_exact)"),
                (lambda m, x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
                 "pad(3x0x1x2, mode = reflect)"),
                (lambda m, x: F.pad(x, (1, 1, 1, 1), mode="replicate"), "pad(1, mode = edge)"),
                (lambda m, x: F.pad(x, (1, 1, 0, 0), mode="circular"), "pad(0x1, mode = wrap)"),
                (lambda m, x: F.local_response_norm(x, 5, 1e-3), "lrn(5, alpha = 0.001)"),
                (lambda m, x: F.pixel_shuffle(x, 2), "pixel_shuffle(2)"),
                (lambda m, x: F.pixel_unshuffle(x, 2), "pixel_unshuffle(2)"),
                (lambda m, x: F.channel_shuffle(x, 2), "channel_shuffle(2)"),
                (lambda m, x: x.unflatten(1, (2, 2)).transpose(1, 2).flatten(1, 2),
                 "channel_shuffle(2)"),
                (lambda m, x: x.flatten(2), "transpose([2, 0, 1]) -> reshape([4, 96])"),
                (lambda m, x: x.softmax(2), "transpose([1, 2, 0]) -> softmax"),
                (lambda m, x: F.gelu(x, approximate="tanh"), "gelu(approximate = true)"),
                (lambda m, x: x.softmax(1), "-> softmax"),
                (lambda m, x: x.transpose(1, 3).transpose(3, 1), "conv = x -> conv(4, 3)\n"),
                (lambda m, x: x * F.linear(x.mean((2, 3)), m.side)[:, :, None, None],
                 "reshape([1, 1, 4])"),
                (lambda m, x: F.adaptive_avg_pool2d(x, 1)[..., 0, 0],
                 "-> global_avgpool -> flatten"),
                (lambda m, x: x[:, 1:3, ..., 2:], "slice(1, 2) -> slice(2, 10, axis = width)")):
            self.assertIn(words, converted(function).text)

    def test_prelu(self):
        for count, words in ((1, "prelu(shared = true)"), (4, "-> prelu\n")):
            net = converted(nn.Sequential(nn.Conv2d(3, 4, 1), nn.PReLU(count)))
            self.assertIn(words, net.text)
            self.assertEqual(net.weights["prelu_1.weight"].tolist(), [0.25] * count)

    def test_frozen(self):
        module = Branches()
        for parameter in [*module.norm.parameters(), module.conv.weight]:
            parameter.requires_grad_(False)
        text = converted(module, loss="softmax_cross_entropy").text
        self.assertIn("conv(4, 3, train = bias)", text)
        self.assertIn("batchnorm(momentum = 0.2, statistics = batch, train = none)", text)
        self.assertNotIn("train = none", converted(module).text)

        try:
            from torchvision.ops import FrozenBatchNorm2d
        except ImportError:
            self.skipTest("no torchvision here")
        module = nn.Sequential(nn.Conv2d(3, 4, 1), FrozenBatchNorm2d(4, eps=1e-3))
        self.assertIn("batchnorm(epsilon = 0.001, statistics = running, train = none)",
                      converted(module, loss="mse").text)

    def test_shared(self):
        net = converted(Shared(), 3, 8, 8, loss="mse")
        self.assertEqual(body(net.text), """conv = x -> conv(3, 3, weights = "conv")
    conv_1 = conv -> conv(3, 3, weights = "conv")
    turned = conv_1 -> conv(3, 3, stride = 2, padding = 1, weights = "conv")
    tied = turned -> conv(3, 3, weights = "conv")""")
        self.assertEqual(sorted(net.weights), ["conv.bias", "conv.weight"])
        self.assertEqual(net.names["tied.weight"], "conv.weight")

    def test_shared_weights(self):
        """A state_dict has all names of a parameter, and a file its own copy of each."""
        module = Shared()
        net = converted(module, 3, 8, 8)
        state = module.state_dict()
        apart = {name: tensor.clone() for name, tensor in state.items()}
        for given in (state, apart, dict(module.named_parameters())):
            ours = cnnc.weights.from_torch(given, net)
            self.assertTrue((ours["conv.weight"] == net.weights["conv.weight"]).all())
            self.assertEqual(len(ours), 2)
        for like in (None, state, apart):
            theirs = cnnc.weights.to_torch(net.weights, net, like=like)
            module.load_state_dict({name: torch.from_numpy(each) for name, each in theirs.items()})
        apart["tied.weight"] += 1
        with self.assertRaisesRegex(cnnc.WeightError, "conv.weight is named twice"):
            cnnc.weights.from_torch(apart, net)
        program = net.text.replace("conv_", "other_")
        self.assertEqual(len(cnnc.weights.from_torch(state, program)), 2)

    def test_copies(self):
        """Layers of one weight and two biases, which can't share: each has a copy."""
        module = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        module[2].weight = module[0].weight
        net, state = converted(module, 4), module.state_dict()
        ours = cnnc.weights.from_torch(state, net)
        self.assertEqual(set(ours), set(net.weights))
        self.assertTrue(all((ours[name] == net.weights[name]).all() for name in ours))
        self.assertEqual(set(cnnc.weights.to_torch(ours, net)), set(state))

    def test_losses(self):
        module = nn.Sequential(nn.Flatten(), nn.Linear(288, 3))
        weight = torch.tensor([0.1, 1, 2])
        for loss, words in (
                (nn.CrossEntropyLoss(), "softmax_cross_entropy(dense_1, label)"),
                (nn.CrossEntropyLoss(weight, ignore_index=-1, label_smoothing=0.1),
                 "softmax_cross_entropy(dense_1, label, label_smoothing = 0.1, "
                 "class_weights = [0.1, 1, 2], ignore = -1)"),
                (nn.NLLLoss(ignore_index=1), "nll(dense_1, label, ignore = 1)"),
                (nn.BCEWithLogitsLoss(), "binary_cross_entropy(dense_1, target)"),
                (nn.MSELoss(), "mse(dense_1, target)"),
                (nn.L1Loss(), "mean_absolute_error(dense_1, target)"),
                (nn.SmoothL1Loss(beta=0.5), "smooth_l1(dense_1, target, beta = 0.5)"),
                (nn.HuberLoss(delta=2), "smooth_l1(dense_1, target, beta = 2, weight = 2)")):
            net = converted(module, loss=loss)
            self.assertIn(f"loss   {words}\n", net.text)
            self.assertGreater(cnnc.memory(net, batch=2), 0)
        for loss, message in (
                (nn.MSELoss(reduction="sum"), "MSELoss: reduction sum; wanted mean"),
                (nn.BCEWithLogitsLoss(pos_weight=weight), "BCEWithLogitsLoss: pos_weight"),
                (nn.CrossEntropyLoss(weight[:2]), "class_weights has 2 numbers for 3 classes"),
                (nn.KLDivLoss(), "KLDivLoss: wanted one of CrossEntropyLoss, ")):
            with self.assertRaisesRegex(cnnc.Unsupported, message):
                converted(module, loss=loss)

    def test_mode(self):
        module = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Dropout(0.25), nn.Flatten(),
                               nn.Linear(384, 2))
        text = converted(module.train()).text
        self.assertTrue(module.training)
        self.assertIn("dropout(0.25)", text)

    def test_memory(self):
        net = converted(Branches(), loss="softmax_cross_entropy")
        arena = cnnc.memory(Branches(), 16, example_input=torch.zeros(1, 3, 8, 12),
                            loss="softmax_cross_entropy", prefer="memory")
        self.assertEqual(arena, cnnc.memory(net, batch=16, prefer="memory"))
        self.assertEqual(cnnc.memory(Branches(), 16, example_input=torch.zeros(1, 3, 8, 12)),
                         cnnc.memory(net, batch=16, mode="infer"))

    def test_weights(self):
        module = Branches().double()
        net = converted(module.float())
        for name, array in cnnc.weights.from_torch(module.state_dict(), net).items():
            self.assertTrue((array == net.weights[name]).all(), name)
        state = cnnc.weights.to_torch(net.weights, net, like=module.state_dict())
        module.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})


NO = "there is no such operator in cnnc"


class Refusals(unittest.TestCase):
    def check(self, cases):
        for layer, *words in cases:
            with self.subTest(words[0]), self.assertRaises(cnnc.Unsupported) as caught:
                converted(layer)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_modules(self):
        conv = nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect")
        self.check([
            (nn.Sequential(nn.Sequential(nn.InstanceNorm2d(3))),
             f"0.0: torch.nn.InstanceNorm2d: {NO}"),
            (nn.Sequential(conv), "0: torch.nn.Conv2d: padding_mode reflect"),
            (nn.Sequential(nn.BatchNorm2d(3, momentum=None)), "0: torch.nn.BatchNorm2d: momentum"),
            (nn.Sequential(nn.BatchNorm2d(3, track_running_stats=False)), "no running statistics"),
            (nn.Sequential(nn.LocalResponseNorm(4)), "lrn", "size"),
            (nn.Sequential(nn.LayerNorm([3, 8, 12])), "0: torch.nn.LayerNorm: normalized_shape"),
            (nn.Sequential(nn.AvgPool2d(2, divisor_override=3)), "divisor_override"),
            (nn.Sequential(nn.Dropout2d(0.1)), f"0: torch.nn.Dropout2d: {NO}"),
            (nn.Sequential(nn.Softplus(beta=2)), "0: torch.nn.Softplus: beta 2"),
            (nn.Sequential(nn.Upsample(scale_factor=2, mode="bicubic")), "mode bicubic")])

    def test_shared(self):
        """A parameter of layers that can't share it. Nothing changes the copies of a net without a
        loss."""
        def both(m, x):
            y = F.conv2d(F.conv2d(x, m.side.view(4, 4, 1, 1)), m.side.view(4, 4, 1, 1),
                         m.conv.bias)
            return y.flatten(1)
        with self.assertRaises(cnnc.Unsupported) as caught:
            converted(both, loss="softmax_cross_entropy")
        self.assertIn("Function: conv2d: side is a weight of conv_1 too", str(caught.exception))
        self.assertIn("other weights", str(caught.exception))
        net = converted(both)
        self.assertNotIn("weights =", net.text)
        self.assertEqual(len(net.weights), 5)
        self.check([(lambda m, x: F.conv2d(x, m.side.view(4, 4, 1, 1)) +
                     F.conv2d(F.pad(x, (1, 0, 1, 0)), m.side.view(4, 1, 2, 2), groups=4),
                     "side is read as [4, 1, 2, 2] here, and as [4, 4, 1, 1] before")])

    def test_functions(self):
        self.check([
            (lambda m, x: torch.cumsum(x, 1), f"Function: cumsum: {NO}"),
            (lambda m, x: x + torch.ones(4, 1, 1), "Function: add", "not computed"),
            (lambda m, x: x.mean((2, 3), keepdim=True) + x.mean((2, 3)), "batches do not meet"),
            (lambda m, x: F.adaptive_max_pool2d(x, (3, 5)), "adaptive_max_pool2d", "in cnnc"),
            (lambda m, x: x ** 3, "pow: exponent 3"),
            (lambda m, x: x.mean(1), "the mean along 1"),
            (lambda m, x: F.interpolate(x, scale_factor=1.3), "scale_factor 1.3"),
            (lambda m, x: x[:, 0], "index 0 of axis 1"),
            (lambda m, x: x[:, ::2], "wanted a range"),
            (lambda m, x: x.flatten(0), "does not begin with the batch"),
            (lambda m, x: F.relu_(x[:, :2]) + x[:, 2:], "Function: relu", "in place"),
            (lambda m, x: F.conv2d(x[:, :3], m.conv.weight * 2), "a weight is computed"),
            (lambda m, x: torch.cat([x, x]), "does not begin with the batch"),
            (lambda m, x: x.view(1, -1), "does not begin with the batch"),
            (lambda m, x: x if x.sum() > 0 else -x, "torch.fx says", "torch.export says")])


if __name__ == "__main__":
    unittest.main()
