#!/usr/bin/python3
"""The digits that data.digits draws, as a task for learners that share nothing with ours.

digits.py TASKSPEC [ROWS]    prints what each learner gets right of the held-back digits; exits 1 if that is not as it
                             should be, 77 without numpy

They must be hard enough: a linear classifier stays below 92 %. And they must be learnable: with 60000 rows, a network
with 128 hidden neurons reaches 97.5 %, LeNet 98.8 % (`digits.py TASKSPEC 60000 lenet`, some minutes).
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

BATCH = 64
PROGRAM = """import data.digits as digits
let rows = 60000
let (x, y) = digits.train(rows)
save((x * 255.0).round() as u8[rows, 784], "train_x.npy")
save(y, "train_y.npy")
let (u, v) = digits.held_back(4000)
save((u * 255.0).round() as u8[4000, 784], "held_x.npy")
save(v, "held_y.npy")
"""


def drawn(tool, rows):
    """(training images, their digits, held-back images, their digits)"""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "draw.task"), "w") as program:
            program.write(PROGRAM)
        subprocess.run([tool, "run", "draw.task", "-D", "rows=%d" % rows], cwd=folder, check=True)
        return [np.load(os.path.join(folder, name + ".npy")) for name in ("train_x", "train_y", "held_x", "held_y")]


class Dense:
    def __init__(self, rng, inputs, outputs, relu):
        self.w = (rng.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype("f")
        self.b = np.zeros(outputs, "f")
        self.relu = relu

    def forward(self, x):
        self.x = x
        y = x @ self.w + self.b
        self.passed = y > 0
        return y * self.passed if self.relu else y

    def backward(self, g):
        if self.relu:
            g = g * self.passed
        self.gradients = {"w": self.x.T @ g, "b": g.sum(0)}
        return g @ self.w.T


class Convolution:
    """k by k without padding, relu, and the largest of each 2 by 2."""

    def __init__(self, rng, inputs, outputs, k):
        self.k = k
        self.w = (rng.standard_normal((inputs * k * k, outputs)) * np.sqrt(2 / (inputs * k * k))).astype("f")
        self.b = np.zeros(outputs, "f")

    def forward(self, x):
        self.shape = x.shape
        windows = np.lib.stride_tricks.sliding_window_view(x, (self.k, self.k), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
        n, h, w = windows.shape[:3]
        self.columns = windows.reshape(n * h * w, -1)
        y = self.columns @ self.w + self.b
        self.passed = y > 0
        y = (y * self.passed).reshape(n, h // 2, 2, w // 2, 2, -1).transpose(0, 5, 1, 3, 2, 4)
        y = y.reshape(n, -1, h // 2, w // 2, 4)
        self.best = y.argmax(-1)[..., None]
        return np.take_along_axis(y, self.best, -1)[..., 0]

    def backward(self, g):
        n, c, h, w = g.shape
        spread = np.zeros((n, c, h, w, 4), "f")
        np.put_along_axis(spread, self.best, g[..., None], -1)
        g = spread.reshape(n, c, h, w, 2, 2).transpose(0, 2, 4, 3, 5, 1).reshape(-1, c) * self.passed
        self.gradients = {"w": self.columns.T @ g, "b": g.sum(0)}
        back = np.zeros(self.shape, "f")
        g = (g @ self.w.T).reshape(n, 2 * h, 2 * w, self.shape[1], self.k, self.k)
        for i in range(self.k):
            for j in range(self.k):
                back[:, :, i:i + 2 * h, j:j + 2 * w] += g[..., i, j].transpose(0, 3, 1, 2)
        return back


class Shape:
    gradients = {}

    def __init__(self, *shape):
        self.shape = shape

    def forward(self, x):
        self.before = x.shape
        return x.reshape(len(x), *self.shape)

    def backward(self, g):
        return g.reshape(self.before)


def outputs(net, x):
    for layer in net:
        x = layer.forward(x)
    return x


def right(net, x, y):
    """Per cent."""
    hits = 0
    for k in range(0, len(x), 500):
        hits += (outputs(net, x[k:k + 500] / np.float32(255)).argmax(1) == y[k:k + 500]).sum()
    return 100.0 * hits / len(x)


def train(net, data, epochs, rate, rng):
    """Softmax and cross entropy, momentum 0.9, a rate that falls to 0. What it gets right in the end."""
    x, y, held_x, held_y = data
    steps, step, speed = epochs * (len(x) // BATCH), 0, {}
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for k in range(0, len(x) - BATCH + 1, BATCH):
            rows = order[k:k + BATCH]
            logits = outputs(net, x[rows] / np.float32(255))
            g = np.exp(logits - logits.max(1, keepdims=True))
            g /= g.sum(1, keepdims=True)
            g[np.arange(BATCH), y[rows]] -= 1
            g /= BATCH
            for layer in reversed(net):
                g = layer.backward(g)
            for layer in net:
                for name, gradient in layer.gradients.items():
                    key = id(layer), name
                    speed[key] = 0.9 * speed.get(key, 0) + gradient
                    getattr(layer, name)[...] -= np.float32(rate * (1 - step / steps)) * speed[key]
            step += 1
    return right(net, held_x, held_y)


def main():
    tool = os.path.abspath(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    rng = np.random.default_rng(1)
    data = drawn(tool, rows)
    whole = rows >= 60000
    linear = train([Dense(rng, 784, 10, False)], data, 4, 0.02, rng)
    hidden = train([Dense(rng, 784, 128, True), Dense(rng, 128, 10, False)], data, 4, 0.05, rng)
    print("held back, after 4 epochs of %d: linear %.2f %%, 128 hidden %.2f %%" % (rows, linear, hidden))
    good = linear < 92 and linear > 50 and hidden > (97.5 if whole else 85)
    if len(sys.argv) > 3:
        layers = [Shape(1, 28, 28), Convolution(rng, 1, 6, 5), Convolution(rng, 6, 16, 5), Shape(256)]
        layers += [Dense(rng, 256, 120, True), Dense(rng, 120, 84, True), Dense(rng, 84, 10, False)]
        lenet = train(layers, data, 3, 0.02, rng)
        print("LeNet, after 3 epochs: %.2f %%" % lenet)
        good = good and lenet >= (98.8 if whole else 85)
    sys.exit(0 if good else 1)


main()
