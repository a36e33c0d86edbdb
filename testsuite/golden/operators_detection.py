# The operators of a single-shot detector, in PyTorch: anchors, the boxes decoded from them, and the
# loss with its matching (torchvision's, with TensorFlow's anchors).
import torch
import torch.nn.functional as F


# [anchors, 4]: the middle, width and height of each, in the order map, row,
# column, box.
def anchors(node):
    rows, sizes = [], list(zip(node.sizes[::2], node.sizes[1::2]))
    for side, count in zip(node.maps, node.counts):
        side, count = int(side), int(count)
        for cell in range(side * side):
            x, y = (cell % side + 0.5) / side, (cell // side + 0.5) / side
            rows += [(x, y, w, h) for w, h in sizes[:count]]
        sizes = sizes[count:]
    return torch.tensor(rows)


def middle(corners):
    low, high = corners[..., :2], corners[..., 2:]
    return torch.cat([(low + high) / 2, high - low], -1)


def decode_boxes(net, node, x):
    a = anchors(node)
    centre = a[:, :2] + x[..., :2] / 10 * a[:, 2:]
    size = a[:, 2:] * (x[..., 2:] / 5).exp()
    return torch.cat([centre - size / 2, centre + size / 2], -1)


# [a, b]: of each box of a with each of b.
def overlap(a, b):
    a, b = a[:, None], b[None]
    low = torch.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = torch.minimum(a[..., :2] + a[..., 2:] / 2,
                         b[..., :2] + b[..., 2:] / 2)
    both = (high - low).clamp(min=0).prod(-1)
    either = a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - both
    return torch.where(either > 0, both / either, torch.zeros_like(both))


# The number of each anchor's box, or -1.
def match(a, boxes, labels, least):
    there = ((labels > 0) & (boxes[:, 2:] > 0).all(1)).nonzero().flatten().tolist()
    found = torch.full([len(a)], -1)
    if not there:
        return found
    table = overlap(a, boxes[there])
    most, best = table.max(1)
    for i in range(len(a)):
        if most[i] >= least and most[i] > 0:
            found[i] = there[best[i]]
    for i, box in enumerate(there):
        found[table[:, i].argmax()] = box
    return found


# The costliest of the background, as many as `limit`.
def hardest(found, entropy, limit):
    order = sorted((a for a in range(len(found)) if found[a] < 0),
                   key=lambda a: (-entropy[a].item(), a))
    chosen = found >= 0
    chosen[[a for rank, a in enumerate(order) if rank < limit]] = True
    return chosen


def multibox(net, node, locations, scores, boxes, labels, *made):
    a, rows, positives = anchors(node), [], 0
    for n in range(net.samples):
        found = match(a, middle(boxes[n]), labels[n], node.overlap)
        told = found >= 0
        kinds = torch.where(told, labels[n][found.clamp(min=0)], 0).long()
        entropy = F.cross_entropy(scores[n], kinds, reduction="none")
        counts = hardest(found, entropy, node.negatives * int(told.sum()))
        box = middle(boxes[n])[found[told]]
        code = torch.cat([10 * (box[:, :2] - a[told, :2]) / a[told, 2:],
                          5 * (box[:, 2:] / a[told, 2:]).log()], -1)
        rows.append(entropy[counts].sum() + F.smooth_l1_loss(
            locations[n][told], code, reduction="sum"))
        positives += int(told.sum())
    rows += [torch.zeros([])] * (len(scores) - len(rows))
    return node.weight * net.samples / max(positives, 1) * torch.stack(rows)


DETECTION = {"decode_boxes": decode_boxes, "multibox": multibox}
