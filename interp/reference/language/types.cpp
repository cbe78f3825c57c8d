// Extents, literals and the few rules about types that have no word.
#include "interp/reference/language/chapters.hpp"

namespace taskspec {

namespace {

constexpr LanguageRecord extent_records[] = {
    {"extents", "f32[N, 2 * N]     f32[B, C, H / 2, W / 2]     f32[T, d / h]     f32[_]",
     "In a signature a capital name is a dimension: the arguments say what it is, and in the body it is an int. "
     "Extents are made of dimensions, int parameters and numbers by + - * /, where / must leave no rest: a call with "
     "H = 5 of something that says H / 2 is E5004, with both numbers. Each dimension stands alone in some parameter, "
     "or in a multiple, f32[2 * H], of which what "
     "else stands there is said by the parameters before it: then H is half of what comes, and E5004 where that is "
     "odd. "
     "`_` is any extent, in parameters. What is known is compared before the program runs (E2001), the rest when it "
     "does (E5004). In a body an extent is any int: fill(f32[len(l) + 1], 0.0).",
     "task halved(in x: f32[B, C, H, W]) -> (y: f32[B, C, H / 2, W / 2]) { y = x.max_pool(2) }\n"
     "fn heads(x: f32[T, D], h: int) -> f32[h, T, D / h] { return x.reshape(T, h, D / h).permute(1, 0, 2) }\n"
     "print(halved(fill(f32[1, 3, 8, 6], 1.0)).y.shape, heads(fill(f32[5, 12], 1.0), 4).shape)\n"
     "// expect: [1, 3, 4, 3] [4, 5, 3]\n"},
    {"dimensions", "task t(in x: f32[N, M]) -> (y: f32[M])",
     "Names of extents, read off the arguments: see extents. Two different ones are never taken as equal; use one name "
     "to say that two extents are the same.",
     "fn rows(x: f32[N, M]) -> int { return N * M }\n"
     "print(rows(fill(f32[2, 3], 0.0)))\n"
     "// expect: 6\n"},
    {"precisions", "bool tern u4 i8 u8 i9 i16 u16 i28 i32 u32 i64 u64 f16 f32 f64",
     "What the elements of a tensor are. Nothing is converted by itself (E2002): x as f32. A number of the host takes "
     "the precision of the tensor beside it. tern, u4, i9 and i28 only store.",
     "let x = [1, 2] as i8[2]\n"
     "print((x as f32 * 0.5).array, x.precision)\n"
     "// expect: [0.5, 1] i8\n"},
    {"futures", "let t = task(x); t.y",
     "A call of a task gives an invocation, and t.y is the future of its output: a name and a type, which may go on "
     "into other calls. Nothing has to run before somebody receives: .scalar, .array, .iter, .handle.",
     "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
     "let t = inc([1.0] as f32[1])\n"
     "print(t.y)\n"
     "print(t.y.array)\n"
     "// expect: <inc#0.y : f32[1], 1 step>\n"
     "// expect: [2]\n"},
    {"true", "true", "The bool that holds.",
     "print(true && true)\n"
     "// expect: true\n"},
    {"false", "false", "The bool that does not hold.",
     "print(true && false)\n"
     "// expect: false\n"},
    {"literals", "12     0xff     1_000     1.5     2e-3     \"text\\n\"     [1, 2]     (1, \"a\")     true",
     "Ints have 64 bits, floats are IEEE doubles; [] needs a type: let l: [int] = []. A tuple has at least two parts. "
     "Texts stand in double quotes and end in their line; \\n \\t \\r \\0 \\\\ \\\" \\u{e9} are escapes, and "
     "format(\"{} of {:.2f}\", a, b) puts values in.",
     "print(0xff, 1_000, 2e-3, \"a\\tb\", [1, 2], (1, \"a\"), format(\"{:.1f}\", 2.25))\n"
     "// expect: 255 1000 0.002 a\tb [1, 2] (1, \"a\") 2.2\n"},
    {"pi", "pi", "3.141592653589793.",
     "print(pi)\n"
     "// expect: 3.141592653589793\n"},
    {"inf", "inf     -inf", "A float above all others.",
     "print(-inf < 0.0)\n"
     "// expect: true\n"},
    {"nan", "nan", "A float that is no number; it equals nothing, itself included: isnan(x).",
     "print(nan == nan)\n"
     "// expect: false\n"},
    {"sharding", "how: sharding", "A name for fn(int, int, int) -> int.",
     "fn first(f: sharding) -> int { return f(1, 2, 3) }\n"
     "print(first((p, n, s) => p + n + s))\n"
     "// expect: 6\n"},
    {"gradients", "let m = train(net, loss: \"mse_avg\", optimizer: sgd(lr: 0.1)); m.step(x, t)",
     "There is no op for a gradient: train(agent, ...) makes one that learns, m.step(x, t) goes forward and back and "
     "changes the weights, and m.grad(\"w\") is the gradient of a weight after m.backward(t). Where a record says "
     "\"It has a gradient\", the op may stand in such a net.",
     "agent Line() {\n"
     "  weight w: f32[1, 1] = constant(1.0)\n"
     "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n"
     "}\n"
     "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
     "m.forward([[2.0]] as f32[1, 1])\n"
     "m.backward([[1.0]] as f32[1, 1])\n"
     "print(m.grad(\"w\").array)\n"
     "// expect: [[4]]\n"},
};

}  // namespace

LanguageChapter types_chapter() {
  return {"Types and extents",
          "A type is a precision with extents, f32[N, 4], or one of the host: int float bool string range, lists [T], "
          "tuples (T, U), functions fn(T) -> U.",
          extent_records};
}

}  // namespace taskspec
