#include "interp/shards/control/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

enum class Tag : std::uint8_t {
  integer = 1,
  real,
  boolean,
  text,
  list,
  created,
  future,
  domain,
  sharding,
  projection,
};

constexpr std::string_view created_names[] = {"region", "partition", "field", "task", "agent"};

std::string domain_text(ByteReader& in) {
  Rect rect;
  rect.rank = std::min(in.get<std::uint8_t>(), highest_rank);
  for (std::size_t axis = 0; axis < rect.rank; ++axis) {
    rect.lo[axis] = in.get<std::int64_t>();
    rect.hi[axis] = in.get<std::int64_t>();
  }
  return rect.text();
}

std::string hash_text(ByteReader& in) {
  const auto low = in.get<std::uint64_t>(), high = in.get<std::uint64_t>();
  return Hash128{low, high}.text();
}

std::string sharding_text(ByteReader& in) {
  const auto kind = in.get<PointSharding::Kind>();
  if (kind == PointSharding::Kind::owner) return fmt::format("owner({})", in.get<std::uint32_t>());
  if (kind == PointSharding::Kind::function) return "function " + hash_text(in);
  return kind == PointSharding::Kind::block ? std::string("by blocks") : std::string("in turn");
}

std::string projection_text(ByteReader& in) {
  const auto kind = in.get<Projection::Kind>();
  const auto rank_in = in.get<std::uint8_t>(), rank_out = in.get<std::uint8_t>();
  if (kind == Projection::Kind::identity) return "identity";
  if (kind == Projection::Kind::function) return fmt::format("function {:016x}", in.get<std::uint64_t>());
  std::string made;
  for (int row = 0; row < rank_out; ++row) {
    std::string sum;
    for (int axis = 0; axis < rank_in; ++axis)
      if (const auto factor = in.get<std::int64_t>(); factor != 0)
        sum += fmt::format("{}{}*i{}", sum.empty() ? "" : " + ", factor, axis);
    const auto offset = in.get<std::int64_t>();
    made += (row ? ", " : "") + (sum.empty() ? fmt::format("{}", offset) : fmt::format("{} + {}", sum, offset));
  }
  return "(" + made + ")";
}

std::string value_text(ByteReader& in);

std::string list_text(ByteReader& in) {
  std::string made;
  for (auto count = in.get<std::uint32_t>(); count > 0 && in.ok(); --count)
    made += (made.empty() ? "" : ", ") + value_text(in);
  return "[" + made + "]";
}

std::string value_text(ByteReader& in) {
  switch (in.get<Tag>()) {
    case Tag::integer:
      return std::to_string(in.get<std::int64_t>());
    case Tag::real:
      return fmt::format("{}", in.get<double>());
    case Tag::boolean:
      return in.get<std::uint8_t>() ? "true" : "false";
    case Tag::text:
      return fmt::format("\"{}\"", in.text());
    case Tag::list:
      return list_text(in);
    case Tag::created: {
      const auto what = std::min<std::size_t>(in.get<std::uint8_t>(), std::size(created_names) - 1);
      return fmt::format("{} {}", created_names[what], in.get<std::uint64_t>());
    }
    case Tag::future: {
      const auto call = in.get<std::uint64_t>();
      return fmt::format("output {} of call {}", in.get<std::uint32_t>(), call);
    }
    case Tag::domain:
      return domain_text(in);
    case Tag::sharding:
      return sharding_text(in);
    case Tag::projection:
      return projection_text(in);
  }
  return "?";
}

}  // namespace

std::string_view text(CallKind kind) {
  constexpr std::string_view texts[] = {"none", "start",  "region",  "partition", "fill",   "launch",
                                        "call", "future", "receive", "attach",    "detach", "deletion"};
  return texts[std::min(static_cast<std::size_t>(kind), std::size(texts) - 1)];
}

void CallArguments::clear() {
  bytes_.clear();
  marks_.clear();
  numbers_.clear();
  hashed_.assign(head, 0);
  knows_shape_ = false;
}

CallArguments& CallArguments::argument(const char* name) {
  marks_.push_back({name, end()});
  return *this;
}

CallArguments& CallArguments::integer(std::int64_t value) {
  write().put(Tag::integer);
  write_number(std::bit_cast<std::uint64_t>(value));
  return *this;
}

CallArguments& CallArguments::real(double value) {
  write().put(Tag::real);
  write_number(bits_of(value));
  return *this;
}

CallArguments& CallArguments::boolean(bool value) {
  write().put(Tag::boolean).put(static_cast<std::uint8_t>(value));
  return *this;
}

CallArguments& CallArguments::text(std::string_view value) {
  write().put(Tag::text).text(value);
  return *this;
}

CallArguments& CallArguments::list(std::size_t count) {
  write().put(Tag::list).put(static_cast<std::uint32_t>(count));
  return *this;
}

CallArguments& CallArguments::created(Created what, std::uint64_t number) {
  write().put(Tag::created).put(what).put(number);
  return *this;
}

CallArguments& CallArguments::future(std::uint64_t call, std::uint32_t slot) {
  write().put(Tag::future).put(call).put(slot);
  return *this;
}

CallArguments& CallArguments::domain(const Rect& value) {
  ByteWriter out = write();
  out.put(Tag::domain).put(value.rank);
  for (std::size_t axis = 0; axis < value.rank; ++axis) out.put(value.lo[axis]).put(value.hi[axis]);
  return *this;
}

CallArguments& CallArguments::sharding(const PointSharding& value) {
  ByteWriter out = write();
  out.put(Tag::sharding).put(value.kind);
  if (value.kind == PointSharding::Kind::owner) out.put(value.owner_shard.value);
  if (value.kind == PointSharding::Kind::function) out.put(value.hash.low).put(value.hash.high);
  return *this;
}

CallArguments& CallArguments::projection(const Projection& value) {
  ByteWriter out = write();
  out.put(Tag::projection).put(value.kind).put(value.in).put(value.out);
  if (value.kind == Projection::Kind::function) out.put(value.hash);
  if (value.kind == Projection::Kind::affine)
    for (std::size_t row = 0; row < value.out; ++row) {
      for (std::size_t axis = 0; axis < value.in; ++axis) out.put(value.factors[row][axis]);
      out.put(value.offsets[row]);
    }
  return *this;
}

void CallArguments::write_number(std::uint64_t bits) {
  numbers_.push_back(end());
  hashed_.push_back(bits);
  write().put(bits);
}

void CallArguments::hash_shape() {
  for (const std::uint32_t at : numbers_) std::memset(bytes_.data() + at, 0, sizeof(std::uint64_t));
  const Hash128 shape = hash128(bytes_);
  for (std::size_t k = 0; k < numbers_.size(); ++k)
    std::memcpy(bytes_.data() + numbers_[k], &hashed_[head + k], sizeof(std::uint64_t));
  hashed_[4] = shape.low;
  hashed_[5] = shape.high;
  knows_shape_ = true;
}

CallArguments& CallArguments::append(const CallArguments& others, std::size_t first) {
  const std::uint32_t from = first < others.marks_.size() ? others.marks_[first].begin : others.end();
  const std::uint32_t moved = end() - from;  // modulo 2^32: what stands at `from` comes to the end
  for (const Mark& mark : std::span(others.marks_).subspan(std::min(first, others.marks_.size())))
    marks_.push_back({mark.name, mark.begin + moved});
  for (std::size_t k = 0; k < others.numbers_.size(); ++k) {
    if (others.numbers_[k] < from) continue;
    numbers_.push_back(others.numbers_[k] + moved);
    hashed_.push_back(others.hashed_[head + k]);
  }
  write().raw(others.bytes().subspan(from));
  return *this;
}

CallArguments::Number CallArguments::number(std::size_t mark) const {
  const std::uint32_t begin = marks_[mark].begin;
  const auto tag = static_cast<Tag>(bytes_[begin]);
  if (tag != Tag::integer && tag != Tag::real) bug("bits for an argument that is no number");
  const auto at = std::ranges::lower_bound(numbers_, begin + 1);
  return {begin + 1, static_cast<std::uint32_t>(at - numbers_.begin()), tag == Tag::real};
}

std::string text_of_values(ByteView values) {
  ByteReader in(values);
  std::string made;
  while (in.left() > 0) made += (made.empty() ? "" : ", ") + value_text(in);
  return made;
}

}  // namespace taskspec
