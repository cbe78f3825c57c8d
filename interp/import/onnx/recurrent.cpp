// Recurrent layers: what comes from x for all steps as one product, then a loop over the steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

struct Layer {
  std::int64_t gates;  // in each row of the weights
  std::vector<std::string> activations;
};

// Part `direction` of weights [D, ...]; of known ones a slot of its own.
Term part_of(Call& call, std::size_t input, std::int64_t direction, std::string_view what) {
  const Term& all = call.at(input);
  if (all.text.empty() && all.constant) {
    Extents shape(all.constant->extents().begin() + 1, all.constant->extents().end());
    Array part = Array::make({all.precision, shape});
    std::memcpy(part.raw(), all.constant->raw() + static_cast<std::size_t>(direction) * part.bytes(), part.bytes());
    return call.slot(part, fmt::format("{}{}", what, direction));
  }
  return call.let(dropped(sliced(call.x(input), 0, Dim(direction), Dim(direction + 1)), {0}));
}

Term rows(const Term& x, std::int64_t from, std::int64_t to) { return sliced(x, 0, Dim(from), Dim(to)); }

class Recurrence {
 public:
  Recurrence(Call& call, const Layer& layer) : call_(call), layer_(layer) {
    batch_first_ = call.integer("layout", 0) == 1;
    x_ = call.x(0);
    if (x_.rank() != 3) call.fail("its input is no list of sequences");
    if (batch_first_) x_ = call.let(permuted(x_, {1, 0, 2}));
    hidden_ = call.extent(call.at(2), 2);
    directions_ = call.extent(call.at(1), 0);
    const std::string direction = call.text("direction", "forward");
    backward_ = direction == "reverse";
    if (directions_ != (direction == "bidirectional" ? 2 : 1)) call.fail("its weights do not fit its direction");
    activations_ = layer.activations;
    take_activations();
    if (call.node.attribute("clip")) call.fail("it clips, which is not read");
    if (call.integer("input_forget", 0) != 0) call.fail("its gates are coupled, which is not read");
  }

  void run(const std::function<std::vector<std::string>(Recurrence&, std::int64_t)>& step, bool has_cell) {
    std::vector<Term> all, last, cells;
    for (std::int64_t d = 0; d < directions_; ++d) {
      one_direction(d, step, has_cell);
      all.push_back(lifted(named(all_, x_.precision, {time(), batch(), Dim(hidden_)}), {1}));
      last.push_back(lifted(named(h_, x_.precision, {batch(), Dim(hidden_)}), {0}));
      if (has_cell) cells.push_back(lifted(named(c_, x_.precision, {batch(), Dim(hidden_)}), {0}));
    }
    auto ordered = [&](const Term& term, const Numbers& turn) { return batch_first_ ? permuted(term, turn) : term; };
    if (call_.gives(0)) call_.give(0, ordered(joined(all, 1), {2, 0, 1, 3}));
    if (call_.gives(1)) call_.give(1, ordered(joined(last, 0), {1, 0, 2}));
    if (has_cell && call_.gives(2)) call_.give(2, ordered(joined(cells, 0), {1, 0, 2}));
  }

  const std::string& h() const { return h_; }
  const std::string& c() const { return c_; }
  std::int64_t hidden() const { return hidden_; }
  Call& call() const { return call_; }
  std::string activated(std::size_t which, std::int64_t direction, const std::string& text) const {
    const std::size_t count = layer_.activations.size();
    const std::string& name = activations_[(static_cast<std::size_t>(direction) * count + which) % activations_.size()];
    return fmt::format("{}({})", name, text);
  }
  // Columns of what comes from x in this step, and of any [B, n].
  std::string gate(const std::string& of, std::int64_t k, std::int64_t count = 1) const {
    return fmt::format("{}[.., {}..{}]", of, k * hidden_, (k + count) * hidden_);
  }
  const std::string& from_x() const { return step_x_; }
  const Term& recurrent() const { return r_; }
  const std::optional<Term>& recurrent_bias() const { return recurrent_bias_; }
  const std::optional<Term>& peepholes() const { return peepholes_; }
  // Of GRU the bias of its last gate belongs behind the reset.
  bool bias_apart = false;

 private:
  const Dim& time() const { return x_.dims[0]; }
  const Dim& batch() const { return x_.dims[1]; }

  // For each direction as many as there are kinds of gates.
  void take_activations() {
    const Attribute* given = call_.node.attribute("activations");
    if (!given || given->texts.empty()) return;
    activations_.clear();
    for (const std::string& name : given->texts) {
      const bool known = name == "Tanh" || name == "Sigmoid" || name == "Relu";
      if (!known) call_.fail(fmt::format("its activation '{}' is not read", name));
      activations_.push_back(name == "Tanh" ? "tanh" : name == "Sigmoid" ? "sigmoid" : "relu");
    }
    const std::size_t count = layer_.activations.size() * static_cast<std::size_t>(directions_);
    if (activations_.size() != count) call_.fail("it has not one activation for each kind of gate");
  }

  std::string start(std::size_t input, std::int64_t d, std::string_view what) {
    const std::string name = call_.all.variable(fmt::format("{}_{}", call_.node.shown(), what));
    Term value = filled(x_.precision, {batch(), Dim(hidden_)}, "0.0");
    if (call_.has(input)) {
      const Term all = batch_first_ ? permuted(call_.x(input), {1, 0, 2}) : call_.x(input);
      value = dropped(sliced(all, 0, Dim(d), Dim(d + 1)), {0});
    }
    call_.all.line(fmt::format("var {} = {}", name, value.text));
    return name;
  }

  void one_direction(std::int64_t d, const std::function<std::vector<std::string>(Recurrence&, std::int64_t)>& step,
                     bool has_cell) {
    const std::int64_t width = layer_.gates * hidden_;
    const Term w = part_of(call_, 1, d, "w");
    r_ = part_of(call_, 2, d, "r");
    std::string bias;
    recurrent_bias_.reset();
    if (call_.has(3)) {
      const Term both = part_of(call_, 3, d, "b");
      Term sum = rows(both, 0, width);
      recurrent_bias_ = rows(both, width, 2 * width);
      if (!bias_apart) sum = binary(sum, "+", *recurrent_bias_);
      bias = ", " + call_.let(sum).text;
      if (bias_apart) recurrent_bias_ = call_.let(*recurrent_bias_);
    }
    peepholes_.reset();
    if (has_cell && call_.has(7)) peepholes_ = part_of(call_, 7, d, "p");
    const Term projected = call_.let(
        named(fmt::format("linear({}.reshape({}), {}{}).reshape({})", x_.text, text_of({time() * batch(), x_.dims[2]}),
                          w.text, bias, text_of({time(), batch(), Dim(width)})),
              x_.precision, {time(), batch(), Dim(width)}));
    h_ = start(5, d, "h");
    if (has_cell) c_ = start(6, d, "c");
    all_ = call_.all.variable(call_.node.shown() + "_all");
    call_.all.line(fmt::format("var {} = {}", all_, filled(x_.precision, {time(), batch(), Dim(hidden_)}, "0.0").text));
    loop(d, projected, step, has_cell);
  }

  void loop(std::int64_t d, const Term& projected,
            const std::function<std::vector<std::string>(Recurrence&, std::int64_t)>& step, bool has_cell) {
    const std::string count = call_.all.variable("step"), at = call_.all.variable("at");
    const bool backward = backward_ || d == 1;
    call_.all.line(fmt::format("for {} in 0..{} {{", count, time().text()));
    call_.all.line(backward ? fmt::format("  let {} = {} - 1 - {}", at, time().text(), count)
                            : fmt::format("  let {} = {}", at, count));
    step_x_ = call_.all.variable("from_x");
    call_.all.line(fmt::format("  let {} = {}[{}]", step_x_, projected.text, at));
    const std::vector<std::string> lines = step(*this, d);  // its last ones: the new h, and the new c
    const std::size_t states = has_cell ? 2 : 1;
    for (std::size_t i = 0; i + states < lines.size(); ++i) call_.all.line("  " + lines[i]);
    const std::string h = lines[lines.size() - states], c = lines.back();
    std::string kept = h_;
    if (call_.has(4)) {
      const std::string goes_on = call_.all.variable("goes_on");
      call_.all.line(fmt::format("  let {} = ({} > {}).lift(1)", goes_on, call_.x(4).text, at));
      call_.all.line(fmt::format("  {} = where({}, {}, {})", h_, goes_on, h, h_));
      if (has_cell) call_.all.line(fmt::format("  {} = where({}, {}, {})", c_, goes_on, c, c_));
      kept = fmt::format("where({}, {}, 0.0)", goes_on, h_);
    } else {
      call_.all.line(fmt::format("  {} = {}", h_, h));
      if (has_cell) call_.all.line(fmt::format("  {} = {}", c_, c));
    }
    call_.all.line(fmt::format("  {0} = {0}.scatter_add([{1}] as i64[1], ({2}).lift(0), 0)", all_, at, kept));
    call_.all.line("}");
  }

  Call& call_;
  const Layer& layer_;
  bool batch_first_ = false, backward_ = false;
  Term x_, r_;
  std::int64_t hidden_ = 0, directions_ = 1;
  std::vector<std::string> activations_;
  std::string h_, c_, all_, step_x_;
  std::optional<Term> recurrent_bias_, peepholes_;
};

std::string fresh(Recurrence& r, std::string_view name) { return r.call().all.variable(name); }

// Gates i, o, f and c.
void lstm(Call& call) {
  static const Layer layer{4, {"sigmoid", "tanh", "tanh"}};
  Recurrence(call, layer)
      .run(
          [](Recurrence& r, std::int64_t d) {
            const std::string g = fresh(r, "g"), i = fresh(r, "i"), o = fresh(r, "o"), f = fresh(r, "f"),
                              c = fresh(r, "c"), h = fresh(r, "h");
            auto peep = [&](std::int64_t k, const std::string& cell) {
              return r.peepholes() ? fmt::format(" + {} * {}",
                                                 rows(*r.peepholes(), k * r.hidden(), (k + 1) * r.hidden()).text, cell)
                                   : "";
            };
            return std::vector<std::string>{
                fmt::format("let {} = {} + linear({}, {})", g, r.from_x(), r.h(), r.recurrent().text),
                fmt::format("let {} = {}", i, r.activated(0, d, r.gate(g, 0) + peep(0, r.c()))),
                fmt::format("let {} = {}", f, r.activated(0, d, r.gate(g, 2) + peep(2, r.c()))),
                fmt::format("let {} = {} * {} + {} * {}", c, f, r.c(), i, r.activated(1, d, r.gate(g, 3))),
                fmt::format("let {} = {}", o, r.activated(0, d, r.gate(g, 1) + peep(1, c))),
                fmt::format("let {} = {} * {}", h, o, r.activated(2, d, c)),
                h,
                c};
          },
          true);
}

// Gates z, r and h.
void gru(Call& call) {
  static const Layer layer{3, {"sigmoid", "tanh"}};
  const bool before = call.integer("linear_before_reset", 0) != 0;
  Recurrence recurrence(call, layer);
  recurrence.bias_apart = true;
  recurrence.run(
      [before](Recurrence& r, std::int64_t d) {
        const std::string g = fresh(r, "g"), z = fresh(r, "z"), reset = fresh(r, "reset"), n = fresh(r, "n"),
                          h = fresh(r, "h");
        const std::int64_t hidden = r.hidden();
        auto bias = [&](std::int64_t k, std::int64_t count) {
          return r.recurrent_bias() ? ", " + rows(*r.recurrent_bias(), k * hidden, (k + count) * hidden).text : "";
        };
        const std::string gates = rows(r.recurrent(), 0, 2 * hidden).text,
                          inner = rows(r.recurrent(), 2 * hidden, 3 * hidden).text;
        const std::string candidate = before ? fmt::format("{} * linear({}, {}{})", reset, r.h(), inner, bias(2, 1))
                                             : fmt::format("linear({} * {}, {}{})", reset, r.h(), inner, bias(2, 1));
        return std::vector<std::string>{
            fmt::format("let {} = {} + linear({}, {}{})", g, r.gate(r.from_x(), 0, 2), r.h(), gates, bias(0, 2)),
            fmt::format("let {} = {}", z, r.activated(0, d, r.gate(g, 0))),
            fmt::format("let {} = {}", reset, r.activated(0, d, r.gate(g, 1))),
            fmt::format("let {} = {}", n, r.activated(1, d, fmt::format("{} + {}", r.gate(r.from_x(), 2), candidate))),
            fmt::format("let {} = (1.0 - {}) * {} + {} * {}", h, z, n, z, r.h()),
            h};
      },
      false);
}

void rnn(Call& call) {
  static const Layer layer{1, {"tanh"}};
  Recurrence(call, layer)
      .run(
          [](Recurrence& r, std::int64_t d) {
            const std::string h = fresh(r, "h");
            const std::string sum = fmt::format("{} + linear({}, {})", r.from_x(), r.h(), r.recurrent().text);
            return std::vector<std::string>{fmt::format("let {} = {}", h, r.activated(0, d, sum)), h};
          },
          false);
}

constexpr std::array recurrent_rows{
    Operator{"GRU", 3, any, gru},
    Operator{"LSTM", 1, any, lstm},
    Operator{"RNN", 1, any, rnn},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return recurrent_rows; }

}  // namespace taskspec::onnx
