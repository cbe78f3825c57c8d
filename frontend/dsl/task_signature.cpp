// Signatures of the registry: include/taskspec/task_signature.hpp.
#include "taskspec/task_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/dsl/signatures.hpp"

namespace taskspec::dsl {

using detail::fail;

std::string to_text(Permission permission) {
  static constexpr std::array<const char*, 4> words{"NONE", "RO", "WO", "RW"};
  return words[static_cast<std::size_t>(permission)];
}

namespace {

constexpr std::size_t roles = 7;
constexpr std::array<const char*, roles> role_words{"in", "weight", "state", "out", "gradient", "optimizer", "loss"};
constexpr std::array<const char*, 4> pass_words{"forward", "backward", "update", "loss"};

constexpr std::array<std::array<Permission, roles>, 4> table = [] {
  constexpr Permission no = Permission::none, ro = Permission::ro, wo = Permission::wo, rw = Permission::rw;
  return std::array<std::array<Permission, roles>, 4>{{
      {ro, ro, rw, wo, no, no, no},
      {ro, ro, ro, ro, wo, no, no},
      {no, rw, no, no, ro, rw, no},
      {ro, no, no, no, wo, no, wo},
  }};
}();

// By role: the modifiers that it may have.
constexpr std::array<SlotIs, roles> modifiers{SlotIs::optional | SlotIs::untrainable | SlotIs::variadic,
                                              SlotIs::optional | SlotIs::untrainable | SlotIs::variadic,
                                              SlotIs::required,
                                              SlotIs::variadic,
                                              SlotIs::required,
                                              SlotIs::optional,
                                              SlotIs::required};

template <class E>
constexpr std::size_t slot_position(E e) {
  return static_cast<std::size_t>(e);
}

std::string words_of(SlotIs is) {
  std::string words;
  for (const auto& [one, word] :
       {std::pair(SlotIs::optional, "optional"), std::pair(SlotIs::untrainable, "untrainable"),
        std::pair(SlotIs::variadic, "variadic")})
    if (is & one) words += (words.empty() ? "" : " ") + std::string(word);
  return words;
}

bool goes_out(SlotRole role) { return role == SlotRole::out; }

}  // namespace

Permission permission_of(SlotRole role, Pass pass) { return table[slot_position(pass)][slot_position(role)]; }

TaskSignature& TaskSignature::add(SlotRole role, const Name& name, SlotIs is) {
  const char* word = role_words[slot_position(role)];
  if (name.text.empty()) fail("E1001", name.at, "'' is no name of a slot");
  if ((modifiers[slot_position(role)] | is) != modifiers[slot_position(role)])
    fail("E1003", name.at, fmt::format("{} slot '{}' cannot be {}", word, name.text, words_of(is)));
  for (const TensorSlot& slot : tensors_) {
    const bool same_kind = (slot.role == SlotRole::gradient) == (role == SlotRole::gradient);
    if (slot.name == name.text && same_kind) fail("E1005", name.at, fmt::format("there are two slots '{}'", name.text));
    if ((slot.is & SlotIs::variadic) && (is & SlotIs::variadic) && goes_out(slot.role) == goes_out(role))
      fail("E1003", name.at,
           fmt::format("'{}' and '{}' both take any number of tensors, and nobody knows which", slot.name, name.text));
  }
  for (const ArgSlot& slot : arguments_)
    if (slot.name == name.text) fail("E1005", name.at, fmt::format("there are two slots '{}'", name.text));
  tensors_.push_back({name.text, role, is});
  return *this;
}

TaskSignature& TaskSignature::add_argument(const Name& name, const std::string& type) {
  if (name.text.empty()) fail("E1001", name.at, "'' is no name of a slot");
  const bool is_tensor = std::ranges::any_of(tensors_, [&](const TensorSlot& s) { return s.name == name.text; });
  const bool is_number = std::ranges::any_of(arguments_, [&](const ArgSlot& s) { return s.name == name.text; });
  if (is_tensor || is_number) fail("E1005", name.at, fmt::format("there are two slots '{}'", name.text));
  arguments_.push_back({name.text, type});
  return *this;
}

namespace {

bool is_trained(const TensorSlot& slot) {
  return (slot.role == SlotRole::in || slot.role == SlotRole::weight) && !(slot.is & SlotIs::untrainable);
}

}  // namespace

namespace detail {

class SignatureParts {
 public:
  static std::vector<TensorSlot>& tensors(TaskSignature& signature) { return signature.tensors_; }
};

}  // namespace detail

TaskSignature infer_bwd_signature(const TaskSignature& forward) {
  TaskSignature made = forward;
  for (const TensorSlot& slot : forward.get_tensor_slots())
    if (slot.role == SlotRole::out || is_trained(slot)) made.gradient(slot.name);
  return made;
}

namespace detail {

const char* pass_word(Pass pass) { return pass_words[slot_position(pass)]; }

std::string described(const TaskKey& key) {
  return fmt::format("{} of '{}'{}", pass_word(key.pass), key.task,
                     key.instance.empty() ? "" : " for '" + key.instance + "'");
}

const TensorSlot* slot_of(const TaskSignature& signature, const std::string& name, bool is_gradient) {
  for (const TensorSlot& slot : signature.get_tensor_slots())
    if (slot.name == name && (slot.role == SlotRole::gradient) == is_gradient) return &slot;
  return nullptr;
}

const TensorSlot* variadic_slot(const TaskSignature& signature, bool out) {
  for (const TensorSlot& slot : signature.get_tensor_slots())
    if ((slot.is & SlotIs::variadic) && goes_out(slot.role) == out) return &slot;
  return nullptr;
}

Permission permission_in(Pass pass, const TensorSlot& slot) {
  return slot.comes_in ? Permission::ro : permission_of(slot.role, pass);
}

void check_signature(const TaskKey& key, const TaskSignature& signature, At at) {
  if (key.task.empty()) fail("E1001", at, "'' is no name of a task");
  for (const TensorSlot& slot : signature.get_tensor_slots())
    if (permission_of(slot.role, key.pass) == Permission::none)
      fail("E1003", at,
           fmt::format("a {} pass has no {} slots, such as '{}'", pass_word(key.pass),
                       role_words[slot_position(slot.role)], slot.name));
}

void check_reverse(const TaskKey& key, const TaskSignature& forward, TaskSignature& reverse, At at) {
  for (TensorSlot& slot : SignatureParts::tensors(reverse)) {
    const TensorSlot* known = slot_of(forward, slot.name, false);
    const bool is_gradient = slot.role == SlotRole::gradient;
    if (!known) fail("E1003", at, fmt::format("{}: '{}' is no slot of the forward task", described(key), slot.name));
    if (!is_gradient && known->role != slot.role)
      fail("E1003", at,
           fmt::format("{}: '{}' is {} here, and {} in the forward task", described(key), slot.name,
                       role_words[slot_position(slot.role)], role_words[slot_position(known->role)]));
    if (is_gradient && known->role != SlotRole::out && !is_trained(*known))
      fail("E1003", at, fmt::format("{}: '{}' is not trained, and has no gradient", described(key), slot.name));
    slot.is = known->is;
    slot.comes_in = is_gradient && known->role == SlotRole::out;
  }
  for (const TensorSlot& slot : forward.get_tensor_slots())
    if (slot.role == SlotRole::weight && is_trained(slot) && !slot_of(reverse, slot.name, true))
      fail("E1003", at, fmt::format("{} gives no gradient of weight '{}'", described(key), slot.name),
           "or it is SlotIs::untrainable");
}

// ---- calls ----------------------------------------------------------------------------------------

namespace {

std::string slot_text(const TaskBinding::Bound& bound) {
  return (bound.is_gradient ? "the gradient of '" : "'") + bound.slot + "'";
}

}  // namespace

void check_binding(const TaskKey& key, const TaskSignature& signature, const TaskBinding& binding) {
  for (const TaskBinding::Bound& bound : binding.tensors) {
    const TensorSlot* slot = slot_of(signature, bound.slot, bound.is_gradient);
    if (!slot) throw failure("E1003", {}, fmt::format("{} has no slot for {}", described(key), slot_text(bound)));
    const Permission wanted = permission_in(key.pass, *slot);
    if (!allows(bound.permission, wanted))
      throw failure("E1401", {},
                    fmt::format("{}: {} is {} here, and the slot is {}", described(key), slot_text(bound),
                                to_text(bound.permission), to_text(wanted)));
  }
  for (const TensorSlot& slot : signature.get_tensor_slots()) {
    const bool is_gradient = slot.role == SlotRole::gradient;
    const auto given = std::ranges::count_if(binding.tensors, [&](const TaskBinding::Bound& bound) {
      return bound.slot == slot.name && bound.is_gradient == is_gradient;
    });
    if (given == 0 && !(slot.is & SlotIs::optional))
      throw failure("E1003", {}, fmt::format("{}: nothing is given for '{}'", described(key), slot.name));
    if (given > 1 && !(slot.is & SlotIs::variadic))
      throw failure("E1003", {},
                    fmt::format("{}: '{}' takes one tensor, here are {}", described(key), slot.name, given));
  }
  for (const ArgSlot& slot : signature.get_arg_slots()) {
    auto same = [&](const TaskBinding::Number& number) { return number.slot == slot.name; };
    const auto number = std::ranges::find_if(binding.arguments, same);
    if (number == binding.arguments.end())
      throw failure("E1003", {}, fmt::format("{}: nothing is given for '{}'", described(key), slot.name));
    if (number->type != slot.type)
      throw failure("E1004", {},
                    fmt::format("{}: '{}' is {}, here it is {}", described(key), slot.name, slot.type, number->type));
  }
}

}  // namespace detail

// ---- what a function sees -------------------------------------------------------------------------

namespace {

const TaskBinding::Bound* bound_at(const TaskBinding& binding, const std::string& slot, bool is_gradient,
                                   std::size_t i) {
  for (const TaskBinding::Bound& bound : binding.tensors)
    if (bound.slot == slot && bound.is_gradient == is_gradient && i-- == 0) return &bound;
  return nullptr;
}

}  // namespace

const TaskBinding::Bound& TaskArgumentAccessor::find(const std::string& slot, bool is_gradient, std::size_t i,
                                                     Permission wanted, const char* precision) const {
  const TensorSlot* known = detail::slot_of(signature_, slot, is_gradient);
  if (!known)
    throw failure("E1003", {},
                  fmt::format("task '{}' asks for {}'{}', which its signature does not have", task_,
                              is_gradient ? "the gradient of " : "", slot));
  if (const Permission has = detail::permission_in(pass_, *known); !allows(has, wanted))
    throw failure(
        "E1401", {},
        fmt::format("'{}' is {} in task '{}', which asks for {}", slot, to_text(has), task_, to_text(wanted)));
  const TaskBinding::Bound* bound = bound_at(binding_, slot, is_gradient, i);
  if (!bound) throw failure("E1003", {}, fmt::format("task '{}': nothing was given for '{}'", task_, slot));
  if (detail::stored_as(bound->precision) != precision)
    throw failure("E1004", {},
                  fmt::format("'{}' of task '{}' has elements of {}, here {} are asked for", slot, task_,
                              bound->precision, precision));
  return *bound;
}

const detail::NativeArgument& TaskArgumentAccessor::argument(const std::string& name, const std::string& type) const {
  for (const TaskBinding::Number& number : binding_.arguments) {
    if (number.slot != name) continue;
    if (number.type != type)
      throw failure("E1004", {}, fmt::format("'{}' of task '{}' is {}, no {}", name, task_, number.type, type));
    return number.value;
  }
  throw failure("E1003", {}, fmt::format("task '{}' asks for the number '{}', which it was not given", task_, name));
}

std::size_t TaskArgumentAccessor::count(const std::string& slot) const {
  const bool is_gradient = !detail::slot_of(signature_, slot, false);  // the reverse may have that alone
  if (is_gradient && !detail::slot_of(signature_, slot, true))
    throw failure("E1003", {}, fmt::format("task '{}' asks for '{}', which its signature does not have", task_, slot));
  std::size_t n = 0;
  while (bound_at(binding_, slot, is_gradient, n)) ++n;
  return n;
}

const std::vector<std::int64_t>& TaskArgumentAccessor::shape(const std::string& slot, std::size_t i) const {
  const TaskBinding::Bound* bound = bound_at(binding_, slot, false, i);
  if (!bound) bound = bound_at(binding_, slot, true, i);
  if (!bound) throw failure("E1003", {}, fmt::format("task '{}': nothing was given for '{}'", task_, slot));
  return bound->shape;
}

}  // namespace taskspec::dsl
