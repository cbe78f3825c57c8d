#include "interp/import/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

// Keywords, precisions, and what may be called without a receiver. An importer cannot ask the tables of ops, which are
// known to the roots; a name that is missing here hides an op in the lines that follow it.
constexpr std::string_view words[] = {
    "abs", "add", "agent", "and", "argmax", "argmin", "args", "as", "assert", "avg_pool", "batchnorm", "bernoulli",
    "bool", "break", "broadcast", "by", "cast", "ceil", "chains", "check", "clamp", "clock", "close", "concat",
    "constant", "continue", "conv1d", "conv2d", "conv2d_input_grad", "conv2d_weight_grad", "copy", "cos", "div",
    "drop", "dropout", "edges", "else", "elu", "enumerate", "env", "eq", "erf", "exit", "exp", "export", "extern", "f16",
    "f32", "f64", "false", "fields", "file", "fill", "filter", "float", "floor", "fn", "for", "format", "forward",
    "gather", "ge", "gelu", "global_pool", "graph", "graph_print", "gt", "host", "hw", "i16", "i28", "i32", "i64",
    "i8", "i9", "if", "import", "in", "inf", "inout", "int", "iota", "ir", "isnan", "join", "launch", "layer",
    "layernorm", "le", "len", "let", "lif", "lift", "linear", "load", "log", "log_softmax", "lookup", "lt", "map",
    "matmul", "max", "max_pool", "maximum", "mean", "min", "minimum", "mod", "mpi", "mul", "nan", "ne", "neg", "nn",
    "normal", "not", "note", "null", "on", "one_hot", "or", "out", "pad", "permute", "pi", "pow", "print", "prod",
    "range", "rank", "read", "reduce", "reflect", "region", "relu", "reshape", "return", "reverse", "rotate",
    "round", "rsqrt", "run", "save", "scale", "shift", "show", "sigmoid", "sign", "sin", "slice", "softmax", "sort",
    "spike", "split", "sqrt", "state", "string", "sub", "sum", "table", "tanh", "task", "tensor", "tern", "tile",
    "topk", "trace", "train", "true", "u16", "u32", "u4", "u64", "u8", "uniform", "var", "weight", "where", "while",
    "write", "xor", "zip"};
static_assert(std::ranges::is_sorted(words));

bool is_word(std::string_view text) {
  return std::ranges::binary_search(words, text);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 60)) {
    if (is_letter(c) || is_digit(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || is_digit(name[0])) name = "v" + name;
  if (is_word(name)) name += "_";
  return name;
}

std::string Names::make(std::string_view wanted) {
  const std::string name = identifier(wanted);
  if (take(name)) return name;
  for (std::size_t i = 1;; ++i)
    if (std::string next = fmt::format("{}{}{}", name, name.back() == '_' ? "" : "_", i); take(next)) return next;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{{{:x}}}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace taskspec
