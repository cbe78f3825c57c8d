#include "ir/records/backend_record.hpp"

#include <array>

namespace taskspec {

std::span<const ReportField> common_report() {
  static constexpr std::array fields{
      ReportField{"tasks", Type::Kind::integer, "tasks that ran"},
      ReportField{"chains", Type::Kind::integer, "chains that they were"},
      ReportField{"dispatches", Type::Kind::integer, "pieces of work that were handed out"},
      ReportField{"peak", Type::Kind::integer, "bytes of tensors alive at once, at most"},
      ReportField{"seconds", Type::Kind::real, "from its opening to its report"},
      ReportField{"received", Type::Kind::integer, "bytes of tensors that left the session"},
  };
  return fields;
}

Type backend_type(std::string_view name) {
  Type type(Type::Kind::backend);
  type.names.emplace_back(name);
  return type;
}

}  // namespace taskspec
