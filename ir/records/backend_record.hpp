// What there is to know of a backend beyond the builtin that chooses it, `host(threads: 2)`: what its reports tell, and
// how it is opened. A builtin with such a record is a backend; checker, --on, prompt and manual read it there.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ir/types/type.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

class Backend;

// A field of `.report` behind those that all backends have.
struct ReportField {
  std::string_view name;
  Type::Kind kind = Type::Kind::integer;
  std::string_view doc;
  bool local = false;        // may differ between shards
  Type (*type)() = nullptr;  // of kinds with parts
};

struct BackendRecord {
  std::span<const ReportField> report = {};  // Backend::report gives their values
  // The options are the operands of the builtin. Throws Error: E5003 for one that cannot be.
  std::unique_ptr<Backend> (*open)(std::span<const Value> options) = nullptr;
  // What a graph holds beside its arguments is part of the program it makes of it (PrepareOptions::constants).
  bool keeps_constants = false;
};

// Of every report, in this order, first.
std::span<const ReportField> common_report();
// One of those that is local; reports of all backends have it.
bool is_local_in_reports(std::string_view field);

// Which backend it is stands in the type: `backend host`. With `time_steps` it has one extent: how many there are.
Type backend_type(std::string_view name, std::optional<Dim> time_steps = {});
std::optional<Dim> time_steps_of(const Type& backend);

// The option of that name, the same for all backends that have it.
inline constexpr std::string_view time_steps_option = "time_steps";
inline constexpr std::int64_t most_time_steps = INT32_MAX;

}  // namespace taskspec
