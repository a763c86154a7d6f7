"""Losses of PyTorch for the models of vit_test.cc and resnet_test.cc: the file torch_losses.txt.

    torch_losses.py           prints the lines
    torch_losses.py --check   compares them with the file; status 77, "skipped", without PyTorch
"""

import math
import sys
from pathlib import Path

FILE = Path(__file__).with_name("torch_losses.txt")
STEPS = 6
APART = 5e-6  # PyTorch's own were 2.2e-6 from the file's on another processor, after six steps

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: there is no PyTorch here")
    sys.exit(77)


def made_up(shape, k, spread, centre=0.0):
    """As made_up_values.h."""
    count = math.prod(shape)
    angles = 12.9898 * torch.arange(1, count + 1, dtype=torch.float64) + 78.233 * (k + 1)
    return (centre + spread * torch.sin(angles)).to(torch.float32).reshape(shape)


def parameters(shapes):
    """By name; `shapes` in the order of named_parameters()."""
    made = {}
    for k, (name, shape) in enumerate(shapes.items()):
        if name.endswith("scale"):
            value = made_up(shape, k, 0.1, 1.0)
        else:
            value = made_up(shape, k, 0.05 if len(shape) == 1 else 0.2)
        made[name] = value.requires_grad_()
    return made


def train(forward, weights, images, labels):
    optimizer = torch.optim.SGD(weights.values(), lr=0.1)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(weights, images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


VIT = {"d": 16, "heads": 4, "layers": 2, "hidden": 32, "patch": 4, "image": 8, "classes": 5}


def vit_shapes():
    d, hidden = VIT["d"], VIT["hidden"]
    shapes = {"class_token": (1, 1, d), "patches.weight": (3 * VIT["patch"] ** 2, d), "patches.bias": (d,),
              "position_embedding": ((VIT["image"] // VIT["patch"]) ** 2 + 1, d)}
    for i in range(VIT["layers"]):
        p = f"layer{i}."
        shapes |= {p + "norm_attention.scale": (d,), p + "norm_attention.shift": (d,),
                   p + "qkv.weight": (d, 3 * d), p + "qkv.bias": (3 * d,),
                   p + "projection.weight": (d, d), p + "projection.bias": (d,),
                   p + "norm_mlp.scale": (d,), p + "norm_mlp.shift": (d,),
                   p + "up.weight": (d, hidden), p + "up.bias": (hidden,),
                   p + "down.weight": (hidden, d), p + "down.bias": (d,)}
    return shapes | {"final_norm.scale": (d,), "final_norm.shift": (d,), "head": (d, VIT["classes"])}


def vit_forward(w, images):
    d, heads = VIT["d"], VIT["heads"]

    def norm(x, name):
        return F.layer_norm(x, (d,), w[name + ".scale"], w[name + ".shift"], eps=1e-6)

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    kernel = w["patches.weight"].T.reshape(d, 3, VIT["patch"], VIT["patch"])
    x = F.conv2d(images, kernel, w["patches.bias"], stride=VIT["patch"]).flatten(2).transpose(1, 2)
    batch = x.shape[0]
    x = torch.cat([w["class_token"].expand(batch, 1, d), x], dim=1) + w["position_embedding"]
    for i in range(VIT["layers"]):
        p = f"layer{i}."
        qkv = linear(norm(x, p + "norm_attention"), p + "qkv").reshape(batch, -1, heads, 3, d // heads)
        q, k, v = (qkv[:, :, :, part].transpose(1, 2) for part in range(3))
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, -1, d)
        x = x + linear(mixed, p + "projection")
        x = x + linear(F.gelu(linear(norm(x, p + "norm_mlp"), p + "up")), p + "down")
    return norm(x[:, 0], "final_norm") @ w["head"]


def vit_losses():
    return train(vit_forward, parameters(vit_shapes()), made_up((4, 3, 8, 8), 100, 1.0), torch.tensor([0, 3, 1, 4]))


RESNET = {"blocks": (1, 2), "width": 6, "image": 8, "classes": 5}


def resnet_blocks():
    """(name, channels in and out, stride) of each."""
    width = RESNET["width"]
    for stage, count in enumerate(RESNET["blocks"]):
        out = width if stage == 0 else 2 * width
        for block in range(count):
            yield f"stage{stage}_block{block}.", width, out, 2 if stage > 0 and block == 0 else 1
            width = out


def resnet_shapes():
    def conv_and_norm(conv, norm, c, m, size):
        return {conv + ".weight": (m, c, size, size), norm + ".scale": (m,), norm + ".shift": (m,)}

    shapes = conv_and_norm("input.conv", "input.norm", 3, RESNET["width"], 3)
    for p, c, m, _ in resnet_blocks():
        shapes |= conv_and_norm(p + "conv1", p + "norm1", c, m, 3) | conv_and_norm(p + "conv2", p + "norm2", m, m, 3)
        if c != m:
            shapes |= conv_and_norm(p + "shortcut", p + "shortcut_norm", c, m, 1)
    return shapes | {"head.linear.weight": (m, RESNET["classes"]), "head.linear.bias": (RESNET["classes"],)}


def resnet_forward(w, images):
    def normed(x, conv, norm, stride=1, padding=1):
        y = F.conv2d(x, w[conv + ".weight"], stride=stride, padding=padding)
        return F.batch_norm(y, None, None, w[norm + ".scale"], w[norm + ".shift"], training=True)

    x = F.relu(normed(images, "input.conv", "input.norm"))
    for p, c, m, stride in resnet_blocks():
        y = F.relu(normed(x, p + "conv1", p + "norm1", stride))
        y = normed(y, p + "conv2", p + "norm2")
        x = F.relu(y + (x if c == m else normed(x, p + "shortcut", p + "shortcut_norm", stride, 0)))
    return x.mean((2, 3)) @ w["head.linear.weight"] + w["head.linear.bias"]


def resnet_losses():
    return train(resnet_forward, parameters(resnet_shapes()), made_up((4, 3, 8, 8), 100, 1.0),
                 torch.tensor([0, 3, 1, 4]))


MODELS = {"vit": vit_losses, "resnet": resnet_losses}


def main():
    lines = [f"{name} {' '.join(f'{loss:.8f}' for loss in losses())}" for name, losses in MODELS.items()]
    if "--check" not in sys.argv:
        print("\n".join(lines))
        return 0
    recorded = FILE.read_text(encoding="utf-8").split()
    for here, there in zip(" ".join(lines).split(), recorded, strict=True):
        if here != there and abs(float(here) - float(there)) > APART:
            print(f"{here} here, {there} in {FILE}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
