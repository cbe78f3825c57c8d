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
     "Runs over a range (a..b: from a up to but not including b), a list, or a stream (x.iter); a pattern takes "
     "tuples apart. Bounds are fixed when it begins, the loop variable is fresh each turn. range(a, b, step) makes a "
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
    {"trace", "trace { ... }", "Marks what repeats.", "", "regions"},
    {"launch", "launch t(p[i]) for i in 0..n by s", "One call for each point of a domain, side by side.", "",
     "regions"},
    {"by", "launch t(p[i]) for i in 0..n by s", "Says which shard a point goes to.", "", "shards"},
};

}  // namespace

LanguageChapter statements_chapter() {
  return {"Statements", "A block stands in braces; statements end at the line's end or at a ;.", statement_records};
}

}  // namespace taskspec
