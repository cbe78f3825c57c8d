#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo syntax_family[] = {
    {.code = "E0001",
     .summary = "unexpected token",
     .program = R"(let x = * 2)",
     .cause = R"(The text stops being a program at the marked token: something else must stand there. A line break ends
a statement where one can end, so a missing operator or bracket may show up at the start of the next
line. Keywords such as `in`, `on`, `by`, `run` and `region` cannot be names.)",
     .fix = R"(Write what the message expects, or remove the token. An expression goes on in the next line when the
line break stands after an operator or inside ( ) or [ ].)"},
    {.code = "E0002",
     .summary = "open string or bracket",
     .program = R"(print((1 + 2) * 3)",
     .cause = R"(A string or bracket is opened and never closed, or closed by a bracket of another kind. Strings end on
the line they begin on.)",
     .fix = R"(Close it where it should end; the label points at the place where it was opened. A line break inside
a string is written \n.)"},
    {.code = "E0003",
     .summary = "bad escape in a string",
     .program = R"(print("100\%"))",
     .cause = R"(After a backslash a string knows only \n \t \r \0 \\ \" and \u{hex}, the last with the number of a
Unicode character.)",
     .fix = R"(Write \\ for a backslash itself.)"},
    {.code = "E0004",
     .summary = "number too large",
     .program = R"(let x = 9223372036854775808)",
     .cause = R"(An int has 64 bits: a literal may be at most 9223372036854775807.)",
     .fix = R"(Write a float (9223372036854775808.0), or build the number from smaller ones.)"},
    {.code = "E0005",
     .summary = "nested too deeply",
     .program = R"(let x = ((((((((1))))))))   // and some hundred brackets more)",
     .cause = R"(Brackets, blocks and operators may be nested a few hundred deep and no deeper, so that no input can
exhaust the stack of the tool.)",
     .fix = R"(Name a part with `let` and use the name; make a long sum a loop or a list with sum().)",
     .reach = Reach::circumstance},
    {.code = "E0006",
     .summary = "the source is not UTF-8",
     .program = R"(print("gr?n")   // with the single byte FC in place of the question mark)",
     .cause = R"(Sources are UTF-8. The marked byte belongs to no character: often the file was saved in another
encoding, or it is not a text at all.)",
     .fix = R"(Save the file as UTF-8, or convert it: iconv -f latin1 -t utf-8 old.task > new.task)",
     .reach = Reach::circumstance},
};
static_assert(is_family(syntax_family, 0));

}  // namespace

std::span<const CodeInfo> syntax_codes() { return syntax_family; }

}  // namespace taskspec
