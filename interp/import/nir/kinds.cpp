#include "interp/import/nir/kinds.hpp"

#include <algorithm>

#include "interp/import/nir/text.hpp"

namespace taskspec::nir {

const Array* find_array(const Node& node, std::string_view name) {
  const auto found = node.parameters.find(std::string(name));
  return found == node.parameters.end() ? nullptr : std::get_if<Array>(&found->second);
}

const Array& array_of(const Node& node, std::string_view name) {
  if (const Array* array = find_array(node, name)) return *array;
  throw Problem{"'" + std::string(name) + "' is no array of numbers"};
}

namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;  // of an extent, a stride and the like

std::vector<std::int64_t> whole_numbers(const Node& node, std::string_view name) {
  const Array& array = array_of(node, name);
  std::vector<std::int64_t> numbers;
  if (array.extents().size() > 1 || array.elements() > 64)
    throw Problem{"'" + std::string(name) + "' is no list of numbers"};
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const double number = array.number(i);
    if (!(number > -most && number < most) || number != static_cast<double>(static_cast<std::int64_t>(number)))
      throw Problem{"'" + std::string(name) + "' holds what is no count"};
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

}  // namespace

std::vector<std::int64_t> ints_of(const Node& node, std::string_view name, std::size_t count) {
  std::vector<std::int64_t> numbers = whole_numbers(node, name);
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  if (numbers.size() != count)
    throw Problem{"'" + std::string(name) + "' does not hold " + std::to_string(count) + " numbers"};
  return numbers;
}

std::int64_t int_of(const Node& node, std::string_view name) { return ints_of(node, name, 1)[0]; }

Shape shape_of(const Node& node, std::string_view name) {
  Shape shape = whole_numbers(node, name);
  for (std::int64_t extent : shape)
    if (extent < 1) throw Problem{"'" + std::string(name) + "' is " + shape_text(shape)};
  if (shape.empty()) shape.push_back(1);
  return shape;
}

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }
std::string pair_text(const std::vector<std::int64_t>& pair) {
  return "(" + text(pair[0]) + ", " + text(pair[1]) + ")";
}

void require_volume(const Shape& in, const Shape& wanted) {
  if (volume(in) != volume(wanted))
    throw Problem{"it takes " + shape_text(wanted) + ", and is given " + shape_text(in)};
}

// ---- ends -----------------------------------------------------------------------------------------

Shape input_shape(const Population& node, const Shape& in) { return node.inner ? in : shape_of(*node.node, "shape"); }
Shape same_shape(const Population&, const Shape& in) { return in; }
std::string as_it_is(ProgramText&, const Population&, const std::string& x) { return x; }

// ---- linear ---------------------------------------------------------------------------------------

const Array& weight_of(const Population& node) {
  const Array& weight = array_of(*node.node, "weight");
  if (weight.extents().size() < 2) throw Problem{"'weight' is " + shape_text(weight.extents()) + ", no matrix"};
  return weight;
}

std::optional<Shape> linear_wants(const Population& node) {
  Shape wanted = weight_of(node).extents();
  wanted.erase(wanted.end() - 2);
  return wanted;
}

Shape linear_shape(const Population& node, const Shape& in) {
  require_volume(in, *linear_wants(node));
  Shape out = weight_of(node).extents();
  out.pop_back();
  const Array* bias = find_array(*node.node, "bias");
  if (bias && bias->elements() != 1 && volume(bias->extents()) != volume(out))
    throw Problem{"'bias' is " + shape_text(bias->extents()) + ", and it gives " + shape_text(out)};
  return out;
}

std::string write_linear(ProgramText& program, const Population& node, const std::string& x) {
  const std::string weight = program.weight(node, "w", weight_of(node));
  const std::string given = ProgramText::tight(ProgramText::reshaped(x, node.in, *linear_wants(node)));
  const std::size_t axis = node.out.size();
  return axis == 1 ? weight + " @ " + given
                   : "(" + weight + " @ " + given + ".lift(" + text(static_cast<std::int64_t>(axis)) + ")).drop(" +
                         text(static_cast<std::int64_t>(axis)) + ")";
}

// A bias of one element stands for all.
std::string bias_of(ProgramText& program, const Population& node, const Shape& shape) {
  const Array& bias = array_of(*node.node, "bias");
  if (bias.elements() != volume(shape)) return program.weight(node, "b", bias) + ".reshape(1)";
  const std::string name = program.weight(node, "b", bias);
  return ProgramText::reshaped(name, bias.extents(), shape);
}

std::string write_affine(ProgramText& program, const Population& node, const std::string& x) {
  const std::string product = write_linear(program, node, x);
  return product + " + " + bias_of(program, node, node.out);
}

std::optional<Shape> scale_wants(const Population& node) {
  const Array& scale = array_of(*node.node, "scale");
  return scale.elements() == 1 ? std::nullopt : std::optional(scale.extents());
}

Shape scale_shape(const Population& node, const Shape& in) {
  if (std::optional<Shape> wanted = scale_wants(node)) require_volume(in, *wanted);
  return in;
}

std::string write_scale(ProgramText& program, const Population& node, const std::string& x) {
  const Array& scale = array_of(*node.node, "scale");
  const std::string name = program.weight(node, "scale", scale);
  return ProgramText::tight(x) + " * " +
         (scale.elements() == 1 ? name + ".reshape(1)" : ProgramText::reshaped(name, scale.extents(), node.in));
}

// ---- windows --------------------------------------------------------------------------------------

struct Window {
  std::vector<std::int64_t> kernel, stride, dilation, before, after;  // by axis
  std::int64_t out(std::size_t axis, std::int64_t extent) const {
    const std::int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
    const std::int64_t room = extent + before[axis] + after[axis] - reach;
    if (room < 0) throw Problem{"its window is larger than what it is given"};
    return room / stride[axis] + 1;
  }
  bool even() const { return before == after; }
};

void require_positive(const Window& window) {
  for (const auto* numbers : {&window.kernel, &window.stride, &window.dilation})
    for (std::int64_t number : *numbers)
      if (number < 1 || number > (1 << 30)) throw Problem{"its window, stride and dilation are at least 1"};
  for (const auto* numbers : {&window.before, &window.after})
    for (std::int64_t number : *numbers)
      if (number < 0 || number > (1 << 30)) throw Problem{"its padding is not negative"};
}

// "same": as many outputs as inputs; an odd element more goes behind.
void pad(Window& window, const Node& node) {
  const std::size_t axes = window.kernel.size();
  const auto found = node.parameters.find("padding");
  const auto* word = found == node.parameters.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (!word) {
    window.before = window.after = ints_of(node, "padding", axes);
  } else if (*word == "valid") {
    window.before = window.after = std::vector<std::int64_t>(axes, 0);
  } else if (*word == "same") {
    for (std::size_t i = 0; i < axes; ++i) {
      if (window.stride[i] != 1) throw Problem{"padding \"same\" goes with stride 1 only"};
      const std::int64_t whole = window.dilation[i] * (window.kernel[i] - 1);
      window.before.push_back(whole / 2);
      window.after.push_back(whole - whole / 2);
    }
  } else {
    throw Problem{"padding is numbers, \"same\" or \"valid\", not \"" + *word + "\""};
  }
}

Window conv_window(const Population& node, std::size_t axes) {
  const Array& weight = array_of(*node.node, "weight");
  if (weight.extents().size() != axes + 2) throw Problem{"'weight' is " + shape_text(weight.extents())};
  Window window;
  window.kernel.assign(weight.extents().begin() + 2, weight.extents().end());
  window.stride = ints_of(*node.node, "stride", axes);
  window.dilation = ints_of(*node.node, "dilation", axes);
  pad(window, *node.node);
  require_positive(window);
  return window;
}

template <std::size_t axes>
std::optional<Shape> conv_wants(const Population& node) {
  const Array* said = find_array(*node.node, "input_shape");
  if (!said || static_cast<std::size_t>(said->elements()) != axes) return std::nullopt;
  const Shape& weight = array_of(*node.node, "weight").extents();
  if (weight.size() != axes + 2) throw Problem{"'weight' is " + shape_text(weight)};
  Shape wanted{weight[1] * int_of(*node.node, "groups")};
  for (std::int64_t extent : ints_of(*node.node, "input_shape", axes)) wanted.push_back(extent);
  return wanted;
}

// What it is given, with channels first.
template <std::size_t axes>
Shape conv_in(const Population& node, const Shape& in) {
  if (in.size() == axes + 1) return in;
  if (std::optional<Shape> wanted = conv_wants<axes>(node)) return *wanted;
  throw Problem{"it takes channels and " + text(axes) + " axes, and is given " + shape_text(in)};
}

template <std::size_t axes>
Shape conv_shape(const Population& node, const Shape& given) {
  const Shape in = conv_in<axes>(node, given);
  require_volume(given, in);
  const Shape& weight = array_of(*node.node, "weight").extents();
  const Window window = conv_window(node, axes);
  const std::int64_t groups = int_of(*node.node, "groups");
  if (groups < 1 || weight[0] % groups != 0 || in[0] != weight[1] * groups)
    throw Problem{"'weight' " + shape_text(weight) + " in " + text(groups) + " groups does not take " + shape_text(in)};
  const Array* bias = find_array(*node.node, "bias");
  if (bias && bias->elements() != weight[0]) throw Problem{"'bias' is " + shape_text(bias->extents())};
  Shape out{weight[0]};
  for (std::size_t i = 0; i < axes; ++i) out.push_back(window.out(i, in[i + 1]));
  return out;
}

// Uneven padding is put around the input; the convolution itself takes one number per axis.
std::string padded(const std::string& x, const Window& window, bool all) {
  std::string given = ProgramText::tight(x);
  for (std::size_t i = 0; i < window.before.size(); ++i) {
    if (!all || window.before[i] + window.after[i] == 0) continue;
    given += ".pad(" + text(static_cast<std::int64_t>(i + 1)) + ", " + text(window.before[i]) + ", " +
             text(window.after[i]) + ")";
  }
  return given;
}

std::string lifted(const std::string& x, const Shape& shape) {
  Shape batch = shape;
  batch.insert(batch.begin(), 1);
  return ProgramText::reshaped(x, shape, batch);
}

template <std::size_t axes>
std::string write_conv(ProgramText& program, const Population& node, const std::string& x) {
  const Window window = conv_window(node, axes);
  const Array& weight = array_of(*node.node, "weight");
  Shape in = conv_in<axes>(node, node.in);
  std::string given = padded(ProgramText::reshaped(x, node.in, in), window, !window.even());
  if (!window.even())
    for (std::size_t i = 0; i < axes; ++i) in[i + 1] += window.before[i] + window.after[i];
  const std::vector<std::int64_t> none(axes, 0);
  const std::vector<std::int64_t>& pads = window.even() ? window.before : none;
  auto by_axis = [](const std::vector<std::int64_t>& numbers) {
    return axes == 1 ? text(numbers[0]) : pair_text(numbers);
  };
  const Array* bias = find_array(*node.node, "bias");
  const std::string biases =
      bias ? ProgramText::reshaped(program.weight(node, "b", *bias), bias->extents(), {node.out[0]})
           : "fill(" + program.type({node.out[0]}) + ", 0.0)";
  Shape out = node.out;
  out.insert(out.begin(), 1);
  const std::string made = "conv" + text(axes) + "d(" + lifted(given, in) + ", " + program.weight(node, "w", weight) +
                           ", " + biases + ", stride: " + by_axis(window.stride) + ", pad: " + by_axis(pads) +
                           ", dilation: " + by_axis(window.dilation) +
                           ", groups: " + text(int_of(*node.node, "groups")) + ")";
  return ProgramText::reshaped(made, out, node.out);
}

Window pool_window(const Population& node) {
  Window window;
  window.kernel = ints_of(*node.node, "kernel_size", 2);
  window.stride = ints_of(*node.node, "stride", 2);
  window.dilation = {1, 1};
  pad(window, *node.node);
  require_positive(window);
  return window;
}

Shape pool_shape(const Population& node, const Shape& in) {
  if (in.size() != 3) throw Problem{"it takes channels, rows and columns, and is given " + shape_text(in)};
  const Window window = pool_window(node);
  return {in[0], window.out(0, in[1]), window.out(1, in[2])};
}

// Windows that do not overlap are summed as axes of their own; others by a convolution with ones, channel by channel.
std::string sum_of_windows(ProgramText& program, const Population& node, const std::string& x) {
  const Window window = pool_window(node);
  const Shape& out = node.out;
  Shape in = node.in;
  if (window.kernel != window.stride) {
    const std::string ones = "fill(" + program.type({in[0], 1, window.kernel[0], window.kernel[1]}) + ", 1.0)";
    const std::string made = "conv2d(" + lifted(x, in) + ", " + ones + ", fill(" + program.type({in[0]}) +
                             ", 0.0), stride: " + pair_text(window.stride) + ", pad: " + pair_text(window.before) +
                             ", groups: " + text(in[0]) + ")";
    return ProgramText::reshaped(made, {1, out[0], out[1], out[2]}, out);
  }
  std::string given = padded(x, window, true);
  for (std::size_t i = 0; i < 2; ++i) in[i + 1] += window.before[i] + window.after[i];
  const Shape used{in[0], out[1] * window.kernel[0], out[2] * window.kernel[1]};
  if (used != in) given += "[.., 0.." + text(used[1]) + ", 0.." + text(used[2]) + "]";
  given = ProgramText::reshaped(given, used, {out[0], out[1], window.kernel[0], out[2], window.kernel[1]});
  return ProgramText::reshaped(given + ".sum((2, 4))", {out[0], out[1], 1, out[2], 1}, out);
}

std::string mean_of_windows(ProgramText& program, const Population& node, const std::string& x) {
  const Window window = pool_window(node);
  return sum_of_windows(program, node, x) + " / " + text(window.kernel[0] * window.kernel[1]) + ".0";
}

// ---- flatten --------------------------------------------------------------------------------------

std::optional<Shape> flatten_wants(const Population& node) {
  return find_array(*node.node, "input_type") ? std::optional(shape_of(*node.node, "input_type")) : std::nullopt;
}

Shape flatten_shape(const Population& node, const Shape& given) {
  const Shape in = flatten_wants(node).value_or(given);
  require_volume(given, in);
  const auto rank = static_cast<std::int64_t>(in.size());
  auto axis = [&](std::string_view name, std::int64_t standard) {
    std::int64_t at = find_array(*node.node, name) ? int_of(*node.node, name) : standard;
    if (at < 0) at += rank;
    if (at < 0 || at >= rank) throw Problem{"'" + std::string(name) + "' is no axis of " + shape_text(in)};
    return static_cast<std::size_t>(at);
  };
  const std::size_t first = axis("start_dim", std::min<std::int64_t>(1, rank - 1)), last = axis("end_dim", -1);
  if (first > last) throw Problem{"'start_dim' stands behind 'end_dim'"};
  Shape out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(first));
  std::int64_t flat = 1;
  for (std::size_t i = first; i <= last; ++i) flat *= in[i];
  out.push_back(flat);
  out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(last) + 1, in.end());
  return out;
}

std::string write_flatten(ProgramText&, const Population& node, const std::string& x) {
  return ProgramText::reshaped(x, node.in, node.out);
}

// ---- neurons --------------------------------------------------------------------------------------

// All parameters have the shape of the population, or one element.
std::optional<Shape> population_wants(const Population& node) {
  for (const ParameterRecord& parameter : node.kind->parameters)
    if (const Array* array = find_array(*node.node, parameter.name); array && array->elements() != 1)
      return array->extents();
  return std::nullopt;
}

Shape population_shape(const Population& node, const Shape& in) {
  for (const ParameterRecord& parameter : node.kind->parameters) {
    const Array* array = find_array(*node.node, parameter.name);
    if (node.node->parameters.contains(std::string(parameter.name)) && !array)
      (void)array_of(*node.node, parameter.name);
    if (array && array->elements() != 1 && array->elements() != volume(in))
      throw Problem{"'" + std::string(parameter.name) + "' is " + shape_text(array->extents()) + ", and it is given " +
                    shape_text(in)};
  }
  return in;
}

// A call of a neuron of the prelude on the flat population.
class Neuron {
 public:
  Neuron(ProgramText& program, const Population& node, std::string_view task, const std::string& x)
      : program_(program), node_(node), count_{volume(node.in)}, text_(program.call(task) + "(") {
    text_ += ProgramText::reshaped(x, node.in, count_);
  }
  Neuron& state(std::string_view suffix) { return add(program_.state(node_, suffix, count_)); }
  Neuron& table(std::string_view name, double standard = 0) {
    const Array* array = find_array(*node_.node, name);
    return add(array ? program_.table(node_, name, *array) : program_.constant_table(node_, name, standard));
  }
  Neuron& one(std::string_view name) { return add(program_.constant_table(node_, name, 1)); }
  // dt/tau, or what the exact solution has in its place.
  Neuron& factor(std::string_view tau, const std::string& integrator) {
    return add(program_.call("factor") + "(" + program_.table(node_, tau, array_of(*node_.node, tau)) + ", " +
               program_.dt() + ", " + integrator + ").k");
  }
  Neuron& add(const std::string& argument) {
    text_ += ", " + argument;
    return *this;
  }
  std::string gives() const { return ProgramText::reshaped(text_ + ").y", count_, node_.out); }

 private:
  ProgramText& program_;
  const Population& node_;
  const Shape count_;
  std::string text_;
};

bool is_like(const ProgramText& program, Like like) { return program.choices.like == like; }

// Tools that have no resting voltage cannot be imitated where there is one.
void refuse_v_leak(const ProgramText& program, const Population& node) {
  if (!is_like(program, Like::snntorch) && !is_like(program, Like::sinabs)) return;
  const Array* leak = find_array(*node.node, "v_leak");
  for (std::int64_t i = 0; leak && i < leak->elements(); ++i)
    if (leak->number(i) != 0) throw Problem{"'v_leak' must be 0 like " + program.choices.like_name};
}

// Norse takes no input resistance of these.
Neuron& resistance(Neuron& neuron, const ProgramText& program) {
  return is_like(program, Like::norse) ? neuron.one("r") : neuron.table("r");
}

Neuron& spikes(Neuron& neuron, const ProgramText& program) {
  return neuron.table("v_threshold").table("v_reset").add(program.reset());
}

std::string write_i(ProgramText& program, const Population& node, const std::string& x) {
  return Neuron(program, node, "integrate", x).state("v").table("r").gives();
}

std::string write_if(ProgramText& program, const Population& node, const std::string& x) {
  const bool clamped = is_like(program, Like::sinabs);
  Neuron neuron(program, node, clamped ? "clamped_integrate_fire" : "integrate_fire", x);
  neuron.state("v");
  if (is_like(program, Like::nengo))
    neuron.one("r");
  else
    resistance(neuron, program);
  return spikes(neuron, program).gives();
}

std::string write_li(ProgramText& program, const Population& node, const std::string& x) {
  refuse_v_leak(program, node);
  if (is_like(program, Like::sinabs))
    return Neuron(program, node, "unscaled_li", x).state("v").factor("tau", program.integrator()).gives();
  Neuron neuron(program, node, "li", x);
  neuron.state("v").factor("tau", program.integrator());
  return resistance(neuron, program).table("v_leak").gives();
}

std::string write_lif(ProgramText& program, const Population& node, const std::string& x) {
  refuse_v_leak(program, node);
  if (is_like(program, Like::sinabs)) {
    Neuron neuron(program, node, "unscaled_lif", x);
    return spikes(neuron.state("v").factor("tau", program.integrator()), program).gives();
  }
  Neuron neuron(program, node, "lif", x);
  neuron.state("v").factor("tau", program.integrator());
  return spikes(resistance(neuron, program).table("v_leak"), program).gives();
}

// Nengo filters the input by Euler's rule, whatever the membrane does.
Neuron& synapse(Neuron& neuron, const ProgramText& program) {
  return neuron.state("i").state("v").factor("tau_syn",
                                             is_like(program, Like::nengo) ? "\"euler\"" : program.integrator());
}

std::string write_cuba(ProgramText& program, const Population& node, const std::string& x, bool fires) {
  refuse_v_leak(program, node);
  const bool direct = is_like(program, Like::snntorch) && fires;
  Neuron neuron(program, node, direct ? "direct_cuba_lif" : fires ? "cuba_lif" : "cuba_li", x);
  synapse(neuron, program).factor("tau_mem", program.integrator()).table("w_in", 1);
  if (!direct) neuron.table("r").table("v_leak");
  if (fires) spikes(neuron, program);
  return neuron.gives();
}

std::string write_cuba_li(ProgramText& program, const Population& node, const std::string& x) {
  return write_cuba(program, node, x, false);
}
std::string write_cuba_lif(ProgramText& program, const Population& node, const std::string& x) {
  return write_cuba(program, node, x, true);
}

std::string write_threshold(ProgramText& program, const Population& node, const std::string& x) {
  return Neuron(program, node, "threshold", x).table("threshold").gives();
}

// ---- delays ---------------------------------------------------------------------------------------

constexpr std::int64_t longest_delay = 1'000'000;
constexpr std::int64_t most_delayed = std::int64_t{1} << 27;  // elements of a line

// How many steps each element is late: its index into a line that begins with the present, and how long that is.
std::string write_delay(ProgramText& program, const Population& node, const std::string& x) {
  const Array& delay = array_of(*node.node, "delay");
  const std::int64_t count = volume(node.in);
  std::vector<std::int64_t> steps(static_cast<std::size_t>(delay.elements()));
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double exact = delay.number(static_cast<std::int64_t>(i)) / program.choices.dt;
    if (!(exact >= 0 && exact <= longest_delay)) throw Problem{"'delay' is not between 0 and 1000000 steps"};
    steps[i] = static_cast<std::int64_t>(exact + 0.5);
    longest = std::max(longest, steps[i]);
  }
  program.fix_dt();
  if (longest == 0) return x;
  if (longest * count > most_delayed) throw Problem{"its delay lines would have more than 2^27 elements"};
  const Shape flat{count};
  const std::string line = program.state(node, "line", {longest, count});
  const std::string given = ProgramText::reshaped(x, node.in, flat);
  const bool uniform = std::ranges::all_of(steps, [&](std::int64_t s) { return s == longest; });
  if (uniform) return ProgramText::reshaped(program.call("delay") + "(" + given + ", " + line + ").y", flat, node.out);
  Array late = Array::make({Precision::i64, flat});
  for (std::size_t i = 0; i < steps.size(); ++i)
    late.data<std::int64_t>()[i] = steps[i] * count + static_cast<std::int64_t>(i);
  const std::string index = program.weight(node, "late", late);
  return ProgramText::reshaped(program.call("delays") + "(" + given + ", " + line + ", " + index + ").y", flat,
                               node.out);
}

// ---- the records ----------------------------------------------------------------------------------

constexpr ParameterRecord shape_parameter[] = {{"shape"}};
constexpr ParameterRecord affine[] = {{"weight"}, {"bias"}};
constexpr ParameterRecord linear[] = {{"weight"}};
constexpr ParameterRecord scale[] = {{"scale"}};
constexpr ParameterRecord conv[] = {
    {"weight"}, {"stride"}, {"padding"}, {"dilation"}, {"groups"}, {"input_shape", false}, {"bias", false}};
constexpr ParameterRecord pool[] = {{"kernel_size"}, {"stride"}, {"padding"}};
constexpr ParameterRecord flatten[] = {{"input_type", false}, {"start_dim", false}, {"end_dim", false}};
constexpr ParameterRecord delay[] = {{"delay"}};
constexpr ParameterRecord threshold[] = {{"threshold"}};
constexpr ParameterRecord i[] = {{"r"}};
constexpr ParameterRecord if_[] = {{"r"}, {"v_threshold"}, {"v_reset", false}};
constexpr ParameterRecord li[] = {{"tau"}, {"r"}, {"v_leak"}};
constexpr ParameterRecord lif[] = {{"tau"}, {"r"}, {"v_leak"}, {"v_threshold"}, {"v_reset", false}};
constexpr ParameterRecord cuba_li[] = {{"tau_syn"}, {"tau_mem"}, {"r"}, {"v_leak"}, {"w_in", false}};
constexpr ParameterRecord cuba_lif[] = {{"tau_syn"},     {"tau_mem"},        {"r"},          {"v_leak"},
                                        {"v_threshold"}, {"v_reset", false}, {"w_in", false}};

constexpr Kind kinds[] = {
    {.type = "Input", .parameters = shape_parameter, .shape = input_shape, .write = as_it_is},
    {.type = "Output", .parameters = shape_parameter, .shape = same_shape, .write = as_it_is},
    {.type = "Affine", .parameters = affine, .wants = linear_wants, .shape = linear_shape, .write = write_affine},
    {.type = "Linear", .parameters = linear, .wants = linear_wants, .shape = linear_shape, .write = write_linear},
    {.type = "Scale", .parameters = scale, .wants = scale_wants, .shape = scale_shape, .write = write_scale},
    {.type = "Conv1d", .parameters = conv, .wants = conv_wants<1>, .shape = conv_shape<1>, .write = write_conv<1>},
    {.type = "Conv2d", .parameters = conv, .wants = conv_wants<2>, .shape = conv_shape<2>, .write = write_conv<2>},
    {.type = "SumPool2d", .parameters = pool, .shape = pool_shape, .write = sum_of_windows},
    {.type = "AvgPool2d", .parameters = pool, .shape = pool_shape, .write = mean_of_windows},
    {.type = "Flatten", .parameters = flatten, .wants = flatten_wants, .shape = flatten_shape, .write = write_flatten},
    {.type = "Delay",
     .parameters = delay,
     .keeps = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_delay},
    {.type = "Threshold",
     .parameters = threshold,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_threshold},
    {.type = "I",
     .parameters = i,
     .keeps = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_i},
    {.type = "IF",
     .parameters = if_,
     .keeps = true,
     .spikes = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_if},
    {.type = "LI",
     .parameters = li,
     .keeps = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_li},
    {.type = "LIF",
     .parameters = lif,
     .keeps = true,
     .spikes = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_lif},
    {.type = "CubaLI",
     .parameters = cuba_li,
     .keeps = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_cuba_li},
    {.type = "CubaLIF",
     .parameters = cuba_lif,
     .keeps = true,
     .spikes = true,
     .wants = population_wants,
     .shape = population_shape,
     .write = write_cuba_lif},
};

}  // namespace

const Kind* kind_of(std::string_view type) {
  const auto found = std::ranges::find(kinds, type, &Kind::type);
  return found == std::end(kinds) ? nullptr : found;
}

}  // namespace taskspec::nir
