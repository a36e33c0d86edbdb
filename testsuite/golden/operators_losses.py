# Defines each loss and metric in PyTorch: a row a sample, whose mean over the samples is the
# figure; or sums and weights, a pair of rows.
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from sklearn import metrics
from torchvision.ops import sigmoid_focal_loss


# PyTorch's scores are [n, c, h, w].
def by_class(scores):
    return scores.movedim(-1, 1)


# -2^31, which is no label, where all labels count.
def ignored(node):
    return node.ignore


# The mean over the batch, of the samples that are there: the same for each; 0
# where nothing counts, and where PyTorch has none.
def softmax_cross_entropy(net, node, logits, label, *_):
    if not node.settings:
        return F.cross_entropy(logits, label.long(), reduction="none")
    weights = node.class_weights or None
    if label.is_floating_point():   # probabilities
        loss = F.cross_entropy(
            by_class(logits[:net.samples]), by_class(label[:net.samples]),
            weights and torch.tensor(weights, dtype=torch.float64),
            label_smoothing=node.label_smoothing)
        return node.weight * loss.expand(len(logits))
    loss = F.cross_entropy(
        by_class(logits[:net.samples]), label[:net.samples].long(),
        weights and torch.tensor(weights, dtype=torch.float64),
        ignore_index=ignored(node), label_smoothing=node.label_smoothing)
    counts = (label[:net.samples] != ignored(node)).any()
    return node.weight * (loss if counts else 0 * logits.sum()).expand(len(logits))


# The same, of logarithms of probabilities.
def nll(net, node, scores, label, *_):
    weights = node.class_weights or None
    label = label[:net.samples].long()
    loss = F.nll_loss(by_class(scores[:net.samples]).contiguous(), label,
                      weights and torch.tensor(weights, dtype=torch.float64),
                      ignore_index=ignored(node))
    counts = (label != ignored(node)).any()
    return node.weight * (loss if counts else 0 * scores.sum()).expand(len(scores))


# The mean of a loss of two tensors over each sample.
def pair(loss, **settings):
    def rows(net, node, a, b, *_):
        given = {k: getattr(node, k) for k in settings}
        return node.weight * loss(a, b, reduction="none", **given) \
            .flatten(1).mean(1)
    return rows


# Where weight is beta, that is PyTorch's huber_loss.
def smooth_l1(net, node, *operands):
    if node.weight != node.beta or node.beta == 1:
        return pair(F.smooth_l1_loss, beta=1)(net, node, *operands)
    node = SimpleNamespace(weight=1, delta=node.beta)
    return pair(F.huber_loss, delta=1)(net, node, *operands)


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


# Rows such that the mean over all samples so far is the value, which is of all steps so far.
def rows_of_value(net, kept, value, batch):
    kept["samples"] += net.samples
    rows = torch.zeros(batch, dtype=torch.float64)
    rows[:net.samples] = (value * kept["samples"] - kept["sum"]) / net.samples
    kept["sum"] += rows.sum().item()
    return rows


# Predicted and labelled classes of all steps so far.
def predicted_so_far(net, node, logits, label):
    if net.step == 0:
        net.kept[node.result] = {"guess": [], "truth": [], "samples": 0, "sum": 0}
    kept = net.kept[node.result]
    guess = by_class(logits[:net.samples].detach()).argmax(1).flatten()
    truth = label[:net.samples].flatten().long()
    counts = truth != ignored(node)
    kept["guess"] += guess[counts].tolist()
    kept["truth"] += truth[counts].tolist()
    return kept


def mean_iou(net, node, logits, label, *_):
    kept = predicted_so_far(net, node, logits, label)
    classes = logits.shape[-1]
    pair = torch.tensor(kept["truth"]) * classes + torch.tensor(kept["guess"])
    hits = torch.bincount(pair.long(), minlength=classes**2).reshape(classes, classes)
    both = hits.diagonal()
    either = hits.sum(0) + hits.sum(1) - both
    mean = (both[either > 0] / either[either > 0]).mean().item() if either.any() else 0.0
    return rows_of_value(net, kept, mean, len(logits))


# scikit-learn's.
def class_ratio(score):
    def rows(net, node, logits, label, *_):
        kept = predicted_so_far(net, node, logits, label)
        average = ["macro", "micro", "binary"][node.average]
        value = score(kept["truth"], kept["guess"], average=average, zero_division=0)
        return rows_of_value(net, kept, value, len(logits))
    return rows


# scikit-learn's, of probabilities in bins: Keras' AUC.  A target has a number for each class.
def auc(net, node, logits, label, *_):
    if label.is_floating_point():
        return auc_of_targets(net, node, logits, label)
    if net.step == 0:
        net.kept[node.result] = {"bins": [], "truth": [], "samples": 0, "sum": 0}
    kept = net.kept[node.result]
    classes = logits.shape[-1]
    truth = label[:net.samples].flatten().long()
    counts = truth != ignored(node)
    scores = logits[:net.samples].detach().reshape(-1, classes)[counts].softmax(1)
    kept["bins"].append((scores * (node.thresholds - 1)).ceil().clamp(min=1))
    kept["truth"].append(truth[counts])
    bins, truth = torch.cat(kept["bins"]), torch.cat(kept["truth"])
    areas = [metrics.roc_auc_score(truth == c, bins[:, c])
             for c in ([1] if classes == 2 else range(classes))
             if 0 < (truth == c).sum() < len(truth)]
    if not areas:
        return torch.zeros(len(logits)), torch.zeros(len(logits))
    return rows_of_value(net, kept, sum(areas) / len(areas), len(logits))


def auc_of_targets(net, node, logits, target):
    if net.step == 0:
        net.kept[node.result] = {"bins": [], "truth": [], "samples": 0, "sum": 0}
    kept = net.kept[node.result]
    classes = logits.shape[-1]
    scores = logits[:net.samples].detach().reshape(-1, classes).sigmoid()
    kept["bins"].append((scores * (node.thresholds - 1)).ceil().clamp(min=1))
    kept["truth"].append(target[:net.samples].detach().reshape(-1, classes) >= 0.5)
    bins, truth = torch.cat(kept["bins"]), torch.cat(kept["truth"])
    occur = [c for c in range(classes) if 0 < truth[:, c].sum() < len(truth)]
    if not occur:
        return torch.zeros(len(logits)), torch.zeros(len(logits))
    area = metrics.roc_auc_score(truth[:, occur].numpy(), bins[:, occur].numpy(), average="macro")
    return rows_of_value(net, kept, area, len(logits))


LOSSES = {
    "softmax_cross_entropy": softmax_cross_entropy,
    "nll": nll,
    "mse": pair(F.mse_loss),
    "smooth_l1": smooth_l1,
    "mean_absolute_error": pair(F.l1_loss),
    "focal": pair(sigmoid_focal_loss, alpha=1, gamma=1),
    "binary_cross_entropy": pair(F.binary_cross_entropy_with_logits),
    "dice": dice,
    "accuracy": accuracy,
    "top_k": top_k,
    "mean_iou": mean_iou,
    "auc": auc,
    "precision": class_ratio(metrics.precision_score),
    "recall": class_ratio(metrics.recall_score),
    "f1": class_ratio(metrics.f1_score),
}
