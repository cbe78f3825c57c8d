// The timeline of a whole program, put in order without a browser: node happenings.js. A run of two chains on two
// workers,
// for which the host program waits.
"use strict";
const assert = require("assert"), fs = require("fs"), path = require("path");

const file = path.join(__dirname, "../../interp/report/viewer/happenings.js");
const Happenings = new Function("report", fs.readFileSync(file, "utf8") + "\nreturn { Happenings, control };");

//          what, host, channel, number, graph, run, begin, duration
const report = { control: [["receive", 1, 0, 0, 0, 0, 10, 90], ["send", 1, 1, 0, 0, 0, 110, 0],
                           ["plan", 0, 0, 0, 0, 0, 5, 15], ["run", 0, 0, 0, 0, 0, 20, 60],
                               ["send", 0, 0, 0, 0, 0, 90, 0]] };
const bars = [{ graph: 0, step: 0, worker: 0, run: 0, begin: 25, end: 45 },
    { graph: 0, step: 1, worker: 1, run: 0, begin: 50, end: 75 }];
const graphs = [{ json: { plan: { steps: [{ then: [1] }, { then: [] }] } } }];
const made = Happenings(report), told = new made.Happenings(made.control, bars, graphs, 120);

assert.deepStrictEqual(told.host.map(({ what, begin, end }) => [what, begin, end]),
                       [["host code", 0, 10], ["receive", 10, 100], ["host code", 100, 110], ["host code", 110, 120]]);
assert.deepStrictEqual(told.graph.map(({ what, begin, end }) => [what, begin, end]),
                       [["records tasks", 0, 5], ["plan", 5, 20], ["run", 20, 80], ["records tasks", 80, 90],
                           ["finishes", 90, 120]]);
assert.deepStrictEqual(told.dependences(1), [0]);
assert.strictEqual(told.messages.length, 1);
assert.deepStrictEqual(told.criticalPath().map(({ what, begin, end }) => [what, begin, end]),
  [["records tasks", 0, 5], ["plan", 5, 20], ["hand-over", 20, 25], ["kernels", 25, 45], ["hand-over", 45, 50],
   ["kernels", 50, 75], ["hand-over", 75, 80], ["records tasks", 80, 90], ["message", 90, 100], ["host code", 100, 110],
       ["host code", 110, 120]]);
assert.match(told.idle(1, 30), /waits for step 0 on worker 0/);
assert.match(told.idle(0, 60), /nothing in this run is left/);
assert.match(told.idle(0, 10), /a plan and its kernels are made/);
assert.match(told.idle(0, 100), /nothing more to run/);
const shares = Object.fromEntries(told.idleShares(2));
assert.ok(Math.abs(shares["plans made"] - 30 / 240) < 1e-9 && Math.abs(shares["inside of runs"] - 75 / 240) < 1e-9);
// One after the other on one worker, though neither needs the other.
const alone = new made.Happenings(made.control, [{ ...bars[0] }, { ...bars[1], worker: 0, begin: 46 }],
  [{ json: { plan: { steps: [{ then: [] }, { then: [] }] } } }], 120);
assert.deepStrictEqual(alone.criticalPath().filter(({ what }) => what === "kernels").map(({ bar }) => bar), [0, 1]);
// Nothing happened, or nobody wrote it down.
const none = Happenings({ control: [] }), empty = new none.Happenings([], [], [], 0);
assert.deepStrictEqual(empty.criticalPath(), []);
assert.deepStrictEqual(new none.Happenings([], bars, graphs, 0).criticalPath(), []);
console.log("all well");
