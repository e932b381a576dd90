"""Boosted trees as whitebox/price/trees.h reads them, and the classes of chips that they know."""
import struct

import numpy as np
import product_data as data

CLASS_NAMES = {"ga100": "Ga100", "graphics": "Graphics", "hopper": "Hopper", "blackwell": "Blackwell"}
CLASSES = list(CLASS_NAMES)  # the number of a class is its place
GROUP_OF = {x: g for g, members in data.GROUPS.items() for x in members}
MOST = 0.4  # of the logarithm of the factor: x 0.67 to x 1.49
LEAF = 255  # in place of a feature


def nodes(tree):
    """A tree in preorder: (threshold or value, feature or LEAF, steps to the right child)."""
    if "leaf_value" in tree:
        return [(np.float32(tree["leaf_value"]), LEAF, 0)]
    left, right = nodes(tree["left_child"]), nodes(tree["right_child"])
    threshold = np.float32(tree["threshold"])
    if threshold > tree["threshold"]:
        threshold = np.nextafter(threshold, np.float32(-np.inf))  # no feature, a float32 too, changes its side
    return [(threshold, tree["split_feature"], 1 + len(left))] + left + right


def rounded(tree, step):
    """With leaves that are multiples of `step`, so that many are equal."""
    return [(np.float32(round(float(v) / step) * step), f, r) if f == LEAF else (v, f, r) for v, f, r in tree]


def to_bytes(trees, features):
    """trees: lists of nodes. Values stand once each, in the order of their bits."""
    flat = [node for tree in trees for node in tree]
    bits = np.array([v for v, *_ in flat], "<f4").view("<u4")
    values, places = np.unique(bits, return_inverse=True)
    if len(values) > 1 << 16 or max(map(len, trees)) >= 1 << 8:
        raise ValueError(f"{len(values)} values and trees of {max(map(len, trees))} nodes do not fit the format")
    out = struct.pack("<4sIIII", b"PFT2", features, len(trees), len(flat), len(values)) + values.tobytes()
    out += np.array([len(t) for t in trees], "<u2").tobytes()
    return out + b"".join(struct.pack("<HBB", p, f, r) for p, (_, f, r) in zip(places, flat))


def all_nodes(model, step=None):
    """Lists of nodes of a LightGBM model; with step, leaves are rounded to multiples of it."""
    found = [nodes(t["tree_structure"]) for t in model.dump_model()["tree_info"]]
    return [rounded(t, step) for t in found] if step else found


def sum_of(trees, x):
    """Of lists of nodes, as whitebox/price/trees.cpp walks them."""
    found = 0.0
    for nodes in trees:
        at = 0
        while nodes[at][1] != LEAF:
            at += 1 if x[nodes[at][1]] <= nodes[at][0] else nodes[at][2]
        found += float(nodes[at][0])
    return found


def of_model(model, features, step=None):
    return to_bytes(all_nodes(model, step), features)
