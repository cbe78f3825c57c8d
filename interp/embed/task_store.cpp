// The registry of C++ tasks: include/taskspec/registry.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "frontend/dsl/signatures.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/extern_bodies.hpp"

namespace taskspec::dsl {

namespace detail {

struct RegisteredTask {
  TaskKey key;
  TaskSignature signature;
  TaskImpl run;
};

}  // namespace detail

namespace {

using Entry = detail::RegisteredTask;
std::tuple<std::string, std::string, Pass> sorted(const TaskKey& key) { return {key.task, key.instance, key.pass}; }

// Of a call of the runtime, the tensors and numbers by the slots of a signature.
class Binder {
 public:
  // `names`: the forward entry, which knows all slots.
  Binder(const Entry& entry, const Entry& names, const NativeCall& call) : entry_(entry), names_(names), call_(call) {}

  TaskBinding forward() {
    std::size_t version = call_.site.outputs.size();
    for (std::size_t k = 0; k < call_.arguments.size(); ++k) {
      const NativeSite::Parameter& parameter = call_.site.parameters[k];
      if (!parameter.is_tensor)
        number(parameter, call_.arguments[k]);
      else if (parameter.is_place)
        tensor(slot(names_, call_.site, k), false, Permission::rw, call_.outputs[version++]);
      else
        tensor(slot(names_, call_.site, k), false, Permission::ro, call_.arguments[k].array());
    }
    for (std::size_t i = 0; i < call_.site.outputs.size(); ++i)
      tensor(slot_out(names_, call_.site, i), false, Permission::wo, call_.outputs[i]);
    return std::move(made_);
  }

  TaskBinding backward(const NativeTaskBody::Reverse& reverse) {
    std::size_t gradient = 0;
    for (std::size_t k = 0; k < call_.arguments.size(); ++k) {
      const NativeSite::Parameter& parameter = call_.site.parameters[k];
      if (!parameter.is_tensor) {
        number(parameter, call_.arguments[k]);
        continue;
      }
      const std::string name = slot(names_, call_.site, k);
      if (reverse.reads[k]) tensor(name, false, Permission::ro, call_.arguments[k].array());
      if (reverse.gives[k]) tensor(name, true, Permission::wo, call_.outputs[gradient++]);
    }
    for (std::size_t i = 0; i < call_.results.size(); ++i) {
      const std::string name = slot_out(names_, call_.site, i);
      if (reverse.reads_output[i]) tensor(name, false, Permission::ro, call_.results[i]);
      if (detail::slot_of(entry_.signature, name, true)) tensor(name, true, Permission::ro, call_.upstream[i]);
    }
    return std::move(made_);
  }

  // A parameter goes to the slot of its name, else to the one that takes any number.
  static std::string slot(const Entry& entry, const NativeSite& site, std::size_t parameter) {
    return slot_of(entry, site, site.parameters[parameter].name, false);
  }
  static std::string slot_out(const Entry& entry, const NativeSite& site, std::size_t output) {
    return slot_of(entry, site, site.outputs[output], true);
  }

 private:
  static std::string slot_of(const Entry& entry, const NativeSite& site, const std::string& name, bool out) {
    if (detail::slot_of(entry.signature, name, false)) return name;
    if (const TensorSlot* any = detail::variadic_slot(entry.signature, out)) return any->name;
    throw failure(
        "E1003", {},
        fmt::format("'{}' of task '{}' is none of the slots of {}", name, site.task, detail::described(entry.key)));
  }

  // One that is not valid is no float: it has no gradient.
  void tensor(const std::string& name, bool is_gradient, Permission permission, const Array& array) {
    TaskBinding::Bound bound{name, is_gradient, permission, "", nullptr, 0, {}};
    if (array.valid()) {
      bound.precision = info(array.precision()).name;
      bound.data = const_cast<std::byte*>(array.raw());
      bound.elements = static_cast<std::size_t>(array.elements());
      bound.shape = array.extents();
    }
    made_.tensors.push_back(std::move(bound));
  }
  // Parameters of an agent are there for those who ask.
  void number(const NativeSite::Parameter& parameter, const Value& value) {
    const auto& wanted = entry_.signature.get_arg_slots();
    const bool known = std::ranges::find(wanted, parameter.name, &ArgSlot::name) != wanted.end();
    if (!known && parameter.of_the_call && entry_.key.pass == Pass::forward)
      throw failure("E1003", {},
                    fmt::format("'{}' of task '{}' is none of the slots of {}", parameter.name, call_.site.task,
                                detail::described(entry_.key)));
    if (!known) return;
    if (value.is_real())
      made_.argument(parameter.name, value.real());
    else if (value.is_integer())
      made_.argument(parameter.name, value.integer());
    else if (value.is_bool())
      made_.argument(parameter.name, value.boolean());
  }

  const Entry &entry_, &names_;
  const NativeCall& call_;
  TaskBinding made_;
};

void run(const Entry& entry, const TaskBinding& binding, const std::string& task) {
  detail::check_binding(entry.key, entry.signature, binding);
  entry.run(TaskArgumentAccessor(entry.signature, entry.key.pass, binding, task));
}

// The passes of one task, as the runtime calls them.
class RegisteredBody final : public NativeTaskBody {
 public:
  RegisteredBody(std::shared_ptr<const Entry> forward, std::shared_ptr<const Entry> backward)
      : forward_(std::move(forward)), backward_(std::move(backward)) {}
  void forward(const NativeCall& call) const override {
    run(*forward_, Binder(*forward_, *forward_, call).forward(), call.site.task);
  }
  bool has_reverse() const override { return backward_ != nullptr; }
  Reverse reverse(const NativeSite& site) const override {
    Reverse made;
    auto has = [&](const std::string& slot, bool is_gradient) {
      return detail::slot_of(backward_->signature, slot, is_gradient) != nullptr;
    };
    for (std::size_t k = 0; k < site.parameters.size(); ++k) {
      const std::string slot = site.parameters[k].is_tensor ? Binder::slot(*forward_, site, k) : "";
      made.reads.push_back(has(slot, false));
      made.gives.push_back(has(slot, true));
    }
    for (std::size_t i = 0; i < site.outputs.size(); ++i)
      made.reads_output.push_back(has(Binder::slot_out(*forward_, site, i), false));
    return made;
  }
  void backward(const NativeCall& call) const override {
    run(*backward_, Binder(*backward_, *forward_, call).backward(reverse(call.site)), call.site.task);
  }

 private:
  const std::shared_ptr<const Entry> forward_, backward_;
};

}  // namespace

struct TaskStore::State {
  mutable std::mutex mutex;
  std::map<std::tuple<std::string, std::string, Pass>, std::shared_ptr<const detail::RegisteredTask>> entries;

  std::shared_ptr<const Entry> find(const TaskKey& key) const {
    std::lock_guard lock(mutex);
    auto found = entries.find(sorted(key));
    return found == entries.end() ? nullptr : found->second;
  }
  // That of the instance, else that of all.
  std::shared_ptr<const Entry> at(const TaskKey& key, detail::At at) const {
    if (auto own = find(key)) return own;
    if (auto shared = find({key.task, key.pass, ""})) return shared;
    detail::fail("E7001", at, "nobody registered " + detail::described(key));
  }
};

TaskStore::TaskStore() : state_(std::make_shared<State>()) {}

void TaskStore::register_task(const TaskKey& key, TaskSignature signature, TaskImpl implementation, detail::At at) {
  detail::check_signature(key, signature, at);
  const bool is_called = key.pass == Pass::forward || key.pass == Pass::backward;
  if (this == &task_store() && !is_called)
    detail::fail("E1009", at,
                 fmt::format("{}: a training takes its losses and optimizers from the library, or a fn as its loss; "
                             "those of the registry are not built yet",
                             detail::described(key)),
                 "a TaskStore of your own calls it by execute()");
  if (!implementation) detail::fail("E1006", at, detail::described(key) + " has no function");
  const TaskKey forward_key{key.task, Pass::forward, key.instance};
  const std::shared_ptr<const Entry> forward = state_->find(forward_key);
  if (key.pass == Pass::backward) {
    if (!forward) detail::fail("E1006", at, detail::described(forward_key) + " is not registered: it comes first");
    detail::check_reverse(key, forward->signature, signature, at);
  }
  auto entry = std::make_shared<const Entry>(Entry{key, std::move(signature), std::move(implementation)});
  {
    std::lock_guard lock(state_->mutex);
    if (!state_->entries.emplace(sorted(key), entry).second)
      detail::fail("E1005", at, detail::described(key) + " is registered already");
  }
  if (this != &task_store()) return;
  if (key.pass == Pass::forward)
    detail::extern_bodies().define(key.task, std::make_shared<const RegisteredBody>(entry, nullptr), key.instance);
  if (key.pass == Pass::backward)
    detail::extern_bodies().define(key.task, std::make_shared<const RegisteredBody>(forward, entry), key.instance);
}

const TaskSignature& TaskStore::get_signature(const TaskKey& key, detail::At at) const {
  return state_->at(key, at)->signature;
}

void TaskStore::execute(const TaskKey& key, const TaskBinding& binding, detail::At at) const {
  const std::shared_ptr<const Entry> entry = state_->at(key, at);
  detail::with_places({}, at, [&] {
    try {
      run(*entry, binding, key.task);
    } catch (const taskspec::Error&) {
      throw;
    } catch (const std::exception& thrown) {
      throw failure("E5011", {}, std::string("a C++ task threw: ") + thrown.what());
    }
  });
}

TaskStore& task_store() {
  static TaskStore store;
  return store;
}

}  // namespace taskspec::dsl
