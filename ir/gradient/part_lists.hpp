// The op lists of what runs together in a list for a batch in parts (parted_list.hpp): a stage for a part of so many
// rows; what hangs together of a stage on the whole; and lists that only cut or join.
#pragma once
#include "ir/gradient/batch_parts.hpp"
#include "ir/gradient/parted_list.hpp"

namespace taskspec {

class PartLists {
 public:
  struct Input {
    FlowId flow;           // or none: the number of the first element of a part, of so many for each row
    std::size_t part = 0;  // where the list reads all parts: which of them
    std::int64_t per_row = 0;
  };
  struct Output {
    FlowId flow;  // one that is cut has several, its parts in order
  };
  struct Made {
    std::shared_ptr<const OpList> list;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
  };

  PartLists(const BatchParts& batch, const OpTable& ops);
  // Lists are made of this one from here on, `names` has the names of its inputs and outputs.
  void begin(const PartedList& parted, const OpList& names);

  std::vector<std::vector<std::size_t>> groups(int stage) const;  // nodes of an even one that hang together
  Made of_part(int stage, std::int64_t rows) const;               // an odd one
  Made once(const std::vector<std::size_t>& nodes) const;
  Made constant(FlowId flow) const;
  Made cutting(const Type& type, int axis) const;
  Made joining(const Type& type, int axis) const;

 private:
  class Draft;
  void find_needed();
  void find_repeated();
  void find_groups();
  void find_leaving();
  Made made_of(const std::vector<std::size_t>& nodes, std::int64_t rows) const;
  std::vector<ValueId> cut(OpListBuilder& list, ValueId x, const PartedList::Flow& to,
                           const OpListBuilder::Origin& origin) const;
  ValueId join(OpListBuilder& list, const std::vector<ValueId>& parts, const PartedList::Flow& from,
               const OpListBuilder::Origin& origin) const;
  std::string name_of(FlowId flow) const;
  ArrayType part_type(const Type& type, int axis, std::int64_t rows) const;

  const BatchParts& batch_;
  const OpDef &add_, &fill_, &cut_, &join_;
  const PartedList* parted_ = nullptr;
  const OpList* names_ = nullptr;
  std::vector<bool> needed_, repeated_;  // by node
  std::vector<std::size_t> group_;       // by node: a stage in parts, or what hangs together
  std::vector<bool> leaves_;             // by flow: read outside of its group
};

}  // namespace taskspec
