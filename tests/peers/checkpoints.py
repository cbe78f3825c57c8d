#!/usr/bin/python3
"""Checkpoints and numpy: what one of them writes the other one reads.

checkpoints.py TASKSPEC     prints what differs; exits 1 if something does, 77 without numpy
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

SEAL = "taskspec.checkpoint"
AGENTS = """
agent Layer(n: int) {
  weight w: f32[n, 2] = uniform(seed: 3)
  state b: f64[n] = constant(0.5)
  task scale(in x: f32[2]) -> (y: f32[n, 2]) { y = w * x }
}
agent Net {
  state k: i64[1] = constant(7)
  state f: bool[3] = constant(1)
  state t: tern[2] = constant(-1)
  state u: u4[2] = constant(15)
  state h: f16[2, 1] = constant(0.25)
  layer c1 = Layer(3)
  layer blocks = [Layer(1), Layer(2)]
  graph all(x: f32[2]) -> (y: f32[3, 2]) { y = c1.scale(x).y + blocks[0].scale(x).y.sum(0) }
}
let net = Net()
"""
TYPES = {"k": ("int64", (1,)), "f": ("bool", (3,)), "t": ("int8", (2,)), "u": ("uint8", (2,)), "h": ("float16", (2, 1)),
         "c1.w": ("float32", (3, 2)), "c1.b": ("float64", (3,)), "blocks[0].w": ("float32", (1, 2)),
         "blocks[0].b": ("float64", (1,)), "blocks[1].w": ("float32", (2, 2)), "blocks[1].b": ("float64", (2,))}
wrong = 0


def expect(what, found, wanted):
    global wrong
    if found != wanted:
        wrong += 1
        print(f"{what}: {found!r}, not {wanted!r}")


def run(tool, folder, text):
    path = os.path.join(folder, "x.task")
    with open(path, "w", encoding="utf-8") as file:
        file.write(AGENTS + text)
    done = subprocess.run([tool, "run", path], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "ours.npz")
        shown = run(tool, folder, 'save(net, "ours.npz")\nprint(net.all([1.0, 2.0] as f32[2]).y.array)\n')
        with np.load(ours) as z:
            arrays = {name: z[name] for name in z.files}
        seal = bytes(arrays.pop(SEAL)).decode()
        expect("the seal", bool(re.fullmatch(r"taskspec checkpoint 1 xxh3 [0-9a-f]{32}", seal)), True)
        expect("names and types", {n: (str(a.dtype), a.shape) for n, a in arrays.items()}, TYPES)
        expect("values", [arrays[n].ravel().tolist() for n in ("k", "f", "t", "u", "h")],
               [[7], [True] * 3, [-1, -1], [15, 15], [0.25, 0.25]])
        x = np.array([1, 2], np.float32)
        expect("weights", np.array(eval(shown), np.float32).tolist(),
               (arrays["c1.w"] * x + arrays["blocks[0].w"] * x).tolist())

        # numpy's own, in another order, stored and packed; with our seal, as long as nothing changed.
        turned = dict(reversed(arrays.items()))
        turned["c1.w"] = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
        turned["blocks[0].w"] = np.array([[10, 20]], ">f4")
        show = 'load(net, "theirs.npz")\nprint(net.all([1.0, 1.0] as f32[2]).y.array)\n'
        theirs = os.path.join(folder, "theirs.npz")
        for save in (np.savez, np.savez_compressed):
            save(theirs, **turned)
            expect(save.__name__, run(tool, folder, show), "[[10, 21], [12, 23], [14, 25]]\n")
        text = np.frombuffer(seal.encode(), np.uint8)
        np.savez_compressed(theirs, **{SEAL: text}, **dict(reversed(arrays.items())))
        again = 'load(net, "theirs.npz")\nsave(net, "again.npz")\n'
        expect("our seal on the same arrays", run(tool, folder, again), "")
        expect("saved again", open(os.path.join(folder, "again.npz"), "rb").read() == open(ours, "rb").read(), True)
        np.savez(theirs, **{SEAL: text}, **turned)
        said = run(tool, folder, again)
        expect("our seal on others", "E7003: 'theirs.npz' was changed since it was written" in said, True)
    print(f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
