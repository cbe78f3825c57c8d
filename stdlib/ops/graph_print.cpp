// graph_print: the contents of a tensor, printed when the graph comes to it.
#include "ir/records/console.hpp"
#include "ir/records/rules.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::graph_print_op {

namespace {

constexpr Operand operands[] = {
    {.name = "label", .kind = OperandKind::string},
    {"x"},
    {.name = "console", .standard = Default::absent(), .privilege = Privilege::inout, .supply = Supply::console}};
constexpr std::string_view outputs[] = {"console"};

// Its one output is a version of the console, which keeps the calls in order. The program does not see it.
Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  tensor_operand(c, "graph_print", 1);
  if (c.type(2).is_tensor()) refuse(c, "E1003", "'graph_print' takes a label and a tensor", 2);
  Type result(Type::Kind::invocation);
  result.parts = {Type::tensor(Precision::u8, {Dim(1)})};
  result.names = {"console"};
  return result;
}

class GraphPrint final : public Kernel {
 public:
  explicit GraphPrint(const OpInstance& call)
      : label_(call.attributes[0].string()), console_(call.attributes[2]), type_(call.in[0]) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    *args.out[0] = std::byte{};
    auto* console = console_.as<Console>();
    if (!console) return std::nullopt;
    // The array borrows the bytes for as long as they are printed.
    std::shared_ptr<std::byte> borrowed(const_cast<std::byte*>(args.in[0]), [](std::byte*) {});
    console->write(label_ + ": " + print(Value(Array::wrap(type_, borrowed))) + "\n");
    return std::nullopt;
  }

 private:
  std::string label_;
  Value console_;
  ArrayType type_;
};

Work work(const OpInstance& call) { return {0, static_cast<double>(call.in[0].bytes()) + 1}; }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "graph_print",
    .operands = operands,
    .outputs = outputs,
    .doc =
        "Prints a label and the contents of a tensor from the graph side, when the graph comes to it: a node of its "
        "own, in graph order with the others of its kind, and no receive. It is not ordered against what the host "
        "prints. Not in a task body (E1302), nor under control flow of a graph (E1009). Every precision.",
    .example =
        "graph g(x: f32[2]) -> (y: f32[2]) {\n"
        "  graph_print(\"x\", x)\n"
        "  y = x * 2.0\n"
        "  graph_print(\"twice\", y)\n"
        "}\n"
        "print(g([1.0, 2.0] as f32[2]).y.array)\n"
        "// expect: x: [1, 2]\n"
        "// expect: twice: [2, 4]\n"
        "// expect: [2, 4]\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<GraphPrint>(call); },
    .gradient = Gradient::none("it gives no tensor"),
    .lower = Lowering::none("a chip has no console"),
    .sharding = Sharding::none("it prints the whole tensor"),
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::graph_print_op
