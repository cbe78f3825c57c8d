#include "ir/records/backend_record.hpp"

#include <algorithm>
#include <array>

namespace taskspec {

std::span<const ReportField> common_report() {
  static constexpr std::array fields{
      ReportField{"tasks", Type::Kind::integer, "tasks that ran"},
      ReportField{"chains", Type::Kind::integer, "chains that they were"},
      ReportField{"dispatches", Type::Kind::integer, "pieces of work that were handed out"},
      ReportField{"peak", Type::Kind::integer, "bytes of tensors alive at once, at most", true},
      ReportField{"seconds", Type::Kind::real, "from its opening to its report", true},
      ReportField{"received", Type::Kind::integer, "bytes of tensors that left the session"},
  };
  return fields;
}

bool is_local_in_reports(std::string_view field) {
  return std::ranges::any_of(common_report(), [&](const ReportField& f) { return f.local && f.name == field; });
}

Type backend_type(std::string_view name, std::optional<Dim> time_steps) {
  Type type(Type::Kind::backend);
  type.names.emplace_back(name);
  if (time_steps) type.dims.push_back(*std::move(time_steps));
  return type;
}

std::optional<Dim> time_steps_of(const Type& backend) {
  return backend.dims.empty() ? std::nullopt : std::optional(backend.dims[0]);
}

}  // namespace taskspec
