#!/usr/bin/python3
"""Nets that were quantised elsewhere (QuantizeLinear and DequantizeLinear around each layer), imported and run.

    onnx_qdq.py PATH_OF_TASKSPEC

What they should give is worked out here, in integers; with onnxruntime for Node.js (a folder with its node_modules in
ONNXRUNTIME_NODE) it is asked as well. Prints a line per net: by how many steps of its output they differ, of the import
and of the blocks that `quantize` makes of it, with the scales that the net has where its zero points are in the middle.
Exit codes: 0 the import within one step, blocks within two (mean square; a tenth of the signal where scales are found
anew), 1 some are not, 77 there is no numpy.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

# ---- models, byte by byte --------------------------------------------------------------------------


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, data):
    data = data if isinstance(data, bytes) else data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}


def tensor(name, array):
    array = np.asarray(array)
    return b"".join(number(1, n) for n in array.shape) + number(2, TYPES[array.dtype.name]) + text(8, name) + text(
        9, array.tobytes())


def attribute(name, value):
    if isinstance(value, (list, tuple)):
        return text(1, name) + b"".join(number(8, n) for n in value) + number(20, 7)
    return text(1, name) + number(3, value) + number(20, 2)


def value_info(name, extents):
    dims = b"".join(text(1, text(2, n) if isinstance(n, str) else number(1, n)) for n in extents)
    return text(1, name) + text(2, text(1, number(1, 1) + text(2, dims)))


class Model:
    def __init__(self):
        self.nodes, self.weights = [], []

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(b"".join(text(1, n) for n in inputs) + text(2, output) + text(3, output) + text(4, op) +
                          b"".join(text(5, attribute(*a)) for a in attributes.items()))
        return output

    def weight(self, name, array):
        self.weights.append(tensor(name, array))
        return name

    def save(self, path, given, made):
        graph = b"".join(text(1, n) for n in self.nodes) + text(2, "net") + b"".join(text(5, w) for w in self.weights)
        graph += text(11, value_info(*given)) + text(12, value_info(*made))
        with open(path, "wb") as file:
            file.write(number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 13)))


# ---- nets, with what they do to numbers ------------------------------------------------------------


def convolve(x, w, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("bchwij,ocij->bohw", windows, w)


class Net:
    """Made layer by layer, run on the calibration at the same time, so that each layer knows its ranges."""

    def __init__(self, x, seed, zero):
        self.random, self.model, self.count, self.zero = np.random.default_rng(seed), Model(), 0, zero
        self.x = x  # floats of the calibration
        self.rounded = x.astype(np.float64)  # the same as the quantised net has them
        self.at = self.pair("x")

    def name(self, what):
        self.count += 1
        return "%s%d" % (what, self.count)

    def pair(self, at):
        """The tensor at hand goes to 8 bits and back."""
        least, most = min(0.0, float(self.x.min())), max(0.0, float(self.x.max()))
        if self.zero == "none":  # int8
            scale, zero, kind = np.float32(max(-least, most) / 127), np.int8(0), np.int8
        elif self.zero == "middle":  # uint8 around 128
            scale, zero, kind = np.float32(max(-least, most) / 127), np.uint8(128), np.uint8
        else:
            scale = np.float32((most - least) / 255)
            zero, kind = np.uint8(np.clip(np.rint(-least / scale), 0, 255)), np.uint8
        self.scale = float(scale)
        limits = np.iinfo(kind)
        whole = np.clip(np.rint(self.rounded.astype(np.float32) / scale) + zero, limits.min, limits.max)
        self.rounded = (whole - float(zero)) * self.scale
        n = self.name("q")
        s, z = self.model.weight(n + "_scale", scale), self.model.weight(n + "_zero", zero)
        return self.model.node("DequantizeLinear", [self.model.node("QuantizeLinear", [at, s, z], n), s, z], n + "_back")

    def weights(self, shape):
        """Of int8, a scale for each output."""
        fan = int(np.prod(shape[1:]))
        w = self.random.normal(size=shape) / np.sqrt(fan)
        scales = (np.abs(w).reshape(shape[0], -1).max(1) / 127).astype(np.float32)
        column = scales.reshape([-1] + [1] * (len(shape) - 1)).astype(np.float64)
        whole = np.clip(np.rint(w / column), -127, 127).astype(np.int8)
        n = self.name("w")
        self.model.weight(n + "_whole", whole)
        names = [n + "_whole", self.model.weight(n + "_scale", scales),
                 self.model.weight(n + "_zero", np.zeros(shape[0], np.int8))]
        self.model.node("DequantizeLinear", names, n, axis=0)
        return n, whole * column, scales.astype(np.float64)

    def bias(self, outputs, scales):
        b = self.random.normal(size=outputs) * 0.1
        of_bias = (scales * self.scale).astype(np.float32)
        whole = np.rint(b / of_bias).astype(np.int32)
        n = self.name("b")
        names = [self.model.weight(n + "_whole", whole), self.model.weight(n + "_scale", of_bias),
                 self.model.weight(n + "_zero", np.zeros(outputs, np.int32))]
        self.model.node("DequantizeLinear", names, n, axis=0)
        return n, whole * of_bias.astype(np.float64)

    def both(self, f):
        self.x, self.rounded = f(self.x), f(self.rounded)

    def dense(self, outputs, relu):
        w, numbers, scales = self.weights((outputs, self.x.shape[1]))
        b, summand = self.bias(outputs, scales)
        self.at = self.model.node("Gemm", [self.at, w, b], self.name("dense"), transB=1)
        self.both(lambda x: x @ numbers.T + summand)
        self.end(relu)

    def convolution(self, outputs, k, pad, relu=True):
        w, numbers, scales = self.weights((outputs, self.x.shape[1], k, k))
        b, summand = self.bias(outputs, scales)
        self.at = self.model.node("Conv", [self.at, w, b], self.name("conv"), kernel_shape=[k, k], pads=[pad] * 4)
        self.both(lambda x: convolve(x, numbers, pad) + summand.reshape(1, -1, 1, 1))
        self.end(relu)

    def end(self, relu):
        if relu:
            self.at = self.model.node("Relu", [self.at], self.name("relu"))
            self.both(lambda x: np.maximum(x, 0))
        self.at = self.pair(self.at)

    def pool(self, kind):
        self.at = self.model.node(kind + "Pool", [self.at], self.name("pool"), kernel_shape=[2, 2], strides=[2, 2])
        parts = lambda x: x.reshape(x.shape[0], x.shape[1], x.shape[2] // 2, 2, x.shape[3] // 2, 2)
        self.both(lambda x: parts(x).max((3, 5)) if kind == "Max" else parts(x).mean((3, 5)))
        self.at = self.pair(self.at)

    def flat(self):
        self.at = self.model.node("Flatten", [self.at], self.name("flat"))
        self.both(lambda x: x.reshape(x.shape[0], -1))

    def save(self, path, shape):
        self.model.node("Identity", [self.at], "y")
        self.model.save(path, ("x", ["batch"] + list(shape[1:])), ("y", ["batch", self.x.shape[1]]))


def mlp(zero):
    net = Net(np.random.default_rng(1).normal(size=(64, 12)).astype(np.float32), 2, zero)
    net.dense(32, True), net.dense(32, True), net.dense(5, False)
    return net


def lenet(zero):
    net = Net(np.random.default_rng(3).uniform(-1, 1, (48, 1, 28, 28)).astype(np.float32), 4, zero)
    net.convolution(6, 5, 2), net.pool("Max"), net.convolution(16, 5, 0), net.pool("Average"), net.flat()
    net.dense(120, True), net.dense(84, True), net.dense(10, False)
    return net


# ---- others ----------------------------------------------------------------------------------------

PROGRAM = """import "net.onnx" as net
let x = load(f32[%s], "x.npy")
let n = net.Net()
save(net.net(x).y, "y.npy")
let q = quantize(n.forward, x, method: "absmax")
save(q(x).y, "blocks.npy")
let notes = q.report.notes
print(map(q.report.layers, l => 1.0 / l.scale), notes)
"""

ASK = """const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  const session = await ort.InferenceSession.create('net.onnx', {graphOptimizationLevel: process.argv[1]});
  const bytes = fs.readFileSync('x.raw');
  const x = new ort.Tensor('float32', new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), %s);
  const made = await session.run({x});
  fs.writeFileSync('y.raw', Buffer.from(made.y.data.buffer, made.y.data.byteOffset, made.y.data.byteLength));
})();
"""


def steps(a, b, step):
    return float(np.abs(a.astype(np.float64) - b).max() / step)


def main(tool):
    failed = False
    runtime = os.environ.get("ONNXRUNTIME_NODE")
    for make in (mlp, lenet):
        for zero in ("none", "middle", "any"):
            net = make(zero)
            given = (np.random.default_rng(1).normal(size=(64, 12)) if make is mlp else np.random.default_rng(3).uniform(
                -1, 1, (48, 1, 28, 28))).astype(np.float32)
            with tempfile.TemporaryDirectory() as folder:
                net.save(folder + "/net.onnx", given.shape)
                np.save(folder + "/x.npy", given)
                with open(folder + "/run.task", "w") as file:
                    file.write(PROGRAM % ", ".join(map(str, given.shape)))
                ran = subprocess.run([tool, "run", "run.task"], cwd=folder, capture_output=True, text=True)
                if ran.returncode:
                    print(make.__name__, zero, ran.stderr)
                    failed = True
                    continue
                own = np.load(folder + "/y.npy")
                blocks = np.load(folder + "/blocks.npy")
                line = "%-6s zero point %-7s step %.4g: import %.3f steps" % (make.__name__, zero, net.scale,
                                                                             steps(own, net.rounded, net.scale))
                failed |= steps(own, net.rounded, net.scale) > 1.001
                if runtime:
                    given.tofile(folder + "/x.raw")
                    for level in ("disabled", "all"):
                        subprocess.run(["node", "-e", ASK % list(given.shape), level], cwd=folder, check=True,
                                       env=dict(os.environ, NODE_PATH=runtime + "/node_modules"))
                        asked = np.fromfile(folder + "/y.raw", np.float32).reshape(own.shape)
                        apart = steps(own, asked, net.scale)
                        line += ", onnxruntime (%s) %.3f (%.2f %% equal)" % (level, apart,
                                                                            100 * np.mean(np.abs(own - asked) < 0.01 * net.scale))
                        failed |= apart > 1.001
                noise = float(np.sqrt(np.mean((blocks - net.rounded) ** 2)))
                signal = float(np.sqrt(np.mean(net.rounded ** 2)))
                failed |= noise / net.scale > 2 if zero != "any" else noise > 0.1 * signal
                print(line + ", blocks %.2f steps (mean square), %.1f dB" % (noise / net.scale,
                                                                            20 * np.log10(signal / noise)))
                # By its name on a chip, as `quantize` makes it, with eight samples for ranges and comparison.
                np.save(folder + "/x.npy", given[:8])
                for words in (["import", "net.onnx", "-o", "net.task"],
                              ["run", "net.task", "--name", "net", "-D", "x=x.npy", "--on", "hw", "--report", "r.html"]):
                    ran = subprocess.run([tool] + words, cwd=folder, capture_output=True, text=True)
                    failed |= ran.returncode != 0
                if ran.returncode:
                    print(make.__name__, zero, ran.stderr)
                    continue
                on_chip = np.array(json.loads(ran.stdout.splitlines()[-1].removeprefix("y: ")))
                noise = float(np.sqrt(np.mean((on_chip - net.rounded[:8]) ** 2)))
                failed |= noise > 0.15 * signal or not os.path.exists(folder + "/r.html")
                print("       on the chip %.1f dB" % (20 * np.log10(signal / noise)))
                if os.environ.get("VERBOSE"):
                    print(ran.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
