// Operators, from what binds tightest to what binds loosest.
#include "interp/reference/language/chapters.hpp"

namespace taskspec {

namespace {

constexpr LanguageRecord operator_records[] = {
    {"operators", "postfix   - !   as   * / % @   + -   ..   &   |   < <= > >= == !=   && ||   >>",
     "From tight to loose; && binds tighter than ||; binary ones group to the left, comparisons and ranges do not "
     "chain (E1004: write a < b && b < c). -x as T is (-x) as T, 0..n - 1 is 0..(n - 1), and a member of a conversion "
     "needs brackets: (x as f32[4]).sum(0). There is no ** (pow), no // (a / b of ints), no ? : (if, or where for "
     "tensors), no ++ and no not, and, or: they are !, && and ||.",
     "print(1 + 2 * 3, -2 as float, 7 & 3 | 8, 0..2 + 1, !true || 1 < 2)\n"
     "// expect: 7 -2 11 0..3 true\n"},
    {"+", "a + b", "The sum; of strings or lists: both joined. The op add.",
     "print(1 + 2.5, \"a\" + \"b\", [1] + [2, 3])\n"
     "// expect: 3.5 ab [1, 2, 3]\n"},
    {"-", "a - b     -a", "The difference, or the negative. The ops sub and neg.",
     "print(5 - 7, -(2 + 1))\n"
     "// expect: -2 -3\n"},
    {"*", "a * b", "The product, of tensors element by element (a matrix product is @). The op mul.",
     "print(([[1.0, 2.0], [3.0, 4.0]] as f32[2, 2] * [10.0, 1.0] as f32[2]).array)\n"
     "// expect: [[10, 2], [30, 4]]\n"},
    {"/", "a / b",
     "The quotient. Of ints it drops the fraction, towards zero, and by zero is E5002; 7 / 2.0 is 3.5. In a signature "
     "it says that the one divides the other: see extents. The op div.",
     "print(7 / 2, -7 / 2, 7 / 2.0, 7 as float / 2)\n"
     "// expect: 3 -3 3.5 3.5\n"},
    {"%", "a % b", "What is left by the quotient, with the sign of a. The op mod.",
     "print(7 % 3, -7 % 3, 7.5 % 2.0)\n"
     "// expect: 1 -1 1.5\n"},
    {"@", "a @ b",
     "The matrix product of tensors; a side of rank 1 counts as a row (left) or column (right), higher ranks are "
     "batches. The op matmul.",
     "print(([[1.0, 2.0]] as f32[1, 2] @ [[3.0], [4.0]] as f32[2, 1]).array)\n"
     "// expect: [[11]]\n"},
    {"as", "x as f32[4]     i as float     [1, 2] as i8[2]",
     "Converts: to an integer it rounds half to even and saturates, nan becomes 0, bool is != 0. It makes a tensor of "
     "a host number or list, and fixes a shape (E5004 when it is another one); it never changes the number of "
     "elements. x as i32 keeps the shape.",
     "print(2.5 as int, ([1.4, 300.0] as f32[2] as i8).array, 3 as float)\n"
     "// expect: 2 [1, 127] 3\n"},
    {"..", "a..b     x[a..b]     x[a..]     x[..b]     x[..]",
     "The ints from a up to but not including b; empty if b <= a. In an index a bound may be left out. Indices count "
     "from 0, never from the end: x[len(x) - 1] is the last one.",
     "let l = [1, 2, 3, 4]\n"
     "print(l[1..3], l[2..], l[..1], 0..3)\n"
     "// expect: [2, 3] [3, 4] [1] 0..3\n"},
    {"indexing", "x[i]     x[i, j]     x[a..b, ..]     \"abc\"[1]",
     "An int drops its axis, a range keeps it; axes that are not written are whole. Lists, strings (by code point) "
     "and tensors count from 0, and all bounds must lie inside (E2004 where that is known, else E5003): there are no "
     "indices from the end, so x[len(x) - 2..] takes the last two. An index of a tensor may be a tensor of one int; "
     "gather takes many.",
     "let x = iota(6).reshape(2, 3)\n"
     "print(x[1].array, x[.., 0].array, x[0, 1..].array, \"abc\"[1])\n"
     "// expect: [3, 4, 5] [0, 3] [1, 2] b\n"},
    {"&", "a & b", "Both: of bools and bool tensors element by element, of ints bit by bit. The op and.",
     "let x = [1, 5, 9] as i32[3]\n"
     "print(((x > 2) & (x < 8)).array, 6 & 3)\n"
     "// expect: [false, true, false] 2\n"},
    {"|", "a | b", "One or both, as &. The op or.",
     "print(([true, false] as bool[2] | [false, false] as bool[2]).array, 6 | 1)\n"
     "// expect: [true, false] 7\n"},
    {"!", "!a", "Not; of tensors element by element, of ints bit by bit. The op not.",
     "print(!(1 < 2), (!([true, false] as bool[2])).array)\n"
     "// expect: false [false, true]\n"},
    {"<", "a < b", "Less; a bool, of tensors a bool tensor. Numbers and strings. The op lt.",
     "print(1 < 2, \"a\" < \"b\", ([1, 5] as i32[2] < 3).array)\n"
     "// expect: true true [true, false]\n"},
    {"<=", "a <= b", "Less or equal, as <. The op le.",
     "print(2 <= 2)\n"
     "// expect: true\n"},
    {">", "a > b", "Greater, as <. The op gt.",
     "print(3 > 2)\n"
     "// expect: true\n"},
    {">=", "a >= b", "Greater or equal, as <. The op ge.",
     "print(1 >= 2)\n"
     "// expect: false\n"},
    {"==", "a == b",
     "Equal; of tensors element by element, of lists, tuples and strings by their contents. Floats exactly, so nan "
     "equals nothing: close(a, b) has a tolerance. The op eq.",
     "print([1, 2] == [1, 2], 0.1 + 0.2 == 0.3, close(0.1 + 0.2, 0.3))\n"
     "// expect: true false true\n"},
    {"!=", "a != b", "Not equal, as ==. The op ne.",
     "print(1 != 2)\n"
     "// expect: true\n"},
    {"&&", "a && b",
     "Both, of host bools: b is looked at only if a holds. In a `graph` or `task` also of tensors of one bool; of "
     "tensors element by element it is &.",
     "let l = [1]\n"
     "var k = 0\n"
     "while k < len(l) && l[k] == 1 { k += 1 }\n"
     "print(k)\n"
     "// expect: 1\n"},
    {"||", "a || b", "One or both, of host bools: b is looked at only if a does not hold. Of tensors it is |.",
     "print(1 > 2 || 2 > 1)\n"
     "// expect: true\n"},
    {">>", "a >> b",
     "One task of two, b after a, of tasks, bound tasks and graphs: an output goes to the input of its name; if none "
     "matches and a has one output, to the first input of b (else E3004).",
     "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
     "let two = inc >> inc\n"
     "print(two.inputs, two.outputs, two([1.0] as f32[1]).array)\n"
     "// expect: (x) (y) [3]\n"},
    {".", "x.name     x.f(a)     module.name",
     "A member. x.f(a) is f(x, a) for every op: x.sum(0) is sum(x, 0). Outputs of a call go first, then members of its "
     "only output.",
     "let x = [1.0, 2.0] as f32[2]\n"
     "print(x.sum(0).array == sum(x, 0).array, x.shape)\n"
     "// expect: true [2]\n"},
};

}  // namespace

LanguageChapter operators_chapter() {
  return {"Operators", "On host values they run at once; on a tensor each is an op, and what it gives is a future.",
          operator_records};
}

}  // namespace taskspec
