// What a task that is C++ may do with which of its tensors: slots by name, each with a role, from which and from the
// pass its permission follows.
//
//   TaskSignature linear = TaskSignature().in("x").weight("w").weight("b", SlotIs::optional).out("y");
//   TaskSignature reverse = infer_bwd_signature(linear);      // x w b y RO, gradient of y RO, of x w b WO
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "taskspec/native.hpp"

namespace taskspec::dsl {

namespace detail {
class SignatureParts;
}

// What one may do with a tensor. none < ro, wo < rw: a lattice.
enum class Permission : std::uint8_t { none = 0, ro = 1, wo = 2, rw = 3 };
constexpr Permission join(Permission a, Permission b) {
  return static_cast<Permission>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Permission meet(Permission a, Permission b) {
  return static_cast<Permission>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr bool allows(Permission has, Permission wanted) { return meet(has, wanted) == wanted; }
std::string to_text(Permission permission);  // "NONE", "RO", "WO", "RW"

enum class Pass : std::uint8_t { forward, backward, update, loss };

// What a slot is for. Its permission follows from that and from the pass:
//              in  weight  state  out  gradient                         optimizer  loss
//   forward    RO  RO      RW     WO   -                                -          -
//   backward   RO  RO      RO     RO   RO of an out, else WO            -          -
//   update     RO  RW      -      -    RO                               RW         -
//   loss       RO  -       -      -    WO                               -          WO
enum class SlotRole : std::uint8_t { in, weight, state, out, gradient, optimizer, loss };
Permission permission_of(SlotRole role, Pass pass);  // none: there is no such slot; of a gradient that of an input

// optional: the call may leave it out (in, weight, optimizer). variadic: any number of tensors, at least one unless it
// is optional, too; those of a task that no other slot is called like (in, weight, out; one among what comes in, one
// among what goes out). untrainable: it gets no gradient (in, weight).
enum class SlotIs : std::uint8_t { required = 0, optional = 1, untrainable = 2, variadic = 4 };
constexpr SlotIs operator|(SlotIs a, SlotIs b) {
  return static_cast<SlotIs>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool operator&(SlotIs all, SlotIs one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

struct TensorSlot {
  std::string name;
  SlotRole role = SlotRole::in;
  SlotIs is = SlotIs::required;
  bool comes_in = false;  // gradient: of an output, so it is read; known once the reverse is registered
};
struct ArgSlot {           // a number of the host
  std::string name, type;  // "int", "float", "bool"
};

// Slots by name. A gradient goes by the name of what it is the gradient of.
class TaskSignature {
 public:
  TaskSignature& in(Name name, SlotIs is = SlotIs::required) { return add(SlotRole::in, name, is); }
  TaskSignature& weight(Name name, SlotIs is = SlotIs::required) { return add(SlotRole::weight, name, is); }
  TaskSignature& state(Name name) { return add(SlotRole::state, name, SlotIs::required); }
  TaskSignature& out(Name name, SlotIs is = SlotIs::required) { return add(SlotRole::out, name, is); }
  TaskSignature& gradient(Name name) { return add(SlotRole::gradient, name, SlotIs::required); }
  TaskSignature& optimizer(Name name, SlotIs is = SlotIs::required) { return add(SlotRole::optimizer, name, is); }
  TaskSignature& loss(Name name) { return add(SlotRole::loss, name, SlotIs::required); }
  TaskSignature& add(SlotRole role, const Name& name, SlotIs is);
  template <class T>
  TaskSignature& argument(const Name& name) {
    return add_argument(name, detail::NativeTraits<T>::parameter().precision);
  }
  const std::vector<TensorSlot>& get_tensor_slots() const { return tensors_; }
  const std::vector<ArgSlot>& get_arg_slots() const { return arguments_; }

 private:
  friend class detail::SignatureParts;
  TaskSignature& add_argument(const Name& name, const std::string& type);
  std::vector<TensorSlot> tensors_;
  std::vector<ArgSlot> arguments_;
};

// That of the reverse which reads all that the forward task had: the gradients of outputs come in, those of what may be
// trained go out. One that says less with a signature of its own lets the rest go earlier.
TaskSignature infer_bwd_signature(const TaskSignature& forward);

}  // namespace taskspec::dsl
