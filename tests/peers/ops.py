#!/usr/bin/python3
"""Ops against numpy: random shapes of every op, in one program, through the tool.

ops.py TASKSPEC [SEED]     seed 1 if none is given, with TASKSPEC_SLOW any; prints one line per difference and a summary; exits 1 if there is one, 77 without numpy

A case is an expression of the language, its inputs, and what numpy makes of them. Inputs and results are .npy files.
"""
import itertools
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

FLOATS = ["f16", "f32", "f64"]
INTS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64"]
DTYPES = {"bool": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8,
          "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
TOLERANCE = {"f16": 2e-3, "f32": 2e-5, "f64": 1e-11}


class Suite:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines, self.arrays, self.expected, self.covered = [], {}, [], set()

    def shape(self, rank=None, low=1, high=6):
        rank = self.random.randint(1, 4) if rank is None else rank
        return tuple(self.random.randint(low, high) for _ in range(rank))

    def array(self, precision, shape, low=None, high=None):
        """A new input: its name in the program, and its contents."""
        kind = DTYPES[precision]
        if precision == "bool":
            values = self.numbers.integers(0, 2, shape).astype(kind)
        elif precision in FLOATS:
            values = self.numbers.uniform(-2 if low is None else low, 2 if high is None else high, shape).astype(kind)
        else:
            info = np.iinfo(kind)
            low = max(info.min, -100) if low is None else low
            values = self.numbers.integers(low, (100 if high is None else high) + 1, shape).astype(kind)
        name = "a%d" % len(self.arrays)
        self.arrays[name] = values
        extents = "[%s]" % ", ".join(map(str, shape)) if shape else ""
        self.lines.append('let %s = load(%s%s, "%s.npy")' % (name, precision, extents, name))
        return name, values

    def case(self, op, text, expected, tolerance=None, scale=None):
        """The expression must give what numpy says; tolerance relative to scale, None: by precision, the largest element."""
        self.covered.add(op)
        number = len(self.expected)
        self.lines.append('save(%s, "r%d.npy")' % (text, number))
        self.expected.append((op, text, np.asarray(expected), tolerance, scale))

    def run(self, tool):
        with tempfile.TemporaryDirectory() as folder:
            for name, values in self.arrays.items():
                np.save(os.path.join(folder, name + ".npy"), values)
            with open(os.path.join(folder, "all.task"), "w") as program:
                program.write("\n".join(self.lines) + "\n")
            done = subprocess.run([tool, "run", "all.task"], cwd=folder, capture_output=True, text=True, timeout=280)
            if done.returncode != 0:
                print("the program failed with exit code %d:\n%s" % (done.returncode, done.stderr[:2000]))
                return 1
            return sum(self.differs(folder, i) for i in range(len(self.expected)))

    def differs(self, folder, number):
        op, text, expected, tolerance, scale = self.expected[number]
        found = np.load(os.path.join(folder, "r%d.npy" % number))
        problem = None
        if found.shape != expected.shape or found.dtype != expected.dtype:
            problem = "%s%s instead of %s%s" % (found.dtype, list(found.shape), expected.dtype, list(expected.shape))
        elif expected.dtype.kind == "f":
            bound = TOLERANCE["f%d" % (expected.dtype.itemsize * 8)] if tolerance is None else tolerance
            a, b = found.astype(np.float64), expected.astype(np.float64)
            fine = np.isfinite(b)
            if not np.array_equal(np.where(fine, 0, b), np.where(fine, 0, a), equal_nan=True):
                problem = "other infinities or nans"
            elif fine.any():
                largest = np.max(np.abs(b[fine])) if scale is None else scale
                worst = np.max(np.abs(a[fine] - b[fine])) / max(1e-3, largest)
                problem = "off by %.3g of %.3g" % (worst, largest) if worst > bound else None
        elif not np.array_equal(found, expected):
            problem = "%d elements differ" % np.count_nonzero(found != expected)
        if problem:
            print("%s: %s: %s" % (op, text, problem))
        return 1 if problem else 0


# ---- families ---------------------------------------------------------------------------------------------------------

def elementwise(s):
    erf = np.vectorize(math.erf, otypes=[np.float64])
    wide = lambda f: lambda x: f(x.astype(np.float64)).astype(x.dtype)
    functions = {
        "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "exp": np.exp,
        "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
        "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, "erf": erf, "isnan": np.isnan,
    }
    for name, f in functions.items():
        for precision in FLOATS:
            a, x = s.array(precision, s.shape(), -5, 5)
            s.case(name, "%s.%s()" % (a, name), f(x) if name == "isnan" else wide(f)(x))
    for name, f in {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x)}.items():
        for precision in FLOATS:
            a, x = s.array(precision, s.shape(), 0.1, 5)
            s.case(name, "%s.%s()" % (a, name), wide(f)(x))
    for precision in INTS:
        a, x = s.array(precision, s.shape())
        s.case("abs", "%s.abs()" % a, np.abs(x))
        s.case("neg", "-%s" % a, (0 - x.astype(np.int64)).astype(x.dtype))
        s.case("not", "!%s" % a, ~x)
        s.case("shift_left", "%s.shift_left(3)" % a, np.left_shift(x, 3).astype(x.dtype))
        s.case("shift_right", "%s.shift_right(2)" % a, np.right_shift(x, 2).astype(x.dtype))
    for precision in FLOATS + ["i8", "i32"]:
        a, x = s.array(precision, s.shape())
        lo, hi = (-0.5, 1.25) if precision in FLOATS else (-5, 40)
        s.case("clamp", "%s.clamp(%s, %s)" % (a, lo, hi), np.clip(x, np.asarray(lo, x.dtype), np.asarray(hi, x.dtype)))
    for precision in FLOATS:
        a, x = s.array(precision, s.shape())
        s.case("spike", "%s.spike(0.25)" % a, (x >= 0.25).astype(x.dtype))
    a, x = s.array("f64", (5,), 0.1, 3)
    s.case("pow", "%s.pow(2.5)" % a, x ** 2.5)


def truncated(a, b):
    """Division of integers towards zero."""
    q = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
    return (q * np.sign(a.astype(np.int64)) * np.sign(b.astype(np.int64))).astype(a.dtype)


def broadcast_pair(s, precision, **bounds):
    shape = list(s.shape())
    other = [n if s.random.random() < 0.6 else 1 for n in shape][s.random.randint(0, len(shape) - 1):]
    a, x = s.array(precision, tuple(shape), **bounds)
    b, y = s.array(precision, tuple(other), **bounds)
    return (b, y, a, x) if s.random.random() < 0.5 else (a, x, b, y)


def binary(s):
    arithmetic = {"+": ("add", np.add), "-": ("sub", np.subtract), "*": ("mul", np.multiply)}
    compare = {"<": ("lt", np.less), "<=": ("le", np.less_equal), ">": ("gt", np.greater),
               ">=": ("ge", np.greater_equal), "==": ("eq", np.equal), "!=": ("ne", np.not_equal)}
    for precision in FLOATS + INTS:
        for sign, (name, f) in {**arithmetic, **compare}.items():
            a, x, b, y = broadcast_pair(s, precision)
            with np.errstate(over="ignore"):
                s.case(name, "%s %s %s" % (a, sign, b), f(x, y))
        for name, f in {"minimum": np.minimum, "maximum": np.maximum}.items():
            a, x, b, y = broadcast_pair(s, precision)
            s.case(name, "%s(%s, %s)" % (name, a, b), f(x, y))
        a, x, b, y = broadcast_pair(s, precision, low=1, high=50)
        s.case("div", "%s / %s" % (a, b), x / y if precision in FLOATS else truncated(x, y))
        if precision in INTS:
            s.case("mod", "%s %% %s" % (a, b), np.fmod(x, y))
            for sign, name, f in (("&", "and", np.bitwise_and), ("|", "or", np.bitwise_or)):
                s.case(name, "%s %s %s" % (a, sign, b), f(x, y))
            s.case("xor", "xor(%s, %s)" % (a, b), np.bitwise_xor(x, y))
    for precision in FLOATS:
        a, x, b, y = broadcast_pair(s, precision)
        s.case("relu_grad", "relu_grad(%s, %s)" % (a, b), np.where(x > 0, y, y.dtype.type(0)))
    a, x, b, y = broadcast_pair(s, "bool")
    s.case("and", "%s & %s" % (a, b), x & y)
    s.case("xor", "%s.xor(%s)" % (a, b), x ^ y)
    c, z = s.array("bool", (4, 3))
    a, x = s.array("f32", (4, 3))
    b, y = s.array("f32", (3,))
    s.case("where", "where(%s, %s, %s)" % (c, a, b), np.where(z, x, y))


def casts(s):
    for a_type, b_type in itertools.product(FLOATS + INTS, FLOATS + INTS):
        a, x = s.array(a_type, (7,), None if a_type[0] != "f" else -300, None if a_type[0] != "f" else 300)
        if b_type[0] == "f":
            expected = x.astype(DTYPES[b_type])
        else:
            info = np.iinfo(DTYPES[b_type])
            expected = np.clip(np.rint(x.astype(np.float64)), info.min, info.max).astype(DTYPES[b_type])
        s.case("cast", "%s as %s" % (a, b_type), expected, 0)


def reductions(s):
    for precision in FLOATS + INTS:
        for _ in range(3):
            a, x = s.array(precision, s.shape(), 0.5 if precision[0] == "f" else 0, 1.5 if precision[0] == "f" else 3)
            axes = tuple(sorted(s.random.sample(range(x.ndim), s.random.randint(1, x.ndim))))
            text = str(axes[0]) if len(axes) == 1 else "(%s)" % ", ".join(map(str, axes))
            wide = np.int32 if precision in ("i8", "u8", "i16", "u16") else x.dtype
            work = np.float64 if precision[0] == "f" else wide
            s.case("sum", "%s.sum(%s)" % (a, text), x.sum(axes, dtype=work, keepdims=True).astype(wide))
            s.case("prod", "%s.prod(%s)" % (a, text), x.prod(axes, dtype=work, keepdims=True).astype(wide))
            s.case("max", "%s.max(%s)" % (a, text), x.max(axes, keepdims=True))
            s.case("min", "%s.min(%s)" % (a, text), x.min(axes, keepdims=True))
            s.case("sum", "%s.sum()" % a, x.sum(dtype=work).astype(wide))
            s.case("argmax", "%s.argmax(%d)" % (a, axes[0]), np.expand_dims(x.argmax(axes[0]), axes[0]).astype(np.int64))
            s.case("argmin", "%s.argmin()" % a, np.int64(x.argmin()))
            if precision[0] == "f":
                s.case("mean", "%s.mean(%s)" % (a, text), x.mean(axes, dtype=np.float64, keepdims=True).astype(x.dtype))
    for precision, axis in itertools.product(FLOATS, (0, 1, 2)):
        a, x = s.array(precision, s.shape(3, 2))
        e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
        soft = e / e.sum(axis, keepdims=True)
        s.case("softmax", "%s.softmax(%d)" % (a, axis), soft.astype(x.dtype))
        s.case("log_softmax", "%s.log_softmax(%d)" % (a, axis), np.log(soft).astype(x.dtype))
        k = s.random.randint(1, x.shape[axis])
        order = np.argsort(-x.astype(np.float64), axis=axis, kind="stable").take(range(k), axis)
        s.case("topk", "%s.topk(%d, %d).indices" % (a, k, axis), order.astype(np.int64))
        s.case("topk", "%s.topk(%d, axis: %d).values" % (a, k, axis), np.take_along_axis(x, order, axis))


def movement(s):
    for precision in FLOATS + INTS + ["bool"]:
        a, x = s.array(precision, s.shape(3, 2))
        m, n, c = x.shape
        order = s.random.sample(range(3), 3)
        axis, by = s.random.randint(0, 2), s.random.randint(-4, 4)
        s.case("reshape", "%s.reshape(%d, -1)" % (a, n), x.reshape(n, -1))
        s.case("permute", "%s.permute(%d, %d, %d)" % (a, *order), x.transpose(order))
        s.case("broadcast", "%s.broadcast(2, %d, %d, %d)" % (a, m, n, c), np.broadcast_to(x, (2, m, n, c)))
        s.case("reverse", "%s.reverse((0, 2))" % a, x[::-1, :, ::-1])
        s.case("reflect", "%s.reflect(%d)" % (a, axis), np.flip(x, axis))
        s.case("rotate", "%s.rotate(%d)" % (a, by), np.rot90(x, by))
        s.case("rotate", "%s.rotate(%d, axes: (2, 1))" % (a, by), np.rot90(x, by, (2, 1)))
        s.case("scale", "%s.scale(%d, 3)" % (a, axis), x.repeat(3, axis))
        s.case("tile", "%s.tile(%d, 2)" % (a, axis), np.concatenate([x, x], axis))
        s.case("concat", "concat([%s, %s], %d)" % (a, a, axis), np.concatenate([x, x], axis))
        s.case("shift", "%s.shift(%d, %d, wrap: true)" % (a, axis, by), np.roll(x, by, axis))
        width = [(0, 0)] * 3
        width[axis] = (1, 2)
        s.case("pad", "%s.pad(%d, 1, 2)" % (a, axis), np.pad(x, width))
        s.case("slice", "%s[0, 1.., ..1]" % a, x[0, 1:, :1])
        s.case("lift", "%s.lift(1)" % a, x[:, None])
        s.case("drop", "%s[..1].drop(0)" % a, x[0])
        s.case("copy", "%s.copy()" % a, x)
        i, index = s.array("i32", (2, 3), 0, x.shape[axis] - 1)
        s.case("gather", "%s.gather(%s, %d)" % (a, i, axis), x.take(index, axis))
        hot = (np.arange(9) == np.clip(index, 0, 8)[..., None]).astype(DTYPES[precision])
        s.case("one_hot", 'one_hot(%s, 9, "%s")' % (i, precision), hot)
        b, y = s.array(precision, (2, 6))
        for part, values in enumerate(np.split(y, 3, 1)):
            s.case("split", "%s.split(3, 1)[%d]" % (b, part), values)
        for part, values in enumerate(np.split(y, (1, 4), 1)):
            s.case("split", "%s.split([1, 3, 2], 1)[%d]" % (b, part), values)


def products(s):
    shapes = [((3, 4), (4, 2)), ((5,), (5, 2)), ((2, 5), (5,)), ((4,), (4,)), ((2, 1, 3, 4), (5, 4, 2)),
              ((6, 3, 4), (4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((17, 33), (33, 65)), ((1, 70), (70, 1))]
    for precision in FLOATS + ["i8", "u8", "i16", "i32", "i64"]:
        for left, right in shapes:
            a, x = s.array(precision, left)
            b, y = s.array(precision, right)
            wide = np.float64 if precision[0] == "f" else np.int32 if precision in ("i8", "u8") else x.dtype
            result = x.dtype if precision[0] == "f" else wide
            sums = np.max(np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64)))  # the result may cancel
            s.case("matmul", "%s @ %s" % (a, b), (x.astype(wide) @ y.astype(wide)).astype(result), scale=sums)
    a, x = s.array("i8", (3, 7))
    b, y = s.array("u8", (7, 4))
    s.case("matmul", "%s @ %s" % (a, b), x.astype(np.int32) @ y.astype(np.int32))
    for precision in FLOATS:
        x_name, x = s.array(precision, (3, 7))
        w_name, w = s.array(precision, (4, 7))
        b_name, b = s.array(precision, (4,))
        full = x.astype(np.float64) @ w.astype(np.float64).T + b
        s.case("linear", "linear(%s, %s, %s)" % (x_name, w_name, b_name), full.astype(x.dtype))


def windows(x, k, stride, dilation):
    """x [..., H, W] as [..., y, x, ky, kx]."""
    span = [(n - 1) * d + 1 for n, d in zip(k, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, span, axis=(-2, -1))
    return view[..., ::stride[0], ::stride[1], ::dilation[0], ::dilation[1]]


def convolve(x, w, b, stride, pad, dilation, groups):
    padded = np.pad(x, [(0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2])
    view = windows(padded, w.shape[2:], stride, dilation)
    per, out = w.shape[1], w.shape[0] // groups
    parts = [np.einsum("bcyxij,ocij->boyx", view[:, g * per:(g + 1) * per], w[g * out:(g + 1) * out])
             for g in range(groups)]
    return np.concatenate(parts, 1) + b[:, None, None]


def convolutions(s):
    for precision in ["f32", "f64", "f16", "i8", "i32"]:
        wide = np.float64 if precision[0] == "f" else np.int32
        for _ in range(6):
            groups, stride = s.random.choice([1, 2]), (s.random.randint(1, 2), s.random.randint(1, 3))
            pad, dilation = (s.random.randint(0, 2), s.random.randint(0, 1)), (s.random.randint(1, 2), 1)
            low, high = (-1, 1) if precision[0] == "f" else (-20, 20)
            x_name, x = s.array(precision, (2, 2 * groups, 9, 8), low, high)
            w_name, w = s.array(precision, (4, 2, 3, 2), low, high)
            b_name, b = s.array("i32" if precision == "i8" else precision, (4,), low, high)
            y = convolve(x.astype(wide), w.astype(wide), b.astype(wide), stride, pad, dilation, groups)
            text = "conv2d(%s, %s, %s, stride: %s, pad: %s, dilation: %s, groups: %d)" % (
                x_name, w_name, b_name, stride, pad, dilation, groups)
            s.case("conv2d", text, y.astype(x.dtype if precision[0] == "f" else wide))
            x_name, x = s.array(precision, (2, 2 * groups, 12), low, high)
            w_name, w = s.array(precision, (4, 2, 3), low, high)
            y = convolve(x[:, :, None].astype(wide), w[:, :, None].astype(wide), b.astype(wide), (1, stride[1]),
                         (0, pad[0]), (1, dilation[0]), groups)[:, :, 0]
            text = "conv1d(%s, %s, %s, stride: %d, pad: %d, dilation: %d, groups: %d)" % (
                x_name, w_name, b_name, stride[1], pad[0], dilation[0], groups)
            s.case("conv1d", text, y.astype(x.dtype if precision[0] == "f" else wide))


def pools(s):
    for precision in FLOATS + ["i8", "i32"]:
        for _ in range(4):
            k = (s.random.randint(1, 3), s.random.randint(2, 3))
            stride, pad = (s.random.randint(1, 3), s.random.randint(1, 2)), (s.random.randint(0, k[0] - 1), 1)
            a, x = s.array(precision, (2, 3, 7, 9))
            holes = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2], constant_values=np.nan)
            view = windows(holes, k, stride, (1, 1))
            rest = "%s, stride: %s, pad: %s" % (k, stride, pad)
            s.case("max_pool", "%s.max_pool(%s)" % (a, rest), np.nanmax(view, (-2, -1)).astype(x.dtype))
            if precision[0] == "f":
                s.case("avg_pool", "%s.avg_pool(%s)" % (a, rest), np.nanmean(view, (-2, -1)).astype(x.dtype))
        s.case("global_pool", '%s.global_pool("max")' % a, x.max((2, 3), keepdims=True))
        if precision[0] == "f":
            mean = x.mean((2, 3), dtype=np.float64, keepdims=True)
            s.case("global_pool", "%s.global_pool()" % a, mean.astype(x.dtype))


def norms(s):
    for precision in FLOATS:
        for _ in range(3):
            a, x = s.array(precision, s.shape(3, 2, 9))
            for op, axes, length, shape in (("layernorm", 2, x.shape[2], (1, 1, -1)),
                                            ("batchnorm", (0, 2), x.shape[1], (1, -1, 1))):
                scale_name, scale = s.array(precision, (length,))
                shift_name, shift = s.array(precision, (length,))
                wide = x.astype(np.float64)
                normal = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-3)
                y = normal * scale.reshape(shape) + shift.reshape(shape)
                s.case(op, "%s(%s, %s, %s, eps: 1e-3)" % (op, a, scale_name, shift_name), y.astype(x.dtype))
            kept_norm(s, precision)


def kept_norm(s, precision):
    """batchnorm with kept statistics, of the batch at hand and of those before."""
    a, x = s.array(precision, s.shape(4, 2, 5))
    channels = (x.shape[1],)
    names, (mean, variance, scale, shift) = zip(*[s.array(precision, channels, low, 2) for low in (-2, 0.5, -2, -2)])
    beside = lambda v: v.astype(np.float64).reshape(1, -1, 1, 1)
    wide, axes = x.astype(np.float64), (0, 2, 3)
    for training in (0, 1):
        places = ["m%d" % len(s.expected), "v%d" % len(s.expected)]
        s.lines += ["var %s = %s" % pair for pair in zip(places, names)]
        now = (wide.mean(axes), wide.var(axes)) if training else (mean, variance)
        y = (wide - beside(now[0])) / np.sqrt(beside(now[1]) + 1e-3) * beside(scale) + beside(shift)
        text = "running_batchnorm(%s, %s, %s, %s, %s, eps: 1e-3, momentum: 0.25, training: %d)" % (
            a, *places, *names[2:], training)
        s.case("running_batchnorm", text, y.astype(x.dtype))
        moved = (wide.mean(axes), wide.var(axes, ddof=1)) if training else now
        for place, old, new in zip(places, (mean, variance), moved):
            s.case("running_batchnorm", place, (0.75 * old.astype(np.float64) + 0.25 * new).astype(x.dtype))
    g, dy = s.array(precision, x.shape)
    work = np.float64 if precision == "f64" else np.float32
    normal = (wide - beside(wide.mean(axes))) / np.sqrt(beside(wide.var(axes)) + 1e-3)
    rows = [wide.mean(axes), 1 / np.sqrt(wide.var(axes) + 1e-3), (dy * normal).sum(axes), dy.sum(axes, dtype=np.float64),
            np.full(channels, x.shape[1] / x.size)]
    s.case("batchnorm_sums", "batchnorm_sums(%s, %s, eps: 1e-3)" % (a, g), np.stack(rows).astype(work), 5e-4 if precision == "f16" else None)


# ---- random numbers ---------------------------------------------------------------------------------------------------

def philox(counter, key):
    c, k = [np.uint64(v) for v in counter], list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * int(c[0]), 0xCD9E8D57 * int(c[2])
        c = [(p1 >> 32) ^ int(c[1]) ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ int(c[3]) ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [int(word) for word in c]


def noise(s):
    for _ in range(4):
        seed, stream, call = s.random.getrandbits(62), s.random.getrandbits(32), s.random.getrandbits(32)
        words = [philox((j, 0, stream, call), (seed & 0xFFFFFFFF, seed >> 32)) for j in range(50)]
        u32 = np.array([w >> 8 for block in words for w in block], np.float64) * 2.0 ** -24
        u64 = np.array([(block[i] << 32 | block[i + 1]) >> 11 for block in words for i in (0, 2)], np.float64) * 2.0 ** -53
        rest = "seed: %d, stream: %d, call: %d" % (seed, stream, call)
        s.case("uniform", "uniform(f32[200], %s)" % rest, u32.astype(np.float32), 0)
        s.case("uniform", "uniform(f64[100], %s)" % rest, u64, 0)
        below = np.nextafter(np.float16(1), np.float16(0))  # what would round to the upper end
        between = np.minimum((2 * u32 - 1).astype(np.float16), below).reshape(20, 10)
        s.case("uniform", "uniform(f16[20, 10], %s, lo: -1.0)" % rest, between, 0)
        s.case("bernoulli", "bernoulli(bool[200], %s, p: 0.3)" % rest, u32 < 0.3)
        radius, angle = np.sqrt(-2 * np.log(1 - u64[0::2])), 2 * np.pi * u64[1::2]
        normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
        s.case("normal", "normal(f64[100], %s)" % rest, normal)
        s.case("normal", "normal(f32[100], %s, mean: 2.0, std: 0.5)" % rest, (2 + 0.5 * normal).astype(np.float32))
        near = np.abs(normal) <= 2
        keep = "where(%s, truncated_normal(f64[100], %s), 0.0)" % (s.array("bool", (100,))[0], rest)
        s.arrays["a%d" % (len(s.arrays) - 1)] = near
        s.case("truncated_normal", keep, np.where(near, normal, 0))


def main():
    slow = os.environ.get("TASKSPEC_SLOW")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().getrandbits(32) if slow else 1
    suite = Suite(seed)
    for family in (elementwise, binary, casts, reductions, movement, products, convolutions, pools, norms, noise):
        family(suite)
    wrong = suite.run(sys.argv[1])
    print("%d cases of %d ops, seed %d: %d differ" % (len(suite.expected), len(suite.covered), seed, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
