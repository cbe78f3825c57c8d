#include "frontend/parse_foreign.hpp"

#include <array>

#include "frontend/token.hpp"

namespace taskspec::parsing {

namespace {

constexpr std::string_view function_help =
    "a function is written: fn f(x: int) -> int { return x }; of tensors: task f(x: f32[N]) -> (y: f32[N]) { y = x }";
constexpr std::string_view value_help = "a value is named by let x = 3, a variable by var x = 3";
constexpr std::string_view import_help = "import nn brings in a module; its members are nn.Linear";
constexpr std::string_view closure_help = "x => x + 1 makes a function where one is taken: map(l, x => x + 1)";
constexpr std::string_view logic_help = "'&&', '||' and '!' are and, or and not; of tensors '&', '|' and '!'";
constexpr std::string_view choice_help =
    "'if' is a statement: var x = 2; if c { x = 1 }; between tensors where(c, a, b) chooses";
constexpr std::string_view loop_help = "a loop is written: for i in 0..3 { ... }";
constexpr std::string_view pair_help = "several values stand in brackets: let (a, b) = (1, 2)";
constexpr std::string_view map_help = "there are no maps or sets; [(\"a\", 1)] is a list of pairs";
constexpr std::string_view exception_help =
    "there are no exceptions: what fails ends the run; assert(c, \"why\") fails where c does not hold";

// Words that begin a statement elsewhere, and are names here.
struct ForeignStart {
  std::string_view word, help;
};
constexpr std::array foreign_starts{
    ForeignStart{"def", function_help},
    ForeignStart{"function", function_help},
    ForeignStart{"func", function_help},
    ForeignStart{"fun", function_help},
    ForeignStart{"void", function_help},
    ForeignStart{"int", value_help},
    ForeignStart{"float", value_help},
    ForeignStart{"double", value_help},
    ForeignStart{"bool", value_help},
    ForeignStart{"string", value_help},
    ForeignStart{"auto", value_help},
    ForeignStart{"const", value_help},
    ForeignStart{"constexpr", value_help},
    ForeignStart{"static", value_help},
    ForeignStart{"final", value_help},
    ForeignStart{"val", value_help},
    ForeignStart{"global", "a fn sees the lets of its file; what changes is handed over and returned"},
    ForeignStart{"nonlocal", "a fn sees the lets of its file; what changes is handed over and returned"},
    ForeignStart{"class", "agent A(k: float) { ... } groups parameters, slots and tasks; a tuple holds a few values"},
    ForeignStart{"struct", "agent A(k: float) { ... } groups parameters, slots and tasks; a tuple holds a few values"},
    ForeignStart{"enum", "ints or texts name cases: let red = 0"},
    ForeignStart{"from", import_help},
    ForeignStart{"using", import_help},
    ForeignStart{"use", import_help},
    ForeignStart{"require", import_help},
    ForeignStart{"do", "while true { ...; if done { break } } is a loop that ends below"},
    ForeignStart{"loop", "while true { ... } goes on until a break"},
    ForeignStart{"repeat", loop_help},
    ForeignStart{"foreach", loop_help},
    ForeignStart{"until", "while !c { ... } goes on until c holds"},
    ForeignStart{"unless", "if !c { ... } is done unless c holds"},
    ForeignStart{"switch", "cases are told apart by: if x == 1 { ... } else if x == 2 { ... } else { ... }"},
    ForeignStart{"match", "cases are told apart by: if x == 1 { ... } else if x == 2 { ... } else { ... }"},
    ForeignStart{"case", "cases are told apart by: if x == 1 { ... } else if x == 2 { ... } else { ... }"},
    ForeignStart{"try", exception_help},
    ForeignStart{"catch", exception_help},
    ForeignStart{"except", exception_help},
    ForeignStart{"raise", "assert(false, \"why\") ends the run with a message"},
    ForeignStart{"throw", "assert(false, \"why\") ends the run with a message"},
    ForeignStart{"with", "files are read whole: read(path), load(f32[_, 3], path); nothing is closed"},
    ForeignStart{"yield", "a list collects values: l += [x]"},
    ForeignStart{"del", "names end with their block; nothing is deleted"},
    ForeignStart{"delete", "names end with their block; nothing is deleted"},
    ForeignStart{"print", "print is a function: print(x)"},
    ForeignStart{"println", "print(x) writes a value and a line end"},
    ForeignStart{"echo", "print(x) writes a value and a line end"},
    ForeignStart{"puts", "print(x) writes a value and a line end"},
    ForeignStart{"assert", "assert is a function: assert(x == 1, \"why\")"},
    ForeignStart{"async", "a call of a task is a future already; .scalar and .array wait for it"},
    ForeignStart{"await", "a call of a task is a future already; .scalar and .array wait for it"},
    ForeignStart{"end", "a block ends with '}'"},
    ForeignStart{"template", "parameters have types that are written; of a tensor any extents: f32[N]"},
    ForeignStart{"cout", "print(a, b) writes values and a line end"},
    ForeignStart{"type", "types have no names of one's own: write f32[N], (int, string)"},
};

std::string_view by_start(const Surroundings& s) {
  if (s.open == '[' || s.open == '(') return {};
  const bool names_type = s.start == "int" || s.start == "void" || s.start == "float" || s.start == "double";
  if (names_type && s.before == s.start && s.next == "(") return function_help;
  if (s.start == "cout") return "print(a, b) writes values and a line end";
  if (s.before != s.start) return {};
  for (const ForeignStart& row : foreign_starts)
    if (row.word == s.start) return row.help;
  return {};
}

// Words inside of a statement.
std::string_view by_word(const Surroundings& s) {
  if (s.here == "and" || s.here == "or" || s.before == "not") return logic_help;
  if (s.here == "in" || (s.here == "not" && s.next == "in"))
    return s.start == "for" ? loop_help : "len(filter(l, x => x == 1)) > 0 tells whether 1 is in l";
  if (s.here == "is") return "'==' compares";
  if ((s.here == "if" && s.start != "if" && !s.wants_value) || s.here == "?") return choice_help;
  if (s.here == "->" && s.touches) return "a member stands behind a '.': a.b";
  if (s.before == "await") return "a call of a task is a future already; .scalar and .array wait for it";
  if (s.before == "lambda" || s.here == "->" || (s.here == "|" && s.wants_value)) return closure_help;
  if (s.before == "new") return "A(3) makes one";
  if (s.before == "mut") return "var x = 3 is a variable";
  if (s.here == "for" && s.open == '[')
    return "map(l, x => x * 2) makes a list of another one, and filter(l, x => x > 0) chooses from it";
  if (s.wants_slot && (s.here == "var" || s.here == "let"))
    return "what an agent keeps is a slot: state n: f32[1] = zero()";
  if (s.is_string && s.touches && !s.before.empty())
    return s.before.back() == '"' ? "a string ends in its line; '\\n' stands for a line break in it, and '+' joins"
                                  : "format(\"{} of {}\", a, b) puts values into a text";
  return {};
}

std::string_view by_number(const Surroundings& s) {
  const bool digit = !s.before.empty() && s.before[0] >= '0' && s.before[0] <= '9';
  if (s.is_name && s.touches && digit)
    return s.before == "0" ? "an int is decimal or hexadecimal: 31, 0x1f"
                           : "numbers have no suffix: an int has 64 bits, 3.0 is a float; as f32 makes a tensor";
  const bool next_digit = !s.next.empty() && s.next[0] >= '0' && s.next[0] <= '9';
  if (s.here == "." && s.wants_value && next_digit) return "a float begins with a digit: 0.5";
  const bool here_digit = !s.here.empty() && s.here[0] >= '0' && s.here[0] <= '9';
  if (s.before == "." && here_digit) return "an element of a tuple is t[0]";
  if (s.before == "." && (s.is_end || s.here == ")" || s.here == ",")) return "a float ends with a digit: 5.0";
  return {};
}

// The colon of a slice, of a body, of a declaration.
std::string_view by_colon(const Surroundings& s) {
  if (s.here != ":") return {};
  if (s.open == '[' && (s.next == ":" || s.before == ":"))
    return "a range has no step: map(range(a, b, step), i => l[i]) picks items, x.gather(i, axis) those of a tensor";
  if (s.open == '[') return "a range is written with '..': x[0..2], x[1..], x[..2]";
  if (s.next == "=") return value_help;
  if (s.next == ":") return "a member stands behind a '.': a.b";
  return {};
}

std::string_view by_sign(const Surroundings& s) {
  if (s.before == "*" && (s.here == "*" || s.here == "*=")) return "pow(x, n) is a power";
  if (s.before == "." && s.here == "*") return "operators work element by element, without a dot: x * y";
  if (s.here == "'" && s.touches && s.before != "=")
    return "x.permute(1, 0) exchanges two axes; texts stand in double quotes";
  if (s.here == "&" && s.wants_value) return "values are copied; 'inout' takes a place: task f(inout x: f32[N])";
  if (s.before == "<" && s.here == "<")
    return "an int is multiplied: x * 8; shift_left(x, n) shifts the elements of a tensor";
  if (s.before == "<" && s.here == ">") return "'!=' compares";
  if (s.here == "=" && s.before == "==") return "'==' compares";
  if (s.here == "=" && s.touches && (s.before == "%" || s.before == "&" || s.before == "|" || s.before == "^"))
    return "write it out: x = x % 2";
  if (s.here == "=" && s.open == '(') return "arguments are named with ':': f(x, axis: 1)";
  if (s.here == "." && s.before == "..") return "a whole axis is written '..': x[.., 0]";
  if (s.here == ".." && s.before.ends_with('.')) return "a range is written a..b, and ends before b";
  if (s.here == "+" && s.next == "+") return "there is no '++'; write 'x += 1'";
  if (s.start == "-" && s.before != "=") return "comments begin with '//'; x -= 1 counts down";
  if (s.here == "@" && s.start == "@")
    return "there are no annotations: task f(x: f32[N]) -> (y: f32[N]) { ... } is a task";
  if (s.here == "{" && s.wants_value) return map_help;
  if (s.here == "#" && s.next == "include") return import_help;
  return {};
}

std::string_view in_signature(const Surroundings& s) {
  if (s.wants_type)
    return s.is_name ? "the type stands behind the name: x: int" : "parameters have types: x: int, x: f32[N], l: [int]";
  const bool declares = s.start == "fn" || s.start == "task" || s.start == "graph";
  if (declares && s.open == '(' && s.here == "*") return "a list takes any number of values: fn f(l: [int])";
  if (declares && s.open == '(' && s.here == "&")
    return "values are copied; 'inout' takes a place: task f(inout x: f32[N])";
  return {};
}

std::string_view in_loop_or_body(const Surroundings& s) {
  if (s.start == "for") {
    if (s.here == ":" && !s.next.empty() && s.next[0] >= '0' && s.next[0] <= '9')
      return "a range is written a..b, and ends before b";
    if (s.here == ",") return "a pattern stands in brackets: for (i, x) in enumerate(l) { ... }";
    if (s.here == "=" || s.before == "=") return "for i in 1..4 { ... } counts 1, 2, 3";
    if (s.here == ".." || s.before.ends_with("..")) return "a range is written a..b, and ends before b";
    if (!s.wants_body) return loop_help;
  }
  if (s.wants_body && s.here == "," && (s.start == "fn" || s.start == "graph"))
    return "several results are a tuple: -> (int, int)";
  if (s.wants_body && (s.start == "if" || s.start == "while" || s.start == "for" || s.start == "else" || s.here == ":"))
    return "a body stands in braces: if x > 0 { ... }";
  if (s.wants_start && (s.is_end || s.here == ";")) return "a name has a value from the beginning: var x = 0";
  if (s.here == "," && !s.open)
    return s.start == "return" ? "several results stand in brackets: return (a, b)" : pair_help;
  if (s.here == "," && s.open == '{')
    return s.start == "return" ? "several results stand in brackets: return (a, b)" : pair_help;
  return {};
}

}  // namespace

std::string_view foreign_advice(const Surroundings& s) {
  for (auto rule : {by_start, in_signature, by_colon, by_number, by_word, by_sign, in_loop_or_body})
    if (std::string_view help = rule(s); !help.empty()) return help;
  return {};
}

}  // namespace taskspec::parsing
