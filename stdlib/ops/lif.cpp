// lif: leaky integrate-and-fire neurons, one step of a population.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/records/rules.hpp"
#include "stdlib/kernels/neurons.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::lif_op {

namespace {

// Operands, in the order in which the kernel takes the tensors among them.
enum : std::size_t {
  u,
  v,
  threshold,
  leak,
  reset,
  dv,
  decay,
  refractory,
  count,
  theta,
  theta_decay,
  theta_leak,
  theta_rise,
  mask,
  random,
  window,
  ticks,
  vr,
  vl,
  vinit
};

constexpr OperandKind integer = OperandKind::integer;
constexpr Default absent = Default::absent();

constexpr Operand operands[] = {{"u"},
                                {.name = "v", .privilege = Privilege::inout},
                                {.name = "threshold", .kind = integer},
                                {.name = "leak", .kind = integer, .standard = 0},
                                {.name = "reset", .kind = OperandKind::string, .standard = "zero"},
                                {.name = "dv", .kind = integer, .standard = 0},
                                {.name = "decay", .kind = integer, .standard = absent},
                                {.name = "refractory", .kind = integer, .standard = 0},
                                {.name = "count", .standard = absent, .privilege = Privilege::inout},
                                {.name = "theta", .standard = absent, .privilege = Privilege::inout},
                                {.name = "theta_decay", .kind = integer, .standard = absent},
                                {.name = "theta_leak", .kind = integer, .standard = 0},
                                {.name = "theta_rise", .kind = integer, .standard = 0},
                                {.name = "mask", .kind = OperandKind::value, .standard = absent},
                                {.name = "random", .standard = absent, .privilege = Privilege::inout},
                                {.name = "window", .kind = integer, .standard = absent},
                                {.name = "ticks", .standard = absent, .privilege = Privilege::inout},
                                {.name = "vr", .kind = integer, .standard = 0},
                                {.name = "vl", .kind = integer, .standard = -(1 << 27)},
                                {.name = "vinit", .kind = integer, .standard = 0}};
constexpr std::string_view outputs[] = {"spike", "v", "count", "theta", "random", "ticks"};
constexpr std::array<std::string_view, 4> resets{"zero", "subtract", "constant", "none"};  // in the order of Reset

// ---- type -----------------------------------------------------------------------------------------

bool given(const RuleContext& c, std::size_t operand) { return !c.type(operand).is(Type::Kind::none); }

void require_range(RuleContext& c, std::size_t operand, std::int64_t least, std::int64_t most) {
  const Value* value = c.constant(operand);
  if (!value || !value->is_integer() || (value->integer() >= least && value->integer() <= most)) return;
  refuse(c, "E1003",
         fmt::format("'{}' of 'lif' lies in {}..{}, not {}", operands[operand].name, least, most, value->integer()),
         static_cast<int>(operand));
}

// A place of the neurons: i32 or i28, as many elements as `like`, or one.
void require_place(RuleContext& c, std::size_t operand, const std::vector<Dim>* like) {
  if (!given(c, operand)) return;
  const Type& type = tensor_operand(c, "lif", operand);
  if (type.precision != Precision::i32 && type.precision != Precision::i28)
    refuse(c, "E2002", fmt::format("'{}' of 'lif' is i32 or i28, not {}", operands[operand].name, type.text()),
           static_cast<int>(operand));
  const std::vector<Dim> one{Dim(1)};
  require_same_dims(c, fmt::format("'{}' of 'lif' is {}", operands[operand].name, type.text()), like ? *like : one,
                    type.dims);
}

// State that a parameter needs, and the other way round.
void require_state(RuleContext& c, std::size_t state, bool needed, std::string_view why) {
  if (given(c, state) == needed) return;
  std::string_view name = operands[state].name;
  if (needed)
    refuse(c, "E1003", fmt::format("'lif' with {} keeps a state '{}': give it a place", why, name), -1,
           fmt::format("a state slot, as in {}: {}", name, name));
  refuse(c, "E1003", fmt::format("'lif' has a state '{}' but no {}", name, why), static_cast<int>(state));
}

void require_states(RuleContext& c) {
  const Value* steps = c.constant(refractory);
  if (!steps && c.type(refractory).is(Type::Kind::integer))
    refuse(c, "E1003", "'refractory' of 'lif' must be known before the program runs", static_cast<int>(refractory));
  require_state(c, count, steps && steps->integer() > 0, "refractory steps");
  require_state(c, ticks, given(c, window), "a window");
  require_state(c, random, given(c, mask), "a random mask");
  // A number that only the run knows may be anything.
  auto may_change = [&](std::size_t operand) {
    const Value* known = c.constant(operand);
    return known ? known->integer() != 0 : c.type(operand).is(Type::Kind::integer);
  };
  const bool adapts = given(c, theta_decay) || may_change(theta_leak) || may_change(theta_rise);
  if (adapts) require_state(c, theta, true, "an adaptive threshold");
}

void require_mask(RuleContext& c) {
  const Type& type = c.type(mask);
  if (type.is(Type::Kind::integer)) require_range(c, mask, INT32_MIN, UINT32_MAX);
  if (type.is(Type::Kind::none) || type.is(Type::Kind::integer)) return;
  const bool fits = type.is_tensor() && type.precision == Precision::i32 && type.rank() == 1;
  if (fits && type.dims[0] == Dim(0)) refuse(c, "E2001", "'mask' of 'lif' has no elements", mask);
  if (!fits) refuse(c, "E1004", "'mask' of 'lif' is an int or i32[n], not " + type.text(), mask);
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& current = tensor_operand(c, "lif", u);
  if (!is_integer(current.precision) || info(current.precision).bytes > 4)
    refuse(c, "E2002", "the current of 'lif' is an integer of at most 32 bits, not " + current.text(), u);
  for (std::size_t state : {v, count, theta}) require_place(c, state, &current.dims);
  for (std::size_t state : {ticks, random}) require_place(c, state, nullptr);
  for (std::size_t alpha : {decay, theta_decay}) require_range(c, alpha, 0, 256);
  require_range(c, refractory, 0, 15);
  for (std::size_t level : {threshold, leak, dv, vr, vl, vinit, theta_leak, theta_rise})
    require_range(c, level, -(std::int64_t{1} << 27), (std::int64_t{1} << 27) - 1);
  require_range(c, window, 0, 255);
  require_mask(c);
  require_states(c);
  const Value* mode = c.constant(reset);
  if (mode && std::find(resets.begin(), resets.end(), mode->string()) == resets.end())
    refuse(c, "E1003", "reset is \"zero\", \"subtract\", \"constant\" or \"none\", not " + in_quotes(mode->string()),
           reset);
  Type result(Type::Kind::invocation);
  result.parts = {Type::tensor(Precision::i8, current.dims)};
  result.names = {"spike"};
  for (std::size_t state : {v, count, theta, random, ticks}) {
    if (!given(c, state)) continue;
    result.parts.push_back(c.type(state));
    result.names.emplace_back(operands[state].name);
  }
  return result;
}

// ---- kernel ---------------------------------------------------------------------------------------

std::optional<std::int64_t> number(const OpInstance& call, std::size_t operand) {
  const Value& value = call.attributes[operand];
  return value.is_integer() ? std::optional(value.integer()) : std::nullopt;
}

// Which of the places are there: what the parameters need, and `theta` and the tensor of masks by what is left.
void find_states(const OpInstance& call, LifPlan& plan) {
  plan.has_count = plan.refractory > 0;
  plan.has_ticks = plan.window.has_value();
  std::size_t left = call.in.size() - 2 - (plan.has_count ? 1 : 0) - (plan.has_ticks ? 1 : 0);
  const bool tensor_of_masks = !plan.mask && left >= 2;
  plan.has_random = plan.mask || tensor_of_masks;
  plan.has_theta = left > (plan.has_random ? 1U : 0U) + (tensor_of_masks ? 1U : 0U);
  if (tensor_of_masks) plan.masks = call.in[2 + (plan.has_count ? 1 : 0) + (plan.has_theta ? 1 : 0)].elements();
}

LifPlan plan_of(const OpInstance& call) {
  LifPlan plan;
  plan.neurons = call.in[u].elements();
  plan.threshold = *number(call, threshold);
  plan.leak = -*number(call, leak);
  plan.decay = number(call, decay);
  auto mode = std::find(resets.begin(), resets.end(), call.attributes[reset].string());
  plan.reset = static_cast<Reset>(mode - resets.begin());
  plan.dv = *number(call, dv);
  plan.vr = *number(call, vr);
  plan.floor = *number(call, vl);
  plan.initial = *number(call, vinit);
  plan.window = number(call, window);
  plan.refractory = *number(call, refractory);
  plan.theta_decay = number(call, theta_decay);
  plan.theta_leak = -*number(call, theta_leak);
  plan.theta_rise = *number(call, theta_rise);
  plan.mask = number(call, mask);
  find_states(call, plan);
  return plan;
}

Work work(const OpInstance& call) {
  double bytes = 0;
  for (const ArrayType& type : call.in) bytes += static_cast<double>(type.bytes());
  for (const ArrayType& type : call.out) bytes += static_cast<double>(type.bytes());
  return {12 * static_cast<double>(call.in[0].elements()), bytes};
}

void lower(BlockBuilder& b, const OpInstance& call) {
  const LifPlan plan = plan_of(call);
  if (plan.has_count || plan.has_ticks || plan.has_random || plan.has_theta)
    b.refuse("a neuron with refractory steps, a window, a mask or a moving threshold keeps more than its potential",
             "an `ir` declaration with a CLIF and the storages of its states");
  b.fire(u, v,
         {.threshold = plan.threshold,
          .leak = -plan.leak,
          .reset = static_cast<std::int64_t>(plan.reset),
          .dv = plan.dv,
          .vr = plan.vr,
          .vl = plan.floor,
          .vinit = plan.initial,
          .decay = plan.decay});
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "lif",
    .operands = operands,
    .outputs = outputs,
    .doc =
        "One step of leaky integrate-and-fire neurons with current u and potential v, a place, in integers of 28 bits "
        "that saturate: V1 = v + u; a neuron spikes where V1 > threshold; then the reset (\"zero\": to vr, "
        "\"subtract\": by the threshold, \"constant\": by dv, \"none\"), then v = V1 * decay / 256 - leak, at least "
        "vl. "
        "Gives the spikes as i8. After a spike `refractory` steps go without current, counted in the place `count`. "
        "With `window` every window + 1 steps v begins at vinit again, counted in the place `ticks`, i32[1]. The place "
        "`theta` is added to the threshold; it changes by theta_decay / 256, - theta_leak, and + theta_rise after a "
        "spike. `mask` (an int, or i32[n] used again and again) lets a shift register in the place `random`, i32[1], "
        "move the threshold. Places are i32 or i28, u any integer of at most 32 bits (E2002); a parameter without its "
        "place is E1003.",
    .example =
        "var v = [0, 90] as i32[2]\n"
        "let s = lif([30, 30] as i32[2], v, threshold: 100, leak: 2)\n"
        "print(s.array, v.array)\n"
        "// expect: [0, 1] [28, -2]\n",
    .type = type,
    .kernel = [](const OpInstance& call) { return lif_kernel(plan_of(call), call.in[u].precision); },
    .gradient = Gradient::none("a spike is a step of the potential"),
    .lower = lower,
    .sharding = Sharding::none(with_planner),
    .work = work,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec::lif_op
