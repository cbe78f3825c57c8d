#!/usr/bin/python3
"""Networks exported by PyTorch, imported and run: their outputs against PyTorch's own.

    onnx_torch.py PATH_OF_TASKSPEC [NAME...]

Prints a line for each net: how far its output is from PyTorch's, relative to the largest, how long the import took.
Exit codes: 0 all within 1e-4, 1 some are not, 77 there is no PyTorch.
"""
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
    from torch import nn
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

LIMIT = 1e-4


class Residual(nn.Module):
    def __init__(self, i, o, stride, narrow=0):
        super().__init__()
        if narrow:  # of ResNet-50: narrow, spread, widen
            self.body = nn.Sequential(nn.Conv2d(i, narrow, 1, bias=False), nn.BatchNorm2d(narrow), nn.ReLU(),
                                      nn.Conv2d(narrow, narrow, 3, stride, 1, bias=False), nn.BatchNorm2d(narrow), nn.ReLU(),
                                      nn.Conv2d(narrow, o, 1, bias=False), nn.BatchNorm2d(o))
        else:
            self.body = nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                                      nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
        same = i == o and stride == 1
        self.short = nn.Identity() if same else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet(blocks, narrow):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels, wide = 64, 4 if narrow else 1
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for k in range(count):
            stride = 2 if stage > 0 and k == 0 else 1
            layers.append(Residual(channels, width * wide, stride, width if narrow else 0))
            channels = width * wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Inverted(nn.Module):
    def __init__(self, i, o, stride, factor):
        super().__init__()
        wide = i * factor
        layers = [] if factor == 1 else [nn.Conv2d(i, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6()]
        layers += [nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
                   nn.Conv2d(wide, o, 1, bias=False), nn.BatchNorm2d(o)]
        self.body, self.adds = nn.Sequential(*layers), i == o and stride == 1

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet():
    layers, channels = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()], 32
    for factor, o, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                     (6, 160, 3, 2), (6, 320, 1, 1)]:
        for k in range(count):
            layers.append(Inverted(channels, o, stride if k == 0 else 1, factor))
            channels = o
    return nn.Sequential(*layers, nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


def vgg11():
    layers, channels = [], 3
    for o in [64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0]:
        layers += [nn.Conv2d(channels, o, 3, padding=1), nn.ReLU()] if o else [nn.MaxPool2d(2, 2)]
        channels = o or channels
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 256), nn.ReLU(), nn.Dropout(), nn.Linear(256, 10))


class Block(nn.Module):
    """A block of a transformer, attention written out."""

    def __init__(self, heads=4, size=16):
        super().__init__()
        n = heads * size
        self.heads, self.size = heads, size
        self.norm1, self.norm2 = nn.LayerNorm(n), nn.LayerNorm(n)
        self.qkv, self.out = nn.Linear(n, 3 * n), nn.Linear(n, n)
        self.up, self.down = nn.Linear(n, 4 * n), nn.Linear(4 * n, n)

    def forward(self, x):
        b, t, n = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        found = F.softmax(q @ k.transpose(-2, -1) / self.size ** 0.5, -1) @ v
        x = x + self.out(found.permute(0, 2, 1, 3).reshape(b, t, n))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.cell = kind(6, 8, batch_first=True, **more)
        self.last = nn.Linear(16 if more.get("bidirectional") else 8, 3)

    def forward(self, x):
        return self.last(self.cell(x)[0])


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 10))


def cases():
    """Name, net, shape of its input, and the extents that stay open."""
    yield "mlp", nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Sigmoid(), nn.Linear(16, 3), nn.Softmax(1)), (4, 8), {0: "batch"}
    yield "lenet", lenet(), (2, 1, 28, 28), {0: "batch"}
    yield "resnet18", resnet([2, 2, 2, 2], False), (1, 3, 64, 64), None
    yield "resnet50", resnet([3, 4, 6, 3], True), (1, 3, 64, 64), None
    yield "mobilenetv2", mobilenet(), (1, 3, 64, 64), None
    yield "vgg11", vgg11(), (1, 3, 32, 32), None
    yield "transformer", nn.Sequential(Block(), Block()), (2, 10, 64), None
    yield "transformer_batch", Block(), (2, 10, 64), {0: "batch"}
    yield "encoder", nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (2, 7, 32), None
    for length in (1, 5, 12):
        yield "lstm%d" % length, Recurrent(nn.LSTM), (2, length, 6), None
    yield "lstm_open", Recurrent(nn.LSTM), (2, 9, 6), {1: "time"}
    yield "lstm_both", Recurrent(nn.LSTM, num_layers=2, bidirectional=True), (2, 5, 6), None
    yield "gru", Recurrent(nn.GRU), (2, 5, 6), None
    yield "rnn", Recurrent(nn.RNN), (2, 5, 6), None


def settle(net):
    """Statistics of batch norms that are not those they begin with."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2)


def check(tool, name, net, shape, open_extents, folder):
    torch.manual_seed(sum(map(ord, name)))
    net.eval()
    settle(net)
    x = torch.rand(shape)
    with torch.no_grad():
        wanted = net(x).numpy()
    model = os.path.join(folder, name + ".onnx")
    torch.onnx.export(net, x, model, input_names=["x"], output_names=["y"], opset_version=13,
                      dynamic_axes={"x": open_extents, "y": {}} if open_extents else None)
    np.save(os.path.join(folder, "x.npy"), x.numpy())
    begin = time.time()
    subprocess.run([tool, "import", model, "-o", name + ".task"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    took = time.time() - begin
    kind = "[%s]" % ", ".join(map(str, shape))
    with open(os.path.join(folder, "main.task"), "w") as text:
        text.write('import %s as net\nsave(net.%s(load(f32%s, "x.npy")).y, "y.npy")\n' % (name, name, kind))
    subprocess.run([tool, "run", "main.task"], cwd=folder, check=True)
    got = np.load(os.path.join(folder, "y.npy"))
    apart = np.abs(got - wanted).max() / np.abs(wanted).max() if got.shape == wanted.shape else float("inf")
    print("%-18s %.1e apart, imported in %.2f s, %.1f MB" % (name, apart, took, os.path.getsize(model) / 1e6))
    return apart <= LIMIT


def main():
    import warnings
    warnings.filterwarnings("ignore")
    tool, only, good = os.path.abspath(sys.argv[1]), sys.argv[2:], True
    with tempfile.TemporaryDirectory() as folder:
        for name, net, shape, open_extents in cases():
            if only and name not in only:
                continue
            try:
                good = check(tool, name, net, shape, open_extents, folder) and good
            except subprocess.CalledProcessError as error:
                print("%-18s fails: %s" % (name, error))
                good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
