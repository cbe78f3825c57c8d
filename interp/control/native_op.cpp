#include "interp/control/native_op.hpp"

#include <algorithm>
#include <cstring>

#include "interp/control/natives.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

namespace {

// Which function a line calls, and with what besides tensors: the operand `body` of its op.
class NativeUse final : public Object {
 public:
  NativeSite site;
  std::shared_ptr<const NativeTaskBody> body;
  std::vector<Value> arguments;    // by parameter, none for tensors
  std::vector<ArrayType> outputs;  // of the task, and new versions of places behind them
  NativeTaskBody::Reverse reverse;
  std::vector<ArrayType> gradients;  // that the reverse gives
  std::vector<std::size_t> gives;    // the parameters that they are of
  Span place;
  std::string text() const override { return "<C++ of " + site.task + ">"; }

  bool is_tensor(std::size_t parameter) const { return site.parameters[parameter].is_tensor; }
  bool has_upstream(std::size_t output) const { return is_float(outputs[output].precision); }
};

const NativeUse& use_of(const OpInstance& call) { return *call.attributes[0].as<NativeUse>(); }

// Bytes that somebody else owns.
Array lent(const ArrayType& type, std::byte* bytes) {
  return Array::wrap(type, std::shared_ptr<std::byte>(std::shared_ptr<void>(), bytes));
}

// The tensors of a call one after another, as the operands of its line.
class Tensors {
 public:
  Tensors(const std::vector<ArrayType>& types, std::span<const std::byte* const> bytes)
      : types_(types), bytes_(bytes) {}
  Array next() {
    const std::size_t at = next_++;
    return lent(types_[at], const_cast<std::byte*>(bytes_[at]));
  }

 private:
  const std::vector<ArrayType>& types_;
  const std::span<const std::byte* const> bytes_;
  std::size_t next_ = 0;
};

std::vector<Array> outputs_of(const std::vector<ArrayType>& types, std::span<std::byte* const> bytes) {
  std::vector<Array> made;
  for (std::size_t i = 0; i < types.size(); ++i) made.push_back(lent(types[i], bytes[i]));
  return made;
}

class NativeKernel : public Kernel {
 public:
  explicit NativeKernel(const OpInstance& call) : keeps_(call.attributes[0]), use_(use_of(call)), in_(call.in) {}
  std::optional<Fault> run(const KernelArgs& args) const override {
    try {
      call(args);
      return std::nullopt;
    } catch (const Error& error) {
      const Diag& first = error.diags().items().front();
      return Fault{first.code, first.message};
    }
  }

 protected:
  virtual void call(const KernelArgs& args) const = 0;
  const Value keeps_;
  const NativeUse& use_;
  const std::vector<ArrayType> in_;
};

class ForwardKernel final : public NativeKernel {
 public:
  using NativeKernel::NativeKernel;

 private:
  void call(const KernelArgs& args) const override {
    Tensors given(in_, args.in);
    std::vector<Array> outputs = outputs_of(use_.outputs, args.out);
    std::vector<Value> arguments = use_.arguments;
    std::size_t version = use_.site.outputs.size();
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (!use_.is_tensor(k)) continue;
      const Array tensor = given.next();
      if (use_.site.parameters[k].is_place) std::memcpy(outputs[version++].raw(), tensor.raw(), tensor.bytes());
      arguments[k] = Value(tensor);
    }
    call_native(*use_.body, NativePass::forward, {use_.site, arguments, outputs}, use_.place);
  }
};

// Its tensors: the inputs and outputs of the forward call that the reverse reads, then the gradients of outputs.
class BackwardKernel final : public NativeKernel {
 public:
  using NativeKernel::NativeKernel;

 private:
  void call(const KernelArgs& args) const override {
    Tensors given(in_, args.in);
    std::vector<Value> arguments = use_.arguments;
    for (std::size_t k = 0; k < arguments.size(); ++k)
      if (use_.is_tensor(k) && use_.reverse.reads[k]) arguments[k] = Value(given.next());
    const std::size_t count = use_.site.outputs.size();
    std::vector<Array> results(count), upstream(count), outputs = outputs_of(use_.gradients, args.out);
    for (std::size_t i = 0; i < count; ++i)
      if (use_.reverse.reads_output[i]) results[i] = given.next();
    for (std::size_t i = 0; i < count; ++i)
      if (use_.has_upstream(i)) upstream[i] = given.next();
    call_native(*use_.body, NativePass::backward, {use_.site, arguments, outputs, results, upstream, use_.gives},
                use_.place);
  }
};

// ---- the ops --------------------------------------------------------------------------------------

constexpr Operand native_operands[] = {{.name = "body", .kind = OperandKind::value},
                                       {.name = "tensors", .variadic = true}};

Type types_of(const std::vector<ArrayType>& types) {
  if (types.size() == 1) return types[0].type();
  std::vector<Type> parts;
  for (const ArrayType& type : types) parts.push_back(type.type());
  return Type::tuple(std::move(parts));
}

// Nobody knows more of a C++ function than that it looks at each element.
Work work(const OpInstance& call) {
  Work work;
  for (const auto* types : {&call.in, &call.out})
    for (const ArrayType& type : *types) {
      work.operations += static_cast<double>(type.elements());
      work.bytes += static_cast<double>(type.bytes());
    }
  return work;
}

constexpr std::string_view no_blocks = "C++ runs on the host", no_parts = "nobody knows what a C++ function reads";
constexpr std::string_view example =
    "task halved(in x: f32[N]) -> (y: f32[N]) extern \"halved\"    // define_extern(\"halved\", ...) in C++\n";

constinit const OpDef op_reverse = OpFields{
    .name = "extern.backward",
    .operands = native_operands,
    .doc = "Calls the reverse of a C++ function: gives the gradients of its inputs.",
    .example = example,
    .type = [](RuleContext& c) { return types_of(c.constant(0)->as<NativeUse>()->gradients); },
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<BackwardKernel>(call); },
    .gradient = Gradient::none("it is the reverse of a C++ function"),
    .lower = Lowering::none(no_blocks),
    .sharding = Sharding::none(no_parts),
    .work = work};

void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  const NativeUse& use = use_of(call);
  if (use.gradients.empty()) return;
  std::vector<std::variant<GradientBuilder::Var, Value>> given{call.attributes[0]};
  for (std::size_t k = 0, tensor = 0; k < use.arguments.size(); ++k) {
    if (!use.is_tensor(k)) continue;
    if (use.reverse.reads[k]) given.emplace_back(g.input(tensor));
    ++tensor;
  }
  for (std::size_t i = 0; i < use.site.outputs.size(); ++i)
    if (use.reverse.reads_output[i]) given.emplace_back(g.output(i));
  for (std::size_t i = 0; i < use.site.outputs.size(); ++i)
    if (use.has_upstream(i)) given.emplace_back(g.upstream(i));
  // The values that one call makes are numbered one after the other.
  GradientBuilder::Var made = g.emit(op_reverse, given);
  for (std::size_t k = 0, tensor = 0; k < use.arguments.size(); ++k) {
    if (!use.is_tensor(k)) continue;
    if (use.reverse.gives[k]) g.add(tensor, made++);
    ++tensor;
  }
}

consteval OpFields forward_fields(Gradient gradient) {
  return {
      .name = "extern",
      .operands = native_operands,
      .doc = "Calls a C++ function, the body of a task.",
      .example = example,
      .type = [](RuleContext& c) { return types_of(c.constant(0)->as<NativeUse>()->outputs); },
      .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<ForwardKernel>(call); },
      .gradient = gradient,
      .lower = Lowering::none(no_blocks),
      .sharding = Sharding::none(no_parts),
      .work = work};
}

constinit const OpDef op_extern = forward_fields({gradient, {ReverseReads::all, ReverseReads::all}});
constinit const OpDef op_extern_alone =
    forward_fields(Gradient::none("it is a C++ function, and nobody said what its reverse is"));

}  // namespace

NativeSite native_site(const Program& program, FunctionId task, std::string instance) {
  const Function& function = program[task];
  NativeSite site{program.display_name(task), std::move(instance), {}, {}};
  for (const Parameter& parameter : function.parameters)
    site.parameters.push_back({parameter.name, parameter.type.is_tensor(), parameter.privilege == Privilege::inout,
                               parameter.role == Role::declared});
  for (const Output& output : function.outputs) site.outputs.push_back(output.name);
  return site;
}

OpList native_op_list(const Program& program, const Natives* natives, const TaskGraph& graph, NodeId node) {
  const FunctionId task = graph.definition(node).function;
  const InstanceId agent = graph[node].agent;
  auto use = std::make_shared<NativeUse>();
  use->site = native_site(program, task, agent.valid() ? graph.agents()[agent.index()].path : "");
  use->place = graph[node].span;
  use->body = native_body(natives, program[task].extern_symbol, use->site, use->place);
  use->arguments = graph.arguments(node);
  if (use->body->has_reverse()) use->reverse = use->body->reverse(use->site);
  OpListBuilder made;
  OpInstance call{use->body->has_reverse() ? &op_extern : &op_extern_alone, {}, {}, {}};
  std::vector<ValueId> in;
  std::vector<std::string> places;
  const std::span<const Ref> refs = graph.in(node);
  for (std::size_t k = 0; k < use->site.parameters.size(); ++k) {
    if (!use->is_tensor(k)) continue;
    const auto& [name, is_tensor, is_place, of_the_call] = use->site.parameters[k];
    const Type& type = graph.type(refs[in.size()]);
    if (is_place) places.push_back(name);
    in.push_back(made.input({name, is_place ? Privilege::inout : Privilege::in, {}}, type));
    call.in.push_back(concrete(type));
    if (!use->body->has_reverse()) continue;
    use->reverse.gives[k] = use->reverse.gives[k] && is_float(type.precision);
    if (!use->reverse.gives[k]) continue;
    use->gradients.push_back(call.in.back());
    use->gives.push_back(k);
  }
  for (TypeId type : graph.out(node)) use->outputs.push_back(concrete(graph.type(type)));
  call.out = use->outputs;
  call.attributes.assign(in.size() + 1, Value());
  call.attributes[0] = Value(std::static_pointer_cast<Object>(use));
  const std::vector<ValueId> out = made.append(call, in, {{}, {}, use->place});
  std::vector<OpListBuilder::Output> outputs;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool version = i >= use->site.outputs.size();
    outputs.push_back({version ? places[i - use->site.outputs.size()] : use->site.outputs[i], out[i], version});
  }
  return std::move(made).finish({}, use->site.task, outputs);
}

}  // namespace taskspec
