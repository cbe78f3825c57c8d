// What a binary file has that the schema has not.
#pragma once
#include <google/protobuf/message.h>

#include "ir/base/diag.hpp"

namespace taskspec::task_ir {

// E7003: warnings for fields that nobody knows, by path and number; errors for numbers that are no member of their
// enumeration, which protobuf puts aside as such fields.
Diags unknown_fields(const google::protobuf::Message& message, Span file);

}  // namespace taskspec::task_ir
