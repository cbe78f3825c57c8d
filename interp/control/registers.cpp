#include "interp/control/registers.hpp"

#include <algorithm>
#include <utility>

#include "ir/program/host_symbols.hpp"

namespace taskspec {

namespace {

class Placing {
 public:
  Placing(const Reads& reads, const std::vector<bool>& places, Registers& registers)
      : function_(reads.function()), reads_(reads), places_(places), registers_(registers) {}

  void run() {
    begin();
    find_names();
    find_writes();
    for (std::size_t i = reads_.first(); i < function_.calls.size(); ++i) place(CallId(i));
  }

 private:
  using Write = std::pair<VariableId, std::uint32_t>;  // where, in the order of the text

  std::uint32_t fresh(std::uint32_t count = 1) { return std::exchange(registers_.count, registers_.count + count); }

  void begin() {
    if (registers_.count == 0) {
      registers_.count = static_cast<std::uint32_t>(function_.parameters.size());
    }
    known_variables_ = registers_.variables.size();
    while (registers_.variables.size() < function_.variables.size()) registers_.variables.push_back(fresh());
    registers_.calls.resize(function_.calls.size(), 0);
    registers_.own.resize(function_.calls.size(), false);
    registers_.passed_on.resize(function_.calls.size(), false);
  }

  // What extents name is asked for at any time.
  void find_names() {
    named_.resize(function_.calls.size() - reads_.first(), false);
    auto name = [this](CallId call) {
      if (reads_.is_new(call) && call.index() < function_.calls.size()) named_[call.index() - reads_.first()] = true;
    };
    auto name_extents = [&name](const Type& type, auto& again) -> void {
      for (const Dim& dim : type.dims)
        for (const Symbol& symbol : dim.symbols())
          if (symbol->host) name(CallId(symbol->call));
      for (const Type& part : type.parts) again(part, again);
    };
    for_each_host_symbol(function_, name);
    for (const Output& output : function_.outputs) name_extents(output.type, name_extents);
    for (std::size_t v = known_variables_; v < function_.variables.size(); ++v)
      name_extents(function_.variables[v].type, name_extents);
    for (std::size_t i = reads_.first(); i < function_.calls.size(); ++i)
      for_each_host_symbol(function_.calls[i], name);
  }

  void find_writes() {
    for (std::size_t i = reads_.first(); i < function_.calls.size(); ++i) {
      const Call& call = function_.calls[i];
      auto write = [&](VariableId variable) { writes_.emplace_back(variable, reads_.begin(CallId(i))); };
      if (call.form->writes()) write(call.variable);
      for (const Place& place : call.places) write(place.variable);
    }
    std::ranges::sort(writes_);
  }

  bool named(CallId id) const { return named_[id.index() - reads_.first()]; }

  void place(CallId id) {
    const Call& call = function_[id];
    std::int32_t& position = registers_.calls[id.index()];
    if (call.form == Form::constant) {
      registers_.constants.push_back(call.value);
      position = -static_cast<std::int32_t>(registers_.constants.size());
    } else if (call.form == Form::parameter) {
      position = static_cast<std::int32_t>(call.index);
    } else if (call.form->repeats() && !call.in.empty()) {
      position = static_cast<std::int32_t>(registers_.loops.emplace_back(fresh(2)));
    } else if (call.form->is_statement() || call.type.is(Type::Kind::none)) {
      position = shared(registers_.nothing);
    } else if (VariableId variable = shared_with(id, call); variable.valid()) {
      position = static_cast<std::int32_t>(registers_.variables[variable.index()]);
    } else {
      const bool next = reads_.once(id) && reads_.last(id) == reads_.next(id);
      registers_.passed_on[id.index()] = !named(id) && (next || reads_.uses(id) == 0);
      const bool hand = next && !named(id) && is_handed(id, call);
      position = hand ? shared(registers_.hand) : static_cast<std::int32_t>(fresh());
      registers_.own[id.index()] = !hand;
    }
  }

  static constexpr auto none = Registers::none;
  std::int32_t shared(std::uint32_t& position) {
    if (position == none) position = fresh();
    return static_cast<std::int32_t>(position);
  }

  // A scalar that the next call takes as an operand, and nothing between them.
  bool is_handed(CallId id, const Call& call) const {
    using Kind = Type::Kind;
    const Call& next = function_[reads_.next(id)];
    const bool scalar = call.type.is(Kind::integer) || call.type.is(Kind::real) || call.type.is(Kind::boolean);
    return scalar && next.blocks.empty() && call.form != Form::loop && call.form != Form::variable;
  }

  VariableId shared_with(CallId id, const Call& call) const {
    if (call.form == Form::variable) return stays(id, call) ? call.variable : VariableId();
    const CallId next = reads_.next(id);
    if (!next.valid() || function_[next].form != Form::write || function_[next].in[0] != id) return {};
    return made_in_place(id, call, function_[next].variable) ? function_[next].variable : VariableId();
  }

  // The variable holds it until it was used.
  bool stays(CallId id, const Call& call) const {
    const VariableId v = call.variable;
    if (is_of_agent(v)) return false;
    if (!function_.variables[v.index()].is_mutable && !is_parameter(v) && !is_written_twice(v)) return true;
    if (named(id)) return false;
    if (reads_.uses(id) == 0) return true;
    const CallId last = reads_.last(id);
    if (!last.valid()) return false;
    const std::uint32_t end = function_[last].blocks.empty() ? reads_.begin(last) : reads_.end(last);
    const auto write = std::ranges::upper_bound(writes_, Write(v, reads_.begin(id)));
    return write == writes_.end() || write->first != v || write->second >= end;
  }

  // Those of an agent change whenever another member of it is called.
  bool is_of_agent(VariableId variable) const {
    return std::ranges::any_of(function_.parameters,
                               [&](const Parameter& p) { return p.role == Role::slot && p.variable == variable; });
  }
  bool is_parameter(VariableId variable) const {
    return std::ranges::any_of(function_.parameters, [&](const Parameter& p) { return p.variable == variable; });
  }
  bool is_written_twice(VariableId variable) const {
    const auto first = std::ranges::lower_bound(writes_, Write(variable, 0));
    return first != writes_.end() && std::next(first) != writes_.end() && std::next(first)->first == variable;
  }

  bool made_in_place(CallId id, const Call& call, VariableId variable) const {
    const Type& declared = function_.variables[variable.index()].type;
    const bool names = call.form->is_name();
    const bool whole = call.form == Form::op || !declared.is(Type::Kind::real);  // others may give an int for a float
    return !names && whole && reads_.once(id) && !named(id) && call.blocks.empty() && call.places.empty() &&
           !places_[variable.index()] && call.type == declared;
  }

  const Function& function_;
  const Reads& reads_;
  const std::vector<bool>& places_;
  Registers& registers_;
  std::size_t known_variables_ = 0;  // of older calls
  std::vector<bool> named_;          // by new call
  std::vector<Write> writes_;        // of new calls, sorted
};

}  // namespace

void place_values(const Reads& reads, const std::vector<bool>& places, Registers& registers) {
  Placing(reads, places, registers).run();
}

}  // namespace taskspec
