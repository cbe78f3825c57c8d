#!/usr/bin/python3
"""The hashes of the calls of a stencil on four shards, by a reading of the format that shares nothing with ours.

call_hashes.py TASKSPEC      exits 1 if the tool has other ones, or call_hashes.txt has; 77 without libxxhash
call_hashes.py               prints them, as call_hashes.txt keeps them

Calls are chained: h_n = XXH3_128(h_{n-1}, n, kind, shape, numbers), all of it in little endian. Numbers are the ints and
reals of the arguments, and the shape is the hash of all arguments with zeros for them. Each value of the arguments has a
byte before it that says of what type it is; what a partition is made of goes by the hash of its key.
"""
import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHARDS, BATCH, CALLS = 4, 1, 20
START, REGION, PARTITION, FILL, LAUNCH = 1, 2, 3, 4, 5


class Pair(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


try:
    xxhash = ctypes.CDLL("libxxhash.so.0")
except OSError:
    print("skipped: libxxhash is not installed (Debian: libxxhash0)")
    sys.exit(77)
xxhash.XXH3_128bits.restype = Pair
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def hashed(data):
    pair = xxhash.XXH3_128bits(data, len(data))
    return pair.low, pair.high


def digits(pair):
    return f"{pair[1]:016x}{pair[0]:016x}"


# ---- values of arguments ----
class Values:
    """With zeros for ints and reals, and these."""

    def __init__(self, others, numbers=b""):
        self.others, self.numbers = others, numbers

    def __add__(self, behind):
        behind = behind if isinstance(behind, Values) else Values(behind)
        return Values(self.others + behind.others, self.numbers + behind.numbers)

    def __radd__(self, before):
        return Values(before) + self


def integer(value):
    return Values(struct.pack("<Bq", 1, 0), struct.pack("<q", value))


def real(value):
    return Values(struct.pack("<Bd", 2, 0), struct.pack("<d", value))


def text(value):
    return struct.pack("<BI", 4, len(value)) + value.encode()


def created(what, number):
    return struct.pack("<BBQ", 6, ["region", "partition", "field", "task", "agent"].index(what), number)


def domain(*axes):
    return struct.pack("<BB", 8, len(axes)) + b"".join(struct.pack("<qq", lo, hi) for lo, hi in axes)


OWNER_0, CYCLIC = struct.pack("<BBI", 9, 2, 0), struct.pack("<BB", 9, 1)
IDENTITY = struct.pack("<BBBB", 10, 0, 1, 1)


# ---- keys of partitions: seven bits a byte; signed numbers have their sign in the last bit ----
def number(value):
    made = b""
    while value >= 0x80:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def signed(value):
    return number(value << 1 if value >= 0 else (-value << 1) - 1)


def rect(*axes):
    return number(len(axes)) + b"".join(signed(lo) + signed(hi) for lo, hi in axes)


def point(*at):
    return number(len(at)) + b"".join(signed(value) for value in at)


def pair(value):
    return number(value[0]) + number(value[1])


def pieces(extents, colours, form):
    """Of a partition of a whole region."""
    return hashed(rect(extents) + point() + rect(*colours) + form)


# ---- the program ----
def calls(source):
    line = (0, 64)
    tiles = (0, 4)
    owned = pieces(line, [tiles], b"b" + rect(line) + point(4) + number(1))
    inner = pieces(line, [], b"i" + number(1) + rect((1, 63)))
    # A set operation with one piece goes by its points.
    interior = pieces(line, [tiles], b"s" + number(0) + pair(owned) + number(0) + number(1) + rect((1, 63)))
    ghost = pieces(line, [tiles], b"h" + pair(owned) + signed(1) + number(0))
    # A scalar f64 that goes to the graph, told by the next call.
    sent = text(digits(hashed(struct.pack("<QQd", 15, 0, 1.0))))

    program = hashed(struct.pack("<Q", len(source)) + source)
    yield START, text(digits(program)) + text("") + integer(SHARDS) + integer(BATCH)
    yield REGION, created("region", 0) + domain(line) + text("Cell")
    for colours, content in (([tiles], owned), ([], inner), ([tiles], interior), ([tiles], ghost)):
        yield PARTITION, created("region", 0) + domain(*colours) + text(digits(content))

    def launch(task, where, how, *uses):
        made = created("task", task) + domain(where) + how
        for what, fields in uses:
            made += what + text(fields)
        return made

    def piece(partition):
        return created("partition", partition) + IDENTITY

    # Fields: privilege (1: out, 2: inout, 0: in), operator, then which.
    state, flux = "0", "1"
    whole = created("region", 0)
    yield FILL, launch(0, (0, 1), OWNER_0, (whole, "1/0 " + state)) + real(1.0)
    yield FILL, sent + launch(0, (0, 1), OWNER_0, (whole, "1/0 " + flux)) + real(1.0)
    first = sent
    while True:
        yield LAUNCH, first + launch(1, tiles, CYCLIC, (piece(0), "2/0 " + state))
        first = b""
        yield LAUNCH, launch(2, tiles, CYCLIC, (piece(2), "2/0 " + flux))
        yield LAUNCH, launch(3, tiles, CYCLIC, (piece(2), "2/0 " + flux), (piece(3), "0/0 " + state))


def chain(source):
    before, made = (0, 0), []
    for number_of, (kind, arguments) in zip(range(1, CALLS + 1), calls(source)):
        values = Values(b"") + arguments
        shape = hashed(values.others)
        before = hashed(struct.pack("<QQQQQQ", *before, number_of, kind, *shape) + values.numbers)
        made.append(digits(before))
    return made


def said_by(tool):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.html")
        subprocess.run([tool, "run", str(HERE / "call_hashes.task"), "--report", report], check=True,
                       stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            return re.findall('"hash":"([0-9a-f]{32})"', file.read())[:CALLS]


def main():
    wanted = chain((HERE / "call_hashes.task").read_bytes())
    if len(sys.argv) < 2:
        print("\n".join(wanted))
        return 0
    kept = (HERE / "call_hashes.txt").read_text(encoding="utf-8").split()
    for name, found in (("call_hashes.txt", kept), ("taskspec", said_by(sys.argv[1]))):
        for at, (one, other) in enumerate(zip(wanted, found), 1):
            if one != other:
                print(f"h_{at} is {one}, and {other} in {name}")
                return 1
        if len(found) != len(wanted):
            print(f"{name} has {len(found)} hashes, not {len(wanted)}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
