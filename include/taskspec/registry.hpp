// The registry of tasks that are C++: which function runs, per agent, task and pass, and what it may do with which of
// its tensors. A text calls one as `task scale(in x: f32[N], in k: f32[1]) -> (y: f32[N]) extern "scale"`, C++ says
// task("scale").in("x", f32["N"]).in("k", f32[1]).out("y", f32["N"]).external("scale").
//
//   TaskSignature scale = TaskSignature().in("x").weight("k").out("y");
//   register_task({"scale", Pass::forward}, scale, [](const TaskArgumentAccessor& a) {
//     std::span<const float> x = a.get_tensor<Permission::ro, float>("x"), k = a.get_tensor<Permission::ro,
//     float>("k"); std::span<float> y = a.get_tensor<Permission::wo, float>("y"); for (std::size_t i = 0; i < x.size();
//     ++i) y[i] = k[0] * x[i];
//   });
//   register_task({"scale", Pass::backward}, infer_bwd_signature(scale), [](const TaskArgumentAccessor& a) {
//     std::span<const float> dy = a.get_gradient<Permission::ro, float>("y");
//     std::span<float> dk = a.get_gradient<Permission::wo, float>("k");
//     ...
//   });
//
// What is not allowed is an Error: when it is registered, when a call does not fit the signature, and when the function
// asks for more than its signature says. With check_native_tasks(true) each call is looked at as well (native.hpp).
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "taskspec/task_signature.hpp"

namespace taskspec::dsl {

// The tensors and numbers of one call.
class TaskBinding {
 public:
  using Shape = std::vector<std::int64_t>;
  template <class T>  // `const` elements may only be read
  TaskBinding& tensor(const std::string& slot, std::span<T> data, Shape shape = {}) {
    return bind<T>(slot, false, data, std::move(shape));
  }
  template <class T>
  TaskBinding& gradient(const std::string& slot, std::span<T> data, Shape shape = {}) {
    return bind<T>(slot, true, data, std::move(shape));
  }
  template <class T>
  TaskBinding& argument(const std::string& slot, T value) {
    detail::NativeArgument number;
    std::is_floating_point_v<T> ? void(number.real = static_cast<double>(value))
                                : void(number.integer = static_cast<std::int64_t>(value));
    arguments.push_back({slot, detail::NativeTraits<T>::parameter().precision, number});
    return *this;
  }

  struct Bound {
    std::string slot;
    bool is_gradient = false;
    Permission permission = Permission::ro;  // of the tensor: what its owner allows
    std::string precision;
    std::byte* data = nullptr;
    std::size_t elements = 0;
    Shape shape;
  };
  struct Number {
    std::string slot, type;
    detail::NativeArgument value;
  };
  std::vector<Bound> tensors;
  std::vector<Number> arguments;

 private:
  template <class T>
  TaskBinding& bind(const std::string& slot, bool is_gradient, std::span<T> data, Shape shape) {
    if (shape.empty()) shape = {static_cast<std::int64_t>(data.size())};
    auto* bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(data.data()));
    tensors.push_back({slot, is_gradient, std::is_const_v<T> ? Permission::ro : Permission::rw,
                       detail::precision_of<T>(), bytes, data.size(), std::move(shape)});
    return *this;
  }
};

// What a function of the registry sees of a call. Elements lie row by row. Whatever the signature does not say is an
// Error: E1003 no such slot, E1401 more than the permission of the slot, E1004 elements of another type.
class TaskArgumentAccessor {
 public:
  template <Permission P, class T>
  using View = std::span<std::conditional_t<P == Permission::ro, const T, T>>;

  // RO of what may be written is a view to read. `i`: of a variadic slot.
  template <Permission P, class T>
  View<P, T> get_tensor(const std::string& slot, std::size_t i = 0) const {
    return view<P, T>(find(slot, false, i, P, detail::precision_of<T>()));
  }
  template <Permission P, class T>
  View<P, T> get_gradient(const std::string& slot, std::size_t i = 0) const {
    return view<P, T>(find(slot, true, i, P, detail::precision_of<T>()));
  }
  template <class T>
  T get_argument(const std::string& name) const {
    return detail::NativeTraits<T>::value(argument(name, detail::NativeTraits<T>::parameter().precision));
  }
  std::size_t count(const std::string& slot) const;  // of tensors in it: 0 where an optional one was left out
  bool has(const std::string& slot) const { return count(slot) > 0; }
  const std::vector<std::int64_t>& shape(const std::string& slot, std::size_t i = 0) const;

  TaskArgumentAccessor(const TaskSignature& signature, Pass pass, const TaskBinding& binding, const std::string& task)
      : signature_(signature), pass_(pass), binding_(binding), task_(task) {}

 private:
  template <Permission P, class T>
  static View<P, T> view(const TaskBinding::Bound& bound) {
    return {reinterpret_cast<T*>(bound.data), bound.elements};
  }
  const TaskBinding::Bound& find(const std::string& slot, bool is_gradient, std::size_t i, Permission wanted,
                                 const char* precision) const;
  const detail::NativeArgument& argument(const std::string& name, const std::string& type) const;
  const TaskSignature& signature_;
  const Pass pass_;
  const TaskBinding& binding_;
  const std::string& task_;
};

using TaskImpl = std::function<void(const TaskArgumentAccessor&)>;

// Never by the task alone: two layers of one kind keep apart what belongs to each.
struct TaskKey {
  std::string task;  // the symbol behind `extern`
  Pass pass = Pass::forward;
  std::string instance = {};  // the path of one agent, "Net.c1"; empty: all that have none of their own
};

class TaskStore {
 public:
  TaskStore();
  TaskStore(const TaskStore&) = delete;

  // E1003 a slot that the pass does not have, or a modifier that its role does not take; a reverse that is not one of
  // the forward task, which comes first (E1006); E1005 the key is taken.
  void register_task(const TaskKey& key, TaskSignature signature, TaskImpl implementation,
                     detail::At at = detail::At::current());
  // E7001: there is none.
  const TaskSignature& get_signature(const TaskKey& key, detail::At at = detail::At::current()) const;
  // Calls it here and now: E1003 a slot that is missing or unknown, E1401 a tensor that may not be written where the
  // signature writes, E1004 a number of another type. What the function throws comes as E5011.
  void execute(const TaskKey& key, const TaskBinding& binding, detail::At at = detail::At::current()) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The one that programs of this process find their `extern` tasks in. They call forward and backward passes: an update
// or a loss is refused here (E1009), and has its place in a store of your own, whose execute() calls it.
TaskStore& task_store();
inline void register_task(const TaskKey& key, TaskSignature signature, TaskImpl implementation,
                          detail::At at = detail::At::current()) {
  task_store().register_task(key, std::move(signature), std::move(implementation), at);
}
inline void execute(const TaskKey& key, const TaskBinding& binding, detail::At at = detail::At::current()) {
  task_store().execute(key, binding, at);
}

}  // namespace taskspec::dsl
