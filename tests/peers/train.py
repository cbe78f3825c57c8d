#!/usr/bin/python3
"""Training against PyTorch: outputs, losses, gradients and three updates of five networks from the same first weights.

train.py TASKSPEC [NET...]    prints one line per case, and one per difference; exits 1 if there is one, 77 without torch

The networks of ours are tests/peers/nets/*.task. What starts at random is asked of the tool by seed and stream, what is
theirs to begin with comes as .npy files. A tensor differs if an element is off by more than 1e-4 of the largest one,
or of what a gradient that is zero but for rounding is made of. PyTorch computes in f64, so that what is off is ours.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print("skipped: %s is not installed (Debian: python3-torch, python3-numpy)" % missing.name)
    sys.exit(77)

TOLERANCE = 1e-4
UPDATES = 3


# ---- first values: of layers as nn has them, and of files ------------------------------------------------------------

def stream(path):
    """FNV-1a of what a slot is called."""
    code = 0x811C9DC5
    for byte in path.encode():
        code = (code ^ byte) * 0x01000193 & 0xFFFFFFFF
    return code


def linear(name, i, o, seed):
    return [(name + ".w", (o, i), "glorot_uniform(%%s, seed: %d" % seed), (name + ".b", (o,), 0.0)]


def convolution(name, i, o, k, seed):
    first = 'kaiming_normal(%%s, mode: "fan_in", seed: %d' % seed
    return [(name + ".w", (o, i, k, k), first), (name + ".b", (o,), 0.0)]


def norm(name, n):
    return [(name + ".scale", (n,), 1.0), (name + ".shift", (n,), 0.0)]


def embedding(name, n, d, seed):
    return [(name + ".rows", (n, d), "normal(%%s, seed: %d" % seed)]


def extents(shape):
    return "[%s]" % ", ".join(map(str, shape))


# ---- the networks: what they are fed, their weights, and what PyTorch makes of them ----------------------------------

class Net:
    """`slots`: weights by name, with shape and first value. `outputs` is the prediction of weights p. `kept` are the
    statistics of norms, `shows` the outputs of a task `weights`, `without_effect` how biases before norms end."""
    kept, arguments, shows, without_effect = {}, "", {}, ()

    def __init__(self, rng):
        self.rng = rng

    def reals(self, *shape):
        return self.rng.standard_normal(shape).astype("f")

    def probabilities(self, *shape):
        e = np.exp(self.rng.standard_normal(shape))
        return (e / e.sum(-1, keepdims=True)).astype("f")

    def labels(self, n, *shape):
        return self.rng.integers(0, n, shape)


class LeNet(Net):
    module, agent, outside = "lenet", "LeNet", (6, 10)

    def slots(self):
        (w1, b1), (w2, b2) = convolution("", 1, 6, 5, 1), convolution("", 6, 16, 5, 2)
        own = [("w1", *w1[1:]), ("b1", *b1[1:]), ("w2", *w2[1:]), ("b2", *b2[1:])]
        return own + linear("f1", 256, 120, 3) + linear("f2", 120, 84, 4) + linear("f3", 84, 10, 5)

    def inputs(self):
        return [self.reals(6, 1, 28, 28)]

    def outputs(self, p, x, training):
        a = F.max_pool2d(F.relu(F.conv2d(x, p["w1"], p["b1"])), 2)
        a = F.avg_pool2d(F.relu(F.conv2d(a, p["w2"], p["b2"])), 2).flatten(1)
        a = F.relu(F.linear(a, p["f1.w"], p["f1.b"]))
        return F.linear(torch.tanh(F.linear(a, p["f2.w"], p["f2.b"])), p["f3.w"], p["f3.b"])


class ResNet20(Net):
    # The fewer numbers pass a relu, the less likely is one so near 0 that rounding decides on its gradient.
    module, agent, outside, side, bent = "resnet20", "ResNet20", (4, 10), 16, staticmethod(F.relu)
    without_effect = ("c.b", "c1.b", "c2.b")
    blocks = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2

    def slots(self):
        slots = convolution("c", 3, 16, 3, 100) + norm("n", 16)
        for k, (i, o, _) in enumerate(self.blocks):
            name = "blocks[%d]." % k
            slots += convolution(name + "c1", i, o, 3, k + 1) + norm(name + "n1", o)
            slots += convolution(name + "c2", o, o, 3, k + 1) + norm(name + "n2", o)
        return slots + linear("f", 64, 10, 200)

    def inputs(self):
        return [self.reals(self.outside[0], 3, self.side, self.side)]

    def normal(self, p, name, x, training):
        n = x.shape[1]
        if name not in self.kept:
            self.kept = {**self.kept, name: (torch.zeros(n), torch.ones(n))}
        return F.batch_norm(x, *self.kept[name], p[name + ".scale"], p[name + ".shift"], training, 0.1, 1e-5)

    def outputs(self, p, x, training):
        def convolved(name, x, stride=1):
            return F.conv2d(x, p[name + ".w"], p[name + ".b"], stride=stride, padding=1)
        x = self.bent(self.normal(p, "n", convolved("c", x), training))
        for k, (i, o, stride) in enumerate(self.blocks):
            name = "blocks[%d]." % k
            y = self.bent(self.normal(p, name + "n1", convolved(name + "c1", x, stride), training))
            y = self.normal(p, name + "n2", convolved(name + "c2", y), training)
            x = self.bent(y + F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, (o - i) // 2, (o - i) // 2)))
        return F.linear(x.mean((2, 3)), p["f.w"], p["f.b"])


class SmoothResNet20(ResNet20):
    arguments, outside, side, bent = "smooth: true", (8, 10), 32, staticmethod(F.elu)


class Dlrm(Net):
    module, agent, outside = "dlrm", "Dlrm", (16, 1)

    def slots(self):
        tables = [slot for k in range(3) for slot in embedding("tables[%d]" % k, 10 + k, 8, 3)]
        return (linear("b1", 13, 32, 1) + linear("b2", 32, 8, 2) + tables + embedding("bags", 7, 8, 4) +
                linear("t1", 18, 16, 5) + linear("t2", 16, 1, 6))

    def inputs(self):
        return [self.reals(16, 13), self.labels(10, 16, 3), self.labels(7, 16, 4)]

    def outputs(self, p, x, words, bag, training):
        x = F.relu(F.linear(F.relu(F.linear(x, p["b1.w"], p["b1.b"])), p["b2.w"], p["b2.b"]))
        rows = [x] + [F.embedding(words[:, k], p["tables[%d].rows" % k]) for k in range(3)]
        mean, total = (F.embedding_bag(bag, p["bags.rows"], mode=mode) for mode in ("mean", "sum"))
        rows.append(mean + total)
        rows = torch.stack(rows, 1)
        i, j = torch.tril_indices(5, 5, -1)
        x = torch.cat([x, (rows @ rows.transpose(1, 2))[:, i, j]], 1)
        return F.linear(F.relu(F.linear(x, p["t1.w"], p["t1.b"])), p["t2.w"], p["t2.b"])


class Transformer(Net):
    module, agent, outside = "transformer", "Transformer", (3, 10, 32)

    def slots(self):
        slots = []
        for name, seed in (("first.", 1), ("second.", 2)):
            slots += norm(name + "norm1", 32)
            for w in ("wq", "wk", "wv", "wo"):
                slots.append((name + "attention." + w, (32, 32), "glorot_uniform(%%s, seed: %d" % seed))
            slots += norm(name + "norm2", 32) + linear(name + "up", 32, 64, seed) + linear(name + "down", 64, 32, seed)
        return slots

    def inputs(self):
        return [self.reals(3, 10, 32)]

    def outputs(self, p, x, training):
        for name, causal in (("first.", False), ("second.", True)):
            def normal(which, x):
                return F.layer_norm(x, (32,), p[name + which + ".scale"], p[name + which + ".shift"])
            a = normal("norm1", x)
            b, t = x.shape[:2]
            q, k, v = ((a @ p[name + "attention." + w].T).view(b, t, 4, 8).transpose(1, 2) for w in ("wq", "wk", "wv"))
            fits = q @ k.transpose(2, 3) / 8 ** 0.5
            if causal:
                fits = fits.masked_fill(torch.ones(t, t).triu(1).bool(), -1e30)
            found = (fits.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 32)
            x = x + found @ p[name + "attention.wo"].T
            a = F.gelu(F.linear(normal("norm2", x), p[name + "up.w"], p[name + "up.b"]))
            x = x + F.linear(a, p[name + "down.w"], p[name + "down.b"])
        return x


class Lstm(Net):
    module, agent, outside = "lstm", "Lstm", (4, 5)
    shows = {"w": "w0", "u": "u0", "b": "b0", "o": "o0"}

    def slots(self):
        return [(name, shape, None) for name, shape in (("w", (48, 8)), ("u", (48, 12)), ("b", (48,)), ("o", (5, 12)))]

    def inputs(self):
        return [self.reals(6, 4, 8)]

    def outputs(self, p, x, training):
        h = c = torch.zeros(4, 12)
        for t in range(6):
            h, c = torch.lstm_cell(x[t], (h, c), p["w"], p["u"], p["b"], torch.zeros(48))
        return h @ p["o"].T


# ---- losses and optimizers: their text in both -----------------------------------------------------------------------

LOSSES = {"mse_avg": F.mse_loss, "mse_sum": lambda y, t: F.mse_loss(y, t, reduction="sum"),
          "categorical_crossentropy": F.cross_entropy, "sparse_categorical_crossentropy": F.cross_entropy,
          "identity": lambda y, t: y.sum() / y.shape[0], "of_pairs": F.binary_cross_entropy_with_logits}
OF_PAIRS = """fn of_pairs(y: f32[B, 1], t: f32[B, 1]) -> f32 {
  return (maximum(y, 0.0) - y * t + log(exp(-abs(y)) + 1.0)).mean()
}
"""
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def rule(name, **options):
    return name, options


def in_torch(optimizer, weights):
    name, options = optimizer
    options = dict(options)
    if "beta1" in options:
        options["betas"] = (options.pop("beta1"), options.pop("beta2"))
    return OPTIMIZERS[name](weights, **options)


def in_text(optimizer):
    name, options = optimizer
    return "%s(%s)" % (name, ", ".join("%s: %s" % (k, str(v).lower()) for k, v in options.items()))


PLAIN, DECAYS = rule("sgd", lr=0.01), rule("sgd", lr=0.05, weight_decay=0.1)
HEAVY = rule("sgd", lr=0.01, momentum=0.9, weight_decay=0.0005)
AHEAD = rule("sgd", lr=0.02, momentum=0.9, nesterov=True, weight_decay=0.01)
ADAM = rule("adam", lr=0.002, beta1=0.8, beta2=0.99, eps=1e-6, weight_decay=0.02)
ADAMW = rule("adamw", lr=0.002, beta1=0.9, beta2=0.98, eps=1e-6, weight_decay=0.1)
SPARSE, SOFT = "sparse_categorical_crossentropy", "categorical_crossentropy"
CASES = [
    (LeNet, SPARSE, AHEAD, 0), (LeNet, SOFT, ADAMW, 0),
    (LeNet, "mse_avg", DECAYS, 0), (LeNet, "identity", PLAIN, 0), (LeNet, "mse_sum", ADAM, 0.5),
    (ResNet20, SPARSE, HEAVY, 0),
    (SmoothResNet20, SOFT, AHEAD, 0), (SmoothResNet20, SPARSE, PLAIN, 0.25),
    (Dlrm, "of_pairs", ADAM, 0), (Dlrm, "mse_avg", AHEAD, 0), (Dlrm, "mse_sum", PLAIN, 0.1),
    (Transformer, "mse_avg", ADAMW, 0),
    (Transformer, "mse_sum", rule("adam", lr=0.001), 1.0),
    (Transformer, "mse_avg", HEAVY, 0),
    (Lstm, SPARSE, ADAM, 0), (Lstm, SOFT, HEAVY, 0.5), (Lstm, "mse_sum", ADAMW, 0), (Lstm, "identity", DECAYS, 0),
]


# ---- one case --------------------------------------------------------------------------------------------------------

class Case:
    def __init__(self, tool, folder, net, loss, optimizer, clip):
        self.tool, self.folder, self.loss, self.optimizer, self.clip = tool, folder, loss, optimizer, clip
        self.net = net(np.random.default_rng(1))
        self.name = "%s(%s), %s, %s" % (self.net.agent, self.net.arguments, loss, in_text(optimizer))
        if clip:
            self.name += ", clipped at %g" % clip
        self.worst, self.wrong, self.compared = (0.0, "nothing"), [], 0
        self.rows = [[*self.net.inputs(), self.target()] for _ in range(UPDATES + 1)]

    def target(self):
        b, *rest = self.net.outside
        if self.loss == SPARSE:
            return self.net.labels(rest[-1], b)
        if self.loss == SOFT:
            return self.net.probabilities(b, *rest)
        if self.loss == "of_pairs":
            return self.net.labels(2, b, *rest).astype("f")
        return self.net.reals(b, *rest)

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def run(self, text):
        with open(os.path.join(self.folder, "main.task"), "w") as program:
            program.write(text)
        command = [self.tool, "run", "main.task"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=280)
        if done.returncode != 0:
            raise RuntimeError("exit code %d\n%s" % (done.returncode, done.stderr[:2000]))

    def first_weights(self):
        """Of the counter RNG, as slots of that name have them."""
        text = ""
        for name, shape, value in self.net.slots():
            if value is None:
                np.save(self.path(name), self.net.reals(*shape) * np.float32(0.3))
            elif isinstance(value, float):
                np.save(self.path(name), np.full(shape, value, "f"))
            else:
                maker = value % ("f32" + extents(shape))
                text += 'save(%s, stream: %d), "%s.npy")\n' % (maker, stream("%s.%s" % (self.net.agent, name)), name)
        self.run(text)
        return {name: np.load(self.path(name)) for name, _, _ in self.net.slots()}

    def ours(self):
        kinds = {"f": "f32", "l": "i64"}
        text = "import %s\n" % self.net.module + (OF_PAIRS if self.loss == "of_pairs" else "")
        loss = self.loss if self.loss == "of_pairs" else '"%s"' % self.loss
        text += "let m = train(%s.%s(%s), loss: %s, optimizer: %s, clip: %.4f)\n" % (
            self.net.module, self.net.agent, self.net.arguments, loss, in_text(self.optimizer), self.clip)
        for k, row in enumerate(self.rows):
            names = []
            for i, values in enumerate(row):
                names.append("a%d_%d" % (k, i))
                np.save(self.path(names[-1]), values)
                kind = kinds[values.dtype.char] + extents(values.shape)
                text += 'let %s = load(%s, "%s.npy")\n' % (names[-1], kind, names[-1])
            text += 'save(m.forward(%s).y, "y%d.npy")\nm.backward(%s)\nsave(m.loss, "loss%d.npy")\n' % (
                ", ".join(names[:-1]), k, names[-1], k)
            for i, (name, _, _) in enumerate(self.net.slots()):
                text += 'save(m.grad("%s"), "g%d_%d.npy")\n' % (name, k, i)
            if k < UPDATES:
                text += "m.update()\n"
        text += 'save(m.eval().forward(%s).y, "eval.npy")\n' % ", ".join(names[:-1])
        for name, output in self.net.shows.items():
            text += 'save(m.eval().weights().%s, "after_%s.npy")\n' % (output, name)
        self.run(text)

    def theirs(self, p):
        p = {name: torch.tensor(values, dtype=torch.float64, requires_grad=True) for name, values in p.items()}
        optimizer = in_torch(self.optimizer, p.values())
        for k, row in enumerate(self.rows):
            *x, t = [torch.tensor(v, dtype=torch.float64 if v.dtype.char == "f" else torch.int64) for v in row]
            y = self.net.outputs(p, *x, training=True)
            loss = LOSSES[self.loss](y, t)
            optimizer.zero_grad()
            loss.backward()
            self.compare("step %d: prediction" % k, "y%d" % k, y)
            self.compare("step %d: loss" % k, "loss%d" % k, loss)
            for i, (name, values) in enumerate(p.items()):
                what = "step %d: gradient of %s" % (k, name)
                self.compare(what, "g%d_%d" % (k, i), values.grad, self.magnitude(p, name))
            if k < UPDATES:
                if self.clip:
                    torch.nn.utils.clip_grad_norm_(p.values(), self.clip)
                optimizer.step()
        self.compare("the trained net", "eval", self.net.outputs(p, *x, training=False))
        for name in self.net.shows:
            self.compare("%s after training" % name, "after_" + name, p[name])

    def magnitude(self, p, name):
        """A bias before a norm has no effect: its gradient is a sum of what is far from zero, with that rounding."""
        return p[name[:-1] + "w"].grad.abs().max().item() if name.endswith(self.net.without_effect) else 0.0

    def compare(self, what, file, expected, magnitude=0.0):
        expected, found = expected.detach().numpy(), np.load(self.path(file))
        self.compared += 1
        if expected.shape != found.shape:
            self.wrong.append("%s: %s instead of %s" % (what, found.shape, expected.shape))
            return
        largest = max(np.abs(expected).max(), magnitude, 1e-30)
        off = float(np.abs(found - expected).max() / largest)
        if not off <= TOLERANCE:
            at = np.unravel_index(np.argmax(np.abs(found - expected)), expected.shape)
            self.wrong.append("%s: off by %.2g of %.4g; at %s %.8g instead of %.8g" % (
                what, off, largest, list(map(int, at)), found[at], expected[at]))
        if not off <= self.worst[0]:
            self.worst = off, what

    def whole(self):
        try:
            first = self.first_weights()
            self.ours()
            self.theirs(first)
        except RuntimeError as problem:
            self.wrong.append(str(problem))
        mark = "FAIL" if self.wrong else "ok"
        print("%-4s %s: %d tensors, off by %.1g at most (%s)" % (mark, self.name, self.compared, *self.worst))
        for line in self.wrong[:8]:
            print("     " + line)
        return not self.wrong


def main():
    tool, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    torch.set_default_dtype(torch.float64)
    nets = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nets")
    good = True
    for net, *case in CASES:
        if wanted and net.module not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            name = net.module + ".task"
            with open(os.path.join(nets, name)) as source, open(os.path.join(folder, name), "w") as copy:
                copy.write(source.read())
            good = Case(tool, folder, net, *case).whole() and good
    sys.exit(0 if good else 1)


main()
