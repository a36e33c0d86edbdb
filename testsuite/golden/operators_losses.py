# Defines each loss and metric in PyTorch: a row a sample, whose mean over the samples is the
# figure; or sums and weights, a pair of rows.
import torch
import torch.nn.functional as F


# PyTorch's scores are [n, c, h, w].
def by_class(scores):
    return scores.movedim(-1, 1)


def ignored(node):
    return -100 if node.ignore < 0 else node.ignore


# The mean over the batch, of the samples that are there: the same for each; 0
# where nothing counts, and where PyTorch has none.
def softmax_cross_entropy(net, node, logits, label, *_):
    if not node.settings:
        return F.cross_entropy(logits, label.long(), reduction="none")
    weights = node.class_weights or None
    loss = F.cross_entropy(
        by_class(logits[:net.samples]), label[:net.samples].long(),
        weights and torch.tensor(weights, dtype=torch.float64),
        ignore_index=ignored(node), label_smoothing=node.label_smoothing)
    counts = (label[:net.samples] != ignored(node)).any()
    return node.weight * (loss if counts else 0 * logits.sum()).expand(len(logits))


# The mean of a loss of two tensors over each sample.
def pair(loss, **settings):
    def rows(net, node, a, b, *_):
        given = {k: getattr(node, k) for k in settings}
        return node.weight * loss(a, b, reduction="none", **given) \
            .flatten(1).mean(1)
    return rows


def dice(net, node, logits, target, *_):
    p, t = torch.sigmoid(logits).flatten(1), target.flatten(1)
    overlap = (2 * (p * t).sum(1) + node.smooth) / (p.sum(1) + t.sum(1) +
                                                    node.smooth)
    return node.weight * (1 - overlap)


# How many of a sample's labels are right, and how many count.
def accuracy(net, node, logits, label, *_):
    right = (by_class(logits).argmax(1) == label).double().reshape(len(label), -1)
    counts = (label != ignored(node)).double().reshape(len(label), -1)
    return (right * counts).sum(1), counts.sum(1)


# A stable sort: of equals the first comes first.
def top_k(net, node, logits, label):
    order = torch.sort(logits, dim=1, descending=True, stable=True).indices
    found = (order[:, :node.k] == label[:, None]).any(1).double()
    counts = (label != ignored(node)).double()
    return found * counts, counts


# Over all steps so far; rows are such that the mean over all samples so far is correct.
def mean_iou(net, node, logits, label, *_):
    if net.step == 0:
        net.kept[node.result] = {"hits": 0, "samples": 0, "sum": 0}
    kept = net.kept[node.result]
    classes = logits.shape[-1]
    guess = by_class(logits[:net.samples].detach()).argmax(1).flatten()
    truth = label[:net.samples].flatten().long()
    pair = (truth * classes + guess)[truth != ignored(node)]
    kept["hits"] += torch.bincount(pair, minlength=classes**2) \
        .reshape(classes, classes)
    both = kept["hits"].diagonal()
    either = kept["hits"].sum(0) + kept["hits"].sum(1) - both
    mean = (both[either > 0] / either[either > 0]).mean().item() \
        if either.any() else 0.0
    kept["samples"] += net.samples
    rows = torch.zeros(len(logits), dtype=torch.float64)
    rows[:net.samples] = (mean * kept["samples"] - kept["sum"]) / net.samples
    kept["sum"] += rows.sum().item()
    return rows


LOSSES = {
    "softmax_cross_entropy": softmax_cross_entropy,
    "mse": pair(F.mse_loss),
    "smooth_l1": pair(F.smooth_l1_loss, beta=1),
    "binary_cross_entropy": pair(F.binary_cross_entropy_with_logits),
    "dice": dice,
    "accuracy": accuracy,
    "top_k": top_k,
    "mean_absolute_error": lambda net, node, a, b, *_:
        (a - b).abs().flatten(1).mean(1),
    "mean_iou": mean_iou,
}
