#include "interp/host/fused_layout.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace taskspec {

namespace {

using PlaceKind = BytesAt::Kind;
constexpr std::uint32_t not_yet = 0, forever = UINT32_MAX;

// Values that are the same bytes: a value, and what ops that only change its shape make of it. Times are
// positions of ops counted from 1.
struct Storage {
  std::size_t bytes = 0, width = 0;  // width: of an element
  std::uint32_t written = not_yet;   // 0: before the body
  std::uint32_t read = not_yet;      // for the last time
  bool placed = false;
  BytesAt place;
};

class Layouter {
 public:
  Layouter(const FusedBody& body, std::span<const std::shared_ptr<const Kernel>> kernels)
      : body_(body), kernels_(kernels) {}

  FusedLayout run() {
    find_storages();
    place_outputs();
    form_passes();
    place_strips();
    place_scratch();
    for (auto& [copy, storage] : copies_) {
      copy.from = storages_[storage].place;
      layout_.after.push_back(copy);
    }
    for (std::uint32_t s : storage_of_) layout_.places.push_back(storages_[s].place);
    return std::move(layout_);
  }

 private:
  Storage& storage(std::uint32_t value) { return storages_[storage_of_[value]]; }
  bool moves_nothing(const FusedOp& op) const {
    return op.sharing() == Sharing::same_bytes && body_.values[op.in[0]].bytes() == body_.values[op.out[0]].bytes();
  }

  void find_storages() {
    storage_of_.resize(body_.values.size());
    for (std::uint32_t v = 0; v < storage_of_.size(); ++v) {
      storage_of_[v] = v;
      storages_.push_back(
          {body_.values[v].bytes(), info(body_.values[v].precision).bytes, not_yet, not_yet, false, {}});
    }
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) put(body_.inputs[i].value, {PlaceKind::operand, i});
    for (std::size_t i = 0; i < body_.constants.size(); ++i) put(body_.constants[i].first, {PlaceKind::constant, i});
    for (std::uint32_t i = 0; i < body_.ops.size(); ++i) {
      const FusedOp& op = body_.ops[i];
      if (moves_nothing(op)) {
        storage_of_[op.out[0]] = storage_of_[op.in[0]];
        continue;
      }
      for (std::uint32_t v : op.in) storage(v).read = i + 1;
      for (std::uint32_t v : op.out) storage(v).written = i + 1;
    }
  }

  void put(std::uint32_t value, BytesAt place) {
    storage(value).placed = true;
    storage(value).place = place;
  }

  // May what op `time` writes lie where `old` lies? Element i of it is written when element i of everything
  // that the same or an earlier op reads has been read, also strip by strip.
  bool may_follow(const Storage& old, const Storage& fresh) const {
    if (old.bytes != fresh.bytes || old.width != fresh.width || old.written >= fresh.written) return false;
    if (old.read != fresh.written) return old.read < fresh.written;
    return body_.ops[fresh.written - 1].sharing() == Sharing::in_place;
  }

  void place_outputs() {
    for (const FusedOperand& input : body_.inputs) inputs_by_bytes_.emplace(input.bytes, input.value);
    for (std::size_t k = 0; k < body_.outputs.size(); ++k) {
      std::uint32_t source = storage_of_[body_.outputs[k].value];
      BytesAt home{PlaceKind::operand, body_.inputs.size() + k};
      const bool lies = !storages_[source].placed && may_lie_in(storages_[source], k);
      given_.insert(body_.outputs[k].bytes);
      if (lies) {
        put(body_.outputs[k].value, home);
        continue;
      }
      if (storages_[source].written == not_yet && overwritten(source)) source = stash(source);
      storages_[source].read = forever;
      copies_.push_back({{{}, home, storages_[source].bytes}, source});
    }
  }

  // Asked about one output after the other.
  bool may_lie_in(const Storage& s, std::size_t output) {
    const std::uint32_t bytes = body_.outputs[output].bytes;
    auto [input, end] = inputs_by_bytes_.equal_range(bytes);
    for (; input != end; ++input)
      if (!may_follow(storage(input->second), s)) return false;
    return !given_.contains(bytes);
  }

  // An input that goes out through another operand, while something else is written to its own bytes.
  bool overwritten(std::uint32_t source) const {
    for (const FusedOperand& input : body_.inputs)
      if (storage_of_[input.value] == source)
        for (const FusedOperand& output : body_.outputs)
          if (output.bytes == input.bytes && storage_of_[output.value] != source) return true;
    return false;
  }

  std::uint32_t stash(std::uint32_t source) {
    Storage kept{storages_[source].bytes, storages_[source].width, not_yet, forever, false, {}};
    stashes_.push_back({source, static_cast<std::uint32_t>(storages_.size())});
    storages_.push_back(kept);
    return stashes_.back().second;
  }

  // ---- passes ---------------------------------------------------------------------------------------

  bool has_strips(std::uint32_t op) const {
    const FusedOp& o = body_.ops[op];
    return o.fusion() == Fusion::pointwise && o.in.size() <= StripLimits::inputs &&
           !kernels_[op]->strip_steps().empty();  // none of an instance that stretches its inputs along some axes
  }

  // What the pass makes, an op in it must read element by element.
  bool may_join(const FusedPass& pass, std::uint32_t op) {
    const FusedOp& o = body_.ops[op];
    if (!pass.strips || pass.ops.size() == StripLimits::ops || !has_strips(op)) return false;
    if (body_.values[o.out[0]].elements() != pass.elements) return false;
    for (std::size_t i = 0; i < o.in.size(); ++i) {
      bool inside = storage(o.in[i]).written > pass.ops.front();
      if (inside && kernels_[op]->strip_steps()[i] != storage(o.in[i]).width) return false;
    }
    return true;
  }

  void form_passes() {
    pass_of_.resize(body_.ops.size());
    for (std::uint32_t i = 0; i < body_.ops.size(); ++i) {
      if (moves_nothing(body_.ops[i])) continue;
      if (layout_.passes.empty() || !may_join(layout_.passes.back(), i)) {
        FusedPass pass;
        pass.strips = has_strips(i);
        if (pass.strips) pass.elements = body_.values[body_.ops[i].out[0]].elements();
        layout_.passes.push_back(pass);
      }
      layout_.passes.back().ops.push_back(i);
      pass_of_[i] = static_cast<std::uint32_t>(layout_.passes.size() - 1);
    }
    for (FusedPass& pass : layout_.passes) pass.strips = pass.strips && pass.ops.size() > 1;
  }

  bool inside_pass(const Storage& s, const FusedPass& pass) const {
    return !s.placed && s.written && s.read <= pass.ops.back() + 1;
  }

  // Slots for what lives and dies in one strip pass; they are taken again as soon as they are free.
  void place_strips() {
    for (FusedPass& pass : layout_.passes) {
      if (!pass.strips) continue;
      std::vector<std::size_t> free;
      slots_ = 0;
      std::size_t width = 1;
      for (std::uint32_t op : pass.ops) {
        const FusedOp& o = body_.ops[op];
        Storage& s = storage(o.out[0]);
        std::vector<std::size_t> ending = slots_read_last(op);
        if (inside_pass(s, pass)) {
          std::size_t slot = pick_slot(o, s, ending, free);
          s.placed = true;
          s.place = {PlaceKind::strip, slot};
          if (s.read == not_yet) ending.push_back(slot);
        }
        free.insert(free.end(), ending.begin(), ending.end());
        for (std::uint32_t v : o.in) width = std::max(width, storage(v).width);
        width = std::max(width, s.width);
      }
      pass.slots = slots_;
      std::size_t most = StripLimits::memory / 2 / (std::max<std::size_t>(pass.slots, 2) * width);
      pass.strip_elements = static_cast<std::int64_t>(std::clamp<std::size_t>(most / 64 * 64, 64, 4096));
      pass.slot_bytes = static_cast<std::size_t>(pass.strip_elements) * width;
    }
  }

  std::vector<std::size_t> slots_read_last(std::uint32_t op) {
    std::vector<std::size_t> slots;
    for (std::uint32_t v : body_.ops[op].in) {
      const Storage& s = storage(v);
      bool ends = s.placed && s.place.kind == PlaceKind::strip && s.read == op + 1;
      if (ends && std::find(slots.begin(), slots.end(), s.place.at) == slots.end()) slots.push_back(s.place.at);
    }
    return slots;
  }

  // An ending input of the same width if the op can work in place, else a free slot, else a new one.
  std::size_t pick_slot(const FusedOp& op, const Storage& s, std::vector<std::size_t>& ending,
                        std::vector<std::size_t>& free) {
    if (op.sharing() == Sharing::in_place)
      for (std::uint32_t v : op.in) {
        auto slot = std::find(ending.begin(), ending.end(), storage(v).place.at);
        if (storage(v).place.kind != PlaceKind::strip || storage(v).width != s.width || slot == ending.end()) continue;
        std::size_t taken = *slot;
        ending.erase(slot);
        return taken;
      }
    if (free.empty()) return slots_++;
    std::size_t taken = free.back();
    free.pop_back();
    return taken;
  }

  // ---- scratch --------------------------------------------------------------------------------------

  struct Living {
    std::size_t begin = 0, end = 0;
    std::uint32_t storage = 0;
  };

  void place_scratch() {
    for (auto [source, kept] : stashes_) {
      place_in_gap(kept);
      layout_.before.push_back({storages_[source].place, storages_[kept].place, storages_[kept].bytes});
    }
    for (const FusedPass& pass : layout_.passes) {
      std::erase_if(living_, [&](const Living& l) { return last_pass(storages_[l.storage]) < pass_of_[pass.ops[0]]; });
      for (std::uint32_t op : pass.ops)
        for (std::uint32_t v : body_.ops[op].out)
          if (!storage(v).placed && !take_over(storage_of_[v])) place_in_gap(storage_of_[v]);
    }
  }

  std::uint32_t last_pass(const Storage& s) const {
    if (s.read == forever) return forever;
    return pass_of_[std::max(s.read, s.written) - 1];
  }

  bool take_over(std::uint32_t fresh) {
    for (Living& l : living_) {
      if (!may_follow(storages_[l.storage], storages_[fresh])) continue;
      storages_[fresh].placed = true;
      storages_[fresh].place = {PlaceKind::scratch, l.begin};
      l.storage = fresh;
      return true;
    }
    return false;
  }

  void place_in_gap(std::uint32_t fresh) {
    std::size_t bytes = std::max<std::size_t>((storages_[fresh].bytes + 63) / 64 * 64, 64), begin = 0;
    auto next = living_.begin();
    for (; next != living_.end() && next->begin - begin < bytes; ++next) begin = next->end;
    living_.insert(next, {begin, begin + bytes, fresh});
    storages_[fresh].placed = true;
    storages_[fresh].place = {PlaceKind::scratch, begin};
    layout_.scratch_bytes = std::max(layout_.scratch_bytes, begin + bytes);
  }

  const FusedBody& body_;
  std::span<const std::shared_ptr<const Kernel>> kernels_;
  FusedLayout layout_;
  std::vector<Storage> storages_;
  std::vector<std::uint32_t> storage_of_;                                  // by value
  std::vector<std::uint32_t> pass_of_;                                     // by op
  std::size_t slots_ = 0;                                                  // of the pass being laid out
  std::vector<std::pair<FusedCopy, std::uint32_t>> copies_;                // and the storage they copy
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stashes_;           // inputs, and where they are kept
  std::vector<Living> living_;                                             // by offset
  std::unordered_multimap<std::uint32_t, std::uint32_t> inputs_by_bytes_;  // their values
  std::unordered_set<std::uint32_t> given_;                                // bytes of outputs so far
};

}  // namespace

FusedLayout lay_out(const FusedBody& body, std::span<const std::shared_ptr<const Kernel>> kernels) {
  return Layouter(body, kernels).run();
}

}  // namespace taskspec
