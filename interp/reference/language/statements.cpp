// Words that control, and whole expressions that begin with a word.
#include "interp/reference/language/chapters.hpp"

namespace taskspec {

namespace {

constexpr LanguageRecord statement_records[] = {
    {"if", "if CONDITION { ... } else if CONDITION { ... } else { ... }",
     "Braces are always written, brackets around the condition are not needed. The condition is a host bool; in a "
     "`graph` or `task` also a tensor of one bool. In a `fn` a tensor is received first: if x.scalar > 0.0.",
     "let n = 3\n"
     "if n > 2 { print(\"many\") } else { print(\"few\") }\n"
     "// expect: many\n"},
    {"else", "if CONDITION { ... } else { ... }",
     "What happens otherwise; `else` stands on the line of the brace before it. As an expression there is "
     "where(c, a, b) for tensors.",
     "let x = -2\n"
     "if x > 0 { print(1) } else if x == 0 { print(0) } else { print(-1) }\n"
     "// expect: -1\n"},
    {"for", "for x in VALUES { ... }     for i in 0..n { ... }     for (i, x) in enumerate(l) { ... }",
     "Runs over a range (a..b: from a up to but not including b), a list, the points of a region, piece or view in "
     "their order (of several axes tuples), or a stream (x.iter); a pattern takes tuples apart. Bounds are fixed when "
     "it begins, the loop variable is fresh each turn. range(a, b, step) makes a "
     "list with a step.",
     "for i in 0..2 { print(i) }\n"
     "for (k, name) in enumerate([\"a\", \"b\"]) { print(k, name) }\n"
     "// expect: 0\n"
     "// expect: 1\n"
     "// expect: 0 a\n"
     "// expect: 1 b\n"},
    {"while", "while CONDITION { ... }", "As long as the condition holds; conditions as in `if`.",
     "var n = 10\n"
     "while n > 3 { n = n / 2 }\n"
     "print(n)\n"
     "// expect: 2\n"},
    {"break", "break", "Leaves the innermost loop.",
     "for i in 0..9 { if i == 2 { break }; print(i) }\n"
     "// expect: 0\n"
     "// expect: 1\n"},
    {"continue", "continue", "Goes on with the next turn of the innermost loop.",
     "for i in 0..3 { if i == 1 { continue }; print(i) }\n"
     "// expect: 0\n"
     "// expect: 2\n"},
    {"return", "return VALUE     return (a, b)     return",
     "Ends a `fn` with its result. A `task` or `graph` sets its outputs instead: y = x + 1.0.",
     "fn sign_of(x: int) -> int { if x < 0 { return -1 }; return 1 }\n"
     "print(sign_of(-4))\n"
     "// expect: -1\n"},
    {"assignment", "x = e     x += e     x -= e     x *= e     x /= e     l[i] = e",
     "The left side is a var, an output, a state, or an element of a list. Elements of tensors cannot be set (E1402): "
     "where, concat and pad build tensors. There is no ++; x += 1 does it.",
     "var l = [1, 2, 3]\n"
     "l[1] *= 10\n"
     "print(l)\n"
     "// expect: [1, 20, 3]\n"},
    {"run", "run CALL on BACKEND     let r = run g(x) on host(threads: 2)",
     "Runs a call in a session of its own on a backend, and gives its outputs (of a fn: .value) and .report. Without "
     "it, calls use the session of the program, on the backend of --on.",
     "fn twice(n: int) -> int { return 2 * n }\n"
     "let r = run twice(4) on host\n"
     "print(r.value, r.report.tasks)\n"
     "// expect: 8 0\n"},
    {"on", "run CALL on BACKEND", "Says on which backend: host, null, hw (taskspec doc host, doc hw).",
     "graph g(x: f32[2]) -> (y: f32[2]) { y = x + 1.0 }\n"
     "print((run g([1.0, 2.0] as f32[2]) on host(threads: 1)).y.array)\n"
     "// expect: [2, 3]\n"},
    {"=>", "x => EXPRESSION     (a, b) => EXPRESSION",
     "A function value of one expression, where one is asked for: map, filter, lut, or a parameter f: fn(int) -> int. "
     "It keeps the values that it uses as they are when it is made.",
     "let k = 3\n"
     "print(map([1, 2], x => x * k), filter([1, 2, 3], x => x % 2 == 1))\n"
     "// expect: [3, 6] [1, 3]\n"},
    {"comments", "// to the end of the line",
     "There are no block comments. A line `// expect: text` says what the program prints, and `taskspec test` checks "
     "that; `// error E2001 @3` expects an error in line 3.",
     "print(1)  // one\n"
     "// expect: 1\n"},
    {"names", "a-z A-Z 0-9 _, not beginning with a digit",
     "No name is a word of the language: agent as break by continue else extern false fields fn for graph if import in "
     "inout ir launch let on out reduce region return run task trace true var while. Names may stand for other things "
     "in inner scopes. Two statements on one line need a ; between them, and a line "
     "that begins with an operator or a dot goes on with the one before; a bracket ( or [ or a minus begins a new "
     "one.",
     "let sum_of_all = [1, 2, 3]\n"
     "  .sum()\n"
     "print(sum_of_all); print(1)\n"
     "// expect: 6\n"
     "// expect: 1\n"},
    {"trace", "trace { ... }",
     "Marks launches that repeat, for shards: what is called in it is analysed once or twice, and then replayed "
     "without "
     "analysis, as long as it comes again in the same way. `trace` at one place is one trace, which ends however it is "
     "left, also by break, continue or return. Loops that repeat themselves are found without it, a turn later. It "
     "changes no value, and elsewhere than on mpi it means nothing.",
     "fields Cell { state: f64 }\n"
     "task inc(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
     "let cells = region Cell[4]\n"
     "let own = blocks(cells, 2)\n"
     "for t in 0..3 { trace { launch inc(own[i]) for i in 0..2 } }\n"
     "print(cells.state.array)\n"
     "// expect: [3, 3, 3, 3]\n"},
    {"launch", "launch t(p[f(i)], x) for i in 0..n     launch t(p[i, j]) for (i, j) in grid(n, m)",
     "Calls a task once for each point of a range or grid, side by side: p[f(i)] is another piece of a partition for "
     "each, an int argument may be another number, f(i) too, so that a point can be told its own colour; everything "
     "else is the same for all. No point may write what another one uses (E3101). It gives a map for "
     "each output: .sum() .prod() .min() .max() in a fixed order, .gather(), and m[i], which another launch over the "
     "same points may take. t may be the task of an agent, a.t. In a graph it may stand in `if`, `for` and `while`, "
     "also where a tensor decides.",
     "fields Cell { state: f64 }\n"
     "task total(in c: Cell[_].{state}) -> (s: f64[1]) { s = c.state.sum(0) }\n"
     "let cells = region Cell[8]\n"
     "fill(cells.state, 0.5)\n"
     "let own = blocks(cells, 4)\n"
     "let m = launch total(own[i]) for i in 0..4\n"
     "print(m.s.sum().scalar, m.s[1].array, m.s.gather().shape[0])\n"
     "// expect: 4 [1] 4\n"
     "task number(inout c: Cell[_].{state}, in colour: int) { for i in c { c[i].state = colour as f64 } }\n"
     "launch number(own[i], 10 * i) for i in 0..4\n"
     "print(cells.state.array)\n"
     "// expect: [0, 0, 10, 10, 20, 20, 30, 30]\n"},
    {"by", "launch t(p[i]) for i in 0..n by s",
     "Says which shard a point goes to: cyclic, block (as without it), or any sharding. Where there is one shard it "
     "means nothing.",
     "fields Cell { state: f64 }\n"
     "task inc(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
     "let cells = region Cell[4]\n"
     "let own = blocks(cells, 2)\n"
     "launch inc(own[i]) for i in 0..2 by cyclic\n"
     "print(cells.state.sum(0).scalar)\n"
     "// expect: 4\n"},
};

}  // namespace

LanguageChapter statements_chapter() {
  return {"Statements", "A block stands in braces; statements end at the line's end or at a ;.", statement_records};
}

}  // namespace taskspec
