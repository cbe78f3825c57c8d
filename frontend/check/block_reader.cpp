#include "frontend/check/block_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

BlockReader::BlockReader(Body& file) : file_(file), diags_(file.world.diags) {}

std::optional<Value> BlockReader::known(const ast::Expr& expr) {
  std::optional<Value> value;
  const bool wrong = dry_run(file_, [&] {
    const Term term = expression(file_, expr);
    value = file_.known(term.id);
    return file_.is_error(term);
  });
  if (!value && !wrong)
    refuse("E1003", expr.span, fmt::format("'{}' is not known before the program runs", file_.text(expr.span)))
        .help("blocks have the extents and attributes that are written");
  failed_ = failed_ || !value;
  return value;
}

std::optional<std::int64_t> BlockReader::integer(const ast::Expr& expr) {
  const std::optional<Value> value = known(expr);
  if (!value) return std::nullopt;
  if (value->is_integer()) return value->integer();
  if (value->is_bool()) return value->boolean();
  refuse("E1003", expr.span, fmt::format("an int is wanted, this is {}", print(*value)));
  return std::nullopt;
}

Diag& BlockReader::refuse(Code code, Span span, std::string message) {
  failed_ = true;
  return diags_.error(code, span, std::move(message));
}

Diag& BlockReader::unknown(const ast::Name& name, std::string_view what, const std::vector<std::string>& candidates) {
  Diag& diag = refuse("E1001", name.span, fmt::format("unknown {} '{}'", what, name.text));
  if (auto best = nearest(name.text, candidates)) diag.help(fmt::format("did you mean '{}'?", *best));
  return diag;
}

const ast::Name* BlockReader::named(const ast::Arg& argument, std::string_view what) {
  if (argument.name) return &*argument.name;
  refuse("E1003", argument.span, fmt::format("{} go by their names", what));
  return nullptr;
}

bool BlockReader::in_32_bits(std::int64_t number, Span span) {
  if (number == static_cast<std::int32_t>(number)) return true;
  refuse("E1003", span, fmt::format("{} does not fit 32 bits", number));
  return false;
}

}  // namespace taskspec::checking
