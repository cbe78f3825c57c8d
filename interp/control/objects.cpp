#include "interp/control/objects.hpp"

#include "interp/control/launch.hpp"
#include "interp/control/recorder.hpp"

namespace taskspec {

Tensor::Tensor(Recorder& r, Ref reference, std::shared_ptr<const Type> t)
    : ref(reference), shared_type(std::move(t)), recorder_(&r) {
  r.retain(ref);  // first: where that takes memory and there is none, nobody knows of this handle
  ++r.handles;
  older_ = std::exchange(r.newest_handle, this);
  if (older_) older_->newer_ = this;
}

Tensor::~Tensor() {
  if (!recorder_) return;
  --recorder_->handles;
  if (older_) older_->newer_ = newer_;
  (newer_ ? newer_->older_ : recorder_->newest_handle) = older_;
  recorder_->release(ref);
}

Recorder& Tensor::recorder() const {
  if (!recorder_) bug("a tensor is used after the session that it belongs to");
  return *recorder_;
}

Recorder::~Recorder() {
  for (Tensor* tensor = newest_handle; tensor; tensor = tensor->older_) tensor->recorder_ = nullptr;
}

std::string Tensor::text() const {
  if (ref.kind == Ref::Kind::constant || !recorder_) return "<const : " + type.text() + ">";
  if (ref.kind == Ref::Kind::input) return "<" + recorder().graph.inputs()[ref.id].name + " : " + type.text() + ">";
  std::uint32_t steps = structured ? 1 : recorder().links.steps(recorder().graph, ref.node());
  std::string name = call() + "." + (alias ? alias->output : recorder().graph.slot_out(ref.node(), ref.slot));
  return "<" + name + " : " + type.text() + ", " + std::to_string(steps) + (steps == 1 ? " step>" : " steps>");
}

std::string Tensor::call() const {
  return alias ? scope_path(recorder().graph, alias->scope) : recorder().graph.path(ref.node());
}

std::string scope_path(const TaskGraph& graph, ScopeId scope) {
  std::vector<std::string_view> names;
  for (; scope.valid(); scope = graph.scopes()[scope.index()].parent)
    if (const std::string& name = graph.scopes()[scope.index()].name; !name.empty()) names.push_back(name);
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) (path += path.empty() ? "" : "/") += *name;
  return path;
}

std::string Invocation::name() const {
  const Tensor* first = label.empty() && !outputs.empty() ? outputs[0].as<Tensor>() : nullptr;
  if (auto* map = label.empty() && !outputs.empty() ? outputs[0].as<LaunchMap>() : nullptr) first = map->all.get();
  return first && first->ref.is_future() ? first->call() : label;
}

std::string Invocation::text() const {
  if (outputs.size() == 1) return print(outputs[0]);
  if (names == std::vector<std::string>{"value", "report"} && !outputs[0].as<Tensor>())
    return print(outputs[0]);  // a fn
  std::string out = "<" + name() + " -> (";
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto* tensor = outputs[i].as<Tensor>();
    const bool measured = outputs[i].as<Record>();  // other numbers in every run
    out += (i ? ", " : "") + names[i] + ": " + (tensor ? tensor->type.text() : measured ? "record" : print(outputs[i]));
  }
  return out + ")>";
}

std::string Callable::text() const {
  static constexpr const char* kinds[] = {"fn", "task", "graph", "module"};
  return std::string("<") + kinds[static_cast<int>(program[function].kind)] + " " + program.display_name(function) +
         ">";
}

std::string ComposedTask::text() const { return "<task " + print(first) + " >> " + print(second) + ">"; }

Value* Agent::slot(std::string_view name) {
  const auto& declared = program[definition].slots;
  for (std::size_t i = 0; i < slots.size() && i < declared.size(); ++i)
    if (declared[i].name == name) return &slots[i];
  return nullptr;
}

std::string Agent::text() const {
  const AgentDef& def = program[definition];
  std::string out = def.name + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i)
    out += (i ? ", " : "") + def.parameters[i].name + ": " + print(arguments[i]);
  return out + ")";
}

BackendChoice::BackendChoice(const Builtin& backend) : backend(&backend) {
  for (const Operand& operand : backend.operands) options.push_back(operand.standard.value());
}

Value* BackendChoice::option(std::string_view name) {
  for (std::size_t i = 0; i < options.size(); ++i)
    if (backend->operands[i].name == name) return &options[i];
  return nullptr;
}

const Value* Record::find(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

std::string Record::text() const {
  if (!table.empty()) return table;
  std::string out = "{";
  for (const auto& [key, value] : fields) out += (out.size() > 1 ? ", " : "") + key + ": " + print(value);
  return out + "}";
}

}  // namespace taskspec
