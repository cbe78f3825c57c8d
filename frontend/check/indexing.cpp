// Brackets: items and parts of lists and strings, elements of tuples, slices of tensors.
//
//   x[i, 1..3]      ->      op slice(x, "ir", i, i + 1, 1, 3)
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/regions.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

Term integer(Body& body, std::int64_t value, Span span) { return body.constant(Value(value), Kind::integer, span); }

// An index as written: one position, or the bounds of a part; an open bound is invalid.
struct WrittenIndex {
  Span span;
  bool part = false;
  Term at, low, high;
};

Term bound(Body& body, const ast::Expr& expr, const char* what) {
  return convert(body, expression(body, expr), Kind::integer, {what, {}});
}

// An end of a range that stands in a value: x[r] is x[a..b] for `let r = a..b`.
Term end_of_range(Body& body, const Term& range, bool high) {
  const std::optional<Value> known = body.known(range.id);
  if (known) return integer(body, high ? known->range().end : known->range().begin, range.span);
  if (body[range.id].form == Form::range) return {body[range.id].in[high ? 1 : 0], range.span};
  Term end = body.make(Form::field, Kind::integer, range.span, {range});
  body[end.id].name = high ? "end" : "begin";
  return end;
}

WrittenIndex read_index(Body& body, const ast::IndexItem& item) {
  WrittenIndex index{item.span, item.is_slice, {}, {}, {}};
  if (item.is_slice) {
    if (item.low) index.low = bound(body, *item.low, "the bound of a range");
    if (item.high) index.high = bound(body, *item.high, "the bound of a range");
    return index;
  }
  index.at = output_of(body, expression(body, *item.at));
  if (!body.type(index.at).is(Kind::range)) return index;
  index.part = true;
  index.low = end_of_range(body, index.at, false);
  index.high = end_of_range(body, index.at, true);
  return index;
}

bool has_error(Body& body, const WrittenIndex& index) {
  auto wrong = [&](const Term& term) { return term.valid() && body.is_error(term); };
  return wrong(index.at) || wrong(index.low) || wrong(index.high);
}

// ---- lists and strings ----

// The value of a constant that stands here.
std::optional<Value> literal(Body& body, const Term& term) {
  return body[term.id].form == Form::constant ? body.known(term.id) : std::nullopt;
}

std::optional<std::int64_t> known_int(Body& body, const Term& term) {
  const std::optional<Value> known = literal(body, term);
  return known && known->is_integer() ? std::optional(known->integer()) : std::nullopt;
}

// The items of a list or the code points of a string that is known before the program runs.
std::optional<std::int64_t> known_length(Body& body, const Term& container) {
  const std::optional<Value> known = literal(body, container);
  if (!known) return std::nullopt;
  if (known->is_list()) return static_cast<std::int64_t>(known->list().size());
  if (!known->is_string()) return std::nullopt;
  return std::ranges::count_if(known->string(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// `index` is known to lie outside of the container: an error, and true.
bool refuse_outside(Body& body, const Term& container, const std::string& index, std::int64_t least,
                    std::int64_t greatest, Span span) {
  const char* kind = body.type(container).is(Kind::list) ? "list" : "string";
  std::optional<std::int64_t> length = known_length(body, container);
  if (least >= 0 && !(length && greatest > *length)) return false;
  body.world.diags
      .error("E2004", span,
             fmt::format("{} is outside a {}{}", index, kind, length ? fmt::format(" of {}", *length) : ""))
      .help(least < 0 ? "indices count from 0, in ranges too; from the end: len(l) - 1" : "");
  return true;
}

// A part of a list or string; open ends are 0 and its length.
Term part_of(Body& body, const Term& container, WrittenIndex index, Span span) {
  std::optional<std::int64_t> low, high;
  if (index.low.valid()) low = known_int(body, index.low);
  if (index.high.valid()) high = known_int(body, index.high);
  const std::string written = body.text(index.span);
  if (refuse_outside(body, container, written, std::min(low.value_or(0), high.value_or(0)),
                     std::max(low.value_or(0), high.value_or(0)), index.span))
    return body.error(span);
  if (!index.low.valid()) index.low = integer(body, 0, index.span);
  if (!index.high.valid()) {
    const Builtin* length = body.world.options.builtins.serving(Serves::counts);
    if (!length) {
      not_built(body.world.diags, index.span, "an open range", "a builtin that counts");
      return body.error(span);
    }
    index.high = call_with(body, {nullptr, length}, {{container}}, index.span);
  }
  return body.make(Form::items, Type(body.type(container)), span, {container, index.low, index.high});
}

Term index_container(Body& body, const Term& container, const ast::Index& written, Span span) {
  if (written.items.size() != 1) {
    std::string kind = body.type(container).is(Kind::list) ? "list" : "string";
    body.world.diags.error("E1003", written.brackets, fmt::format("a {} takes one index", kind));
    return body.error(span);
  }
  WrittenIndex index = read_index(body, written.items[0]);
  if (has_error(body, index)) return body.error(span);
  return index.part ? part_of(body, container, index, span) : item_of(body, container, index.at, span);
}

Term index_tuple(Body& body, const Term& tuple, const ast::Index& written, Span span) {
  WrittenIndex index = read_index(body, written.items[0]);
  if (has_error(body, index)) return body.error(span);
  const std::optional<Value> known = index.part ? std::nullopt : body.known(index.at.id);
  if (written.items.size() != 1 || !known || !known->is_integer()) {
    wrong_type(body.world.diags, written.brackets, "an element of a tuple is picked by one constant int")
        .help("take it apart: let (a, b) = ...");
    return body.error(span);
  }
  std::int64_t at = known->integer();
  if (at >= 0 && at < static_cast<std::int64_t>(body.type(tuple).parts.size()))
    return element_of(body, tuple, static_cast<std::size_t>(at), span);
  body.world.diags
      .error("E2004", index.span, fmt::format("index {} is outside a tuple of {}", at, body.type(tuple).parts.size()))
      .help(at < 0 ? "indices count from 0" : "");
  return body.error(span);
}

// ---- tensors ----

class Slice {
 public:
  Slice(Body& body, const Term& tensor, const ast::Index& written, Span span)
      : body_(body), tensor_(tensor), written_(written), span_(span) {}

  Term run() {
    for (const ast::IndexItem& item : written_.items)
      if (!add(read_index(body_, item))) failed_ = true;
    if (failed_) return body_.error(span_);
    Term result = tensor_;
    if (spec_.find_first_not_of('*') != std::string::npos || gathers_.empty()) result = slice();
    // The last axis first, so that the axes before it keep their numbers.
    for (auto gather = gathers_.rbegin(); gather != gathers_.rend() && !body_.is_error(result); ++gather)
      result = served_call(body_, Serves::picks,
                           {result, gather->index, integer(body_, gather->axis, gather->index.span)}, span_);
    return result;
  }

 private:
  struct Gather {
    Term index;
    std::int64_t axis;  // after the slice
  };

  bool add(const WrittenIndex& index) {
    if (has_error(body_, index)) return false;
    if (index.part) return add_part(index), true;
    const Type type = body_.type(index.at);
    if (type.is(Kind::integer)) return add_position(index.at), true;
    bool picks = type.is_tensor() && type.rank() == 0 && is_integer(type.precision);
    if (picks) {
      gathers_.push_back({index.at, kept_});
      add_whole(index.span);
      return true;
    }
    wrong_type(body_.world.diags, index.span,
               fmt::format("an index is an int, a range or an integer tensor of rank 0, this is {}", type.text()))
        .help(type.is_tensor() ? "gather(x, index, axis) picks by a tensor of any shape" : "");
    return false;
  }

  void add_position(const Term& at) {
    spec_ += 'i';
    // A known position is not given to `add`: folding takes its operands back, and this one is still needed.
    const std::optional<Value> known = body_.known(at.id);
    Term next = known ? integer(body_, checked_add(known->integer(), 1), at.span)
                      : operator_call(body_, "+", {at, integer(body_, 1, at.span)}, at.span, {});
    bounds_.insert(bounds_.end(), {at, next});
  }

  void add_part(const WrittenIndex& index) {
    if (!index.low.valid() && !index.high.valid()) return add_whole(index.span);
    spec_ += 'r';
    Term low = index.low.valid() ? index.low : integer(body_, 0, index.span);
    Term high = index.high.valid() ? index.high : extent_operand(body_, tensor_, spec_.size() - 1);
    bounds_.insert(bounds_.end(), {low, high});
    ++kept_;
  }

  void add_whole(Span span) {
    spec_ += '*';
    Term low = integer(body_, 0, span);
    bounds_.insert(bounds_.end(), {low, extent_operand(body_, tensor_, spec_.size() - 1)});
    ++kept_;
  }

  Term slice() {
    std::vector<Term> operands{tensor_, body_.constant(Value(spec_), Kind::string, span_)};
    operands.insert(operands.end(), bounds_.begin(), bounds_.end());
    return operator_call(body_, "[]", operands, span_, {});
  }

  Body& body_;
  Term tensor_;
  const ast::Index& written_;
  Span span_;
  std::string spec_;
  std::vector<Term> bounds_;
  std::vector<Gather> gathers_;
  std::int64_t kept_ = 0;  // axes so far that stay after the slice
  bool failed_ = false;
};

}  // namespace

Term item_of(Body& body, const Term& container, const Term& index, Span span) {
  Term at = convert(body, index, Kind::integer, {"an index", {}});
  if (body.is_error(at)) return body.error(span);
  const Type type = body.type(container);
  Type item = type.is(Kind::string) ? type : item_type(body, type.parts[0]);
  const std::optional<Value> list = literal(body, container);
  std::optional<std::int64_t> position = known_int(body, at);
  if (position &&
      refuse_outside(body, container, fmt::format("index {}", *position), *position, *position + 1, at.span))
    return body.error(span);
  if (!list || !list->is_list() || !position) return body.make(Form::item, std::move(item), span, {container, at});
  Value value = list->list()[static_cast<std::size_t>(*position)];
  body.take_back(at);
  return body.constant(std::move(value), std::move(item), span);
}

Term index_expression(Body& body, const ast::Index& index, Span span) {
  Term base = typed(body, output_of(body, expression(body, *index.base)));
  const Type type = body.type(base);
  switch (type.kind) {
    case Kind::list:
    case Kind::string:
      return index_container(body, base, index, span);
    case Kind::tuple:
      return index_tuple(body, base, index, span);
    case Kind::tensor:
      return Slice(body, base, index, span).run();
    case Kind::partition:
      return piece_expression(body, base, index, span);
    case Kind::launch_map:
      return map_item_expression(body, base, index, span);
    case Kind::error:
      break;
    case Kind::view:
      wrong_type(body.world.diags, span, "an element of a view has fields, and one of them is a value")
          .help(fmt::format("{}.{}", body.text(span), type.names[1]));
      break;
    case Kind::region:
      wrong_type(body.world.diags, index.base->span, "a region has no elements outside of tasks")
          .help("a field of it is a tensor there, r.f[i]; a task writes elements, fill(r.f, v) all of them");
      break;
    default:
      wrong_type(body.world.diags, index.base->span, fmt::format("{} cannot be indexed", type.text()));
  }
  return body.error(span);
}

}  // namespace taskspec::checking
