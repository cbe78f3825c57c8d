#include "interp/control/target.hpp"

#include "interp/control/rules.hpp"

namespace taskspec {

bool Target::holds_open(std::span<const Value> values) const { return any_symbolic(values); }

Value Target::number(const Frame&, const Call& call, std::span<const Value> operands) {
  return symbolic_op(*call.op, operands, call.type);
}

// ---- regions --------------------------------------------------------------------------------------

namespace {

[[noreturn]] void no_regions(Span span) {
  throw failure("E1009", span, "regions inside of what is one node of a graph are not built yet");
}

}  // namespace

RegionForest& Target::regions() { no_regions({}); }
std::shared_ptr<RegionHandle> Target::make_region(Region, Span span) { no_regions(span); }
Value Target::launch(Interpreter&, const LaunchCall& call) { no_regions(call.span); }
void Target::fill(const Space&, std::uint32_t, const Value&, const DataSite& site) { no_regions(site.span); }
void Target::transfer(const FileCall&, Span span) { no_regions(span); }
Value Target::field_value(const Space&, std::uint32_t, const DataSite& site) { no_regions(site.span); }
Target::HeldElements Target::held_elements(const Space& space, std::uint32_t field, const DataSite& site) {
  return {field_value(space, field, site)};
}
Value Target::field_total(const Space&, std::uint32_t, ReduceOp, bool, const DataSite& site) { no_regions(site.span); }
Value Target::map_member(const LaunchMap&, MapMember, const DataSite& site) { no_regions(site.span); }
Value Target::map_element(const LaunchMap&, const Point&, const DataSite& site) { no_regions(site.span); }

}  // namespace taskspec
