// Signatures of the registry, checked: when a task is registered, and when it is called.
#pragma once
#include "frontend/dsl/errors.hpp"
#include "taskspec/registry.hpp"

namespace taskspec::dsl::detail {

const char* pass_word(Pass pass);
std::string described(const TaskKey& key);  // "backward of 'linear' for 'Net.c1'"
std::string stored_as(const std::string& precision);

// Null: there is none.
const TensorSlot* slot_of(const TaskSignature& signature, const std::string& name, bool is_gradient);
const TensorSlot* variadic_slot(const TaskSignature& signature, bool out);
Permission permission_in(Pass pass, const TensorSlot& slot);

// Throws dsl::Error.
void check_signature(const TaskKey& key, const TaskSignature& signature, At at);
// That of a reverse against the forward one, which says more of its slots.
void check_reverse(const TaskKey& key, const TaskSignature& forward, TaskSignature& reverse, At at);
// Throws Error, without a place.
void check_binding(const TaskKey& key, const TaskSignature& signature, const TaskBinding& binding);

}  // namespace taskspec::dsl::detail
