#include "interp/mpi/messages.hpp"

#include <algorithm>

#include "interp/host/repeat_element.hpp"
#include "interp/host/row.hpp"
#include "ir/base/key.hpp"

namespace taskspec {

namespace {

Packing packing_of(const std::vector<FieldExchange::Field>& fields) {
  std::vector<const Movement*> movements;
  std::vector<std::size_t> widths;
  for (const FieldExchange::Field& field : fields) {
    movements.push_back(field.movement.get());
    widths.push_back(field.width);
  }
  return {movements, widths};
}

}  // namespace

FieldExchange::FieldExchange(ShardRun& run, std::vector<Field> fields)
    : run_(run), fields_(std::move(fields)), packing_(packing_of(fields_)) {}

void FieldExchange::put_bases(const Piece& piece, std::span<std::byte*> bases) const {
  for (std::size_t k = 0; k < fields_.size(); ++k) bases[k] = piece.fields[fields_[k].field];
}

void FieldExchange::fill(const Piece& piece) const {
  auto input = piece.inputs.begin();
  for (const Field& field : fields_) {
    if (!field.movement) continue;
    for (const Movement::Fill& fill : field.movement->fills) {
      const std::byte* const element = *input++;
      for (const Run& run : fill.runs.runs())
        repeat_element(
            piece.fields[field.field] + static_cast<std::size_t>(place_in(piece.packed, run.lo)) * field.width, element,
            field.width, static_cast<std::size_t>(run.size()));
    }
  }
}

bool FieldExchange::fills() const {
  return std::ranges::any_of(fields_,
                             [](const Field& field) { return field.movement && !field.movement->fills.empty(); });
}

void FieldExchange::transfer(std::size_t, const Piece& piece) const {
  fill(piece);
  const ShardRun::Saying waiting = run_.say();
  Row<std::byte*> row(fields_.size(), unset);
  const std::span<std::byte*> bases = row;
  put_bases(piece, bases);
  run_.exchange([&] {
    packing_.send(run_.port(), bases, piece.packed);
    packing_.receive(run_.port(), bases, piece.packed, waiting);
  });
}

class FieldExchange::Again final : public LaunchFiles::Bound {
 public:
  Again(ShardRun& run, const Packing& packing, std::span<std::byte*> bases, const PackedPlaces* packed)
      : run_(run), packing_(packing, run.port(), bases, packed) {}
  void transfer() override {
    const ShardRun::Saying waiting = run_.say();
    run_.exchange([&] {
      packing_.send();
      packing_.receive(waiting);
    });
  }

 private:
  ShardRun& run_;
  BoundPacking packing_;
};

// Where something is filled in, it is done once.
std::unique_ptr<LaunchFiles::Bound> FieldExchange::bind(std::size_t, const Piece& piece) const {
  if (fills()) return nullptr;
  Row<std::byte*> bases(fields_.size(), unset);
  put_bases(piece, bases);
  return std::make_unique<Again>(run_, packing_, bases, piece.packed);
}

std::string FieldExchange::key() const {
  std::string key = "x";
  for (const Field& field : fields_) {
    put_number(key, field.field);
    put_number(key, field.movement ? field.movement->id : 0);
  }
  return key;
}

void Contributions::fold(const Fields& fields) const {
  const ShardRun::Saying waiting = run_.say();
  std::size_t first = 0;
  const std::size_t all = fields.bases.size();  // fields of all uses: as many buffers has each point
  for (const Use& use : uses_) {
    const auto own = [&](std::size_t field, std::int64_t point) -> OwnBuffer {
      const auto position = static_cast<std::size_t>(std::ranges::lower_bound(*own_, point) - own_->begin());
      const LaunchMessages::Buffer& buffer = fields.buffers[position * all + first + field];
      return {buffer.bytes, &buffer.piece};
    };
    std::vector<const FoldMovement*> movements;
    for (const auto& movement : use.movements) movements.push_back(movement.get());
    const Rect& root = fields.roots[use.use];
    run_.exchange([&] {
      send_contributions(run_.port(), movements, use.precisions, use.op, root, own);
      fold_contributions(run_.port(), movements, fields.bases.subspan(first, movements.size()), fields.packed[use.use],
                         use.precisions, use.op, root, own, waiting);
    });
    first += movements.size();
  }
}

std::string Contributions::key() const {
  std::string key = "f";
  for (const Use& use : uses_) {
    put_number(key, use.use);
    put_number(key, static_cast<std::uint64_t>(use.op));
    for (const auto& movement : use.movements) put_number(key, movement ? movement->id : 0);
  }
  return key;
}

void SharedMap::maps(std::span<std::byte* const> maps) const {
  const ShardRun::Saying waiting = run_.say();
  const std::size_t self = run_.self().index(), width = map_.width;
  const auto each = [&](std::size_t shard, auto&& visit) {
    const OwnPoints& points = map_.points[shard];
    for (std::int64_t i = 0; i < points.count(); ++i) visit(maps[0] + static_cast<std::size_t>(points[i]) * width);
  };
  Bytes own;
  own.reserve(static_cast<std::size_t>(map_.points[self].count()) * width);
  each(self, [&](const std::byte* element) { own.insert(own.end(), element, element + width); });
  if (!own.empty())
    for (std::size_t to = 0; to < map_.points.size(); ++to)
      if (to != self) run_.port().send(ShardId(static_cast<std::uint32_t>(to)), own);
  for (std::size_t from = 0; from < map_.points.size(); ++from) {
    if (from == self || map_.points[from].count() == 0) continue;
    Bytes come;
    run_.exchange([&] {
      come = run_.port().wait(ShardId(static_cast<std::uint32_t>(from)), waiting);
      if (come.size() != static_cast<std::size_t>(map_.points[from].count()) * width)
        throw ContentsDiffer{"elements of a map have another length than is waited for"};
    });
    const std::byte* at = come.data();
    each(from, [&](std::byte* element) {
      std::memcpy(element, at, width);
      at += width;
    });
  }
}

void ReducedMap::maps(std::span<std::byte* const> operands) const {
  const ShardRun::Saying waiting = run_.say();
  run_.exchange([&] { reduce_elements(run_.port(), shape_, own_, operands[0], operands[1], waiting); });
}

void FieldTotal::total(const std::byte* field, const PackedPlaces* packed, std::byte* into) const {
  const ShardRun::Saying waiting = run_.say();
  run_.exchange([&] { add_up(run_.port(), *share_, op_, precision_, field, packed, into, waiting); });
}

// What it does with whichever field, its launch says.
std::string FieldTotal::key() const {
  std::string key = "t";
  put_number(key, share_->id());
  return key;
}

void OwnersValue::maps(std::span<std::byte* const> operands) const {
  const ShardRun::Saying waiting = run_.say();
  Bytes values;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::byte* from = operands[k] + parts_[k].from;
    if (run_.self() == owner_)
      values.insert(values.end(), from, from + parts_[k].bytes);
    else
      values.resize(values.size() + parts_[k].bytes);
  }
  run_.exchange([&] { share_element(run_.port(), owner_, values.data(), values.size(), waiting); });
  const std::byte* at = values.data();
  for (std::size_t k = 0; k < parts_.size(); ++k, at += parts_[k - 1].bytes)
    std::copy_n(at, parts_[k].bytes, operands[parts_.size() + k]);
}

std::string OwnersValue::key() const {
  std::string key = "v";
  put_number(key, owner_.value);
  for (const Part& part : parts_) {
    put_number(key, part.from);
    put_number(key, part.bytes);
  }
  return key;
}

}  // namespace taskspec
