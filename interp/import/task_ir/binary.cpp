#include "interp/import/task_ir/binary.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include "interp/import/task_ir/text_reader.hpp"

namespace taskspec::task_ir {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class UnknownWalk {
 public:
  explicit UnknownWalk(Span file) : file_(file) {}

  void walk(const Message& message, const std::string& path) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    if (const auto& set = reflection.GetUnknownFields(message); !set.empty()) tell(message, set, path);
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const std::string at = path.empty() ? field->name() : path + "." + field->name();
      if (!field->is_repeated()) {
        walk(reflection.GetMessage(message, field), at);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i)
        walk(reflection.GetRepeatedMessage(message, field, i), fmt::format("{}[{}]", at, i));
    }
  }

  Diags told() {
    fields_.tell(diags_);
    return std::move(diags_);
  }

 private:
  void tell(const Message& message, const google::protobuf::UnknownFieldSet& set, const std::string& path) {
    for (int i = 0; i < set.field_count(); ++i) {
      const google::protobuf::UnknownField& field = set.field(i);
      const FieldDescriptor* known = message.GetDescriptor()->FindFieldByNumber(field.number());
      if (known && known->enum_type() && field.type() == google::protobuf::UnknownField::TYPE_VARINT)
        diags_.error("E7003", file_,
                     fmt::format("{}.{} is {}, no {}", path, known->name(), static_cast<std::int64_t>(field.varint()),
                                 known->enum_type()->name()));
      else
        fields_.add(message.GetDescriptor()->name(), std::to_string(field.number()), path, file_);
    }
  }

  Span file_;
  UnknownFields fields_;
  Diags diags_;
};

}  // namespace

Diags unknown_fields(const Message& message, Span file) {
  UnknownWalk walk(file);
  walk.walk(message, "");
  return walk.told();
}

}  // namespace taskspec::task_ir
