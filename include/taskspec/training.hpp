// Training: a net learns, as by `train(net, loss: ..., optimizer: ...)` in a text and to the same bits.
//
//   Line net;                                                        // an Agent with a task or graph `forward`
//   ModelTrainingInstance m = train(net, "mse_avg", sgd(0.1, arg("momentum", 0.9)), {.metrics = {"mae"}});
//   for (int k = 0; k < 100; ++k) {
//     forward(m, x);                                                 // tasks as m.forward(x) records them
//     backward(m, y);                                                // the loss, its gradient, then tasks in reverse
//     update(m);                                                     // m.step(x, y) does all three
//   }
//   m.loss().scalar<float>(), m.metric("mae").scalar<double>(), m.weight("w").array<float>()
//
// Nothing runs before somebody asks for contents. `net` is the trained net at any time: net.forward(x) is what
// m.eval().forward(x) is in a text. Tasks in C++ take part with their reverse (native.hpp, registry.hpp).
#pragma once
#include <string>
#include <vector>

#include "taskspec/agent.hpp"
#include "taskspec/host.hpp"

namespace taskspec::dsl {

// The rules by which weights change. `lr` is a number, or a fn of the number of the step, from 1. The others as in a
// text: arg("momentum", 0.0), arg("nesterov", false), arg("weight_decay", 0.0) of sgd; arg("beta1", 0.9),
// arg("beta2", 0.999), arg("eps", 1e-8), arg("weight_decay", 0.0) of adam and adamw.
Operand sgd(Operand lr, Operand a = {}, Operand b = {}, Operand c = {});
Operand adam(Operand lr = 1e-3, Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {});
Operand adamw(Operand lr = 1e-3, Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {});

// What the ops of a step take: medians over some steps of the shapes of the last one, on made-up data. Milliseconds.
struct TrainingProfile {
  struct Op {
    std::string in_task, op, line, pass, makes;  // pass: "forward", "backward", "update"; makes: its type, "f32[2, 1]"
    std::int64_t calls = 0, bytes = 0;           // in a step; bytes that they read and write once
    double min = 0, median = 0;                  // of all its calls in a step
  };
  std::int64_t steps = 0;  // that were measured
  double forward = 0, backward = 0, update = 0;
  std::vector<Op> ops;
  std::string text;  // all of it as a table
};

struct TrainOptions {
  std::vector<std::string> metrics = {};  // accuracy, categorical_crossentropy, mse, rmse, mae, ...
  double clip = 0;                        // the norm of all gradients together; 0: any
  std::string recompute = "none";         // or "sqrt": of what happens inside of a task, little is kept for its reverse
  int parts = 1;  // blocks of rows of each batch, which run by themselves; the bits depend on it
};

// A net in training. Copies are the same training; it belongs to the thread that made it.
class ModelTrainingInstance {
 public:
  using At = detail::At;
  explicit ModelTrainingInstance(detail::NodePtr node) : node_(std::move(node)) {}

  // What the trained member gives, recorded as a part of a step: outputs go by name. Its arguments are those of the
  // member; a shape that does not fit is E2001.
  Tensor forward(Operand a, Operand b = {}, Operand c = {}, Operand d = {});
  // The loss against what the prediction should have been, of its shape, or integer labels of one dimension less; then
  // gradients, in reverse order. Two in a row without an update add up. E5007 before a forward, E5004 a target that
  // does not fit, E5013 where an op has no gradient.
  void backward(Operand y);
  // Changes the weights, forgets the gradients. E5007 before a backward.
  void update(At at = At::current());
  // forward, backward, update: what forward takes, then what it should have given.
  void step(Operand a, Operand b, Operand c = {}, Operand d = {});
  // A step for each row, which is what `step` takes; metrics begin anew with each epoch. E5003: no rows.
  void fit(const std::vector<std::vector<Tensor>>& rows, int epochs = 1, At at = At::current());

  // Slots, moments, metrics and where it is, as one .npz of named arrays; what is loaded goes on bit for bit. E7004
  // where the file cannot be written, E7001 no such file, E7003 one of another net, E5007 between backward and update.
  void save(Name path) const;
  void load(Name path);
  // Nothing of the training changes. E5007 before a step, E1003 less than one to measure.
  TrainingProfile profile(int warmup = 2, int steps = 10, At at = At::current()) const;

  Tensor loss(At at = At::current()) const;                     // of the last backward, of rank 0; E5007
  Tensor metric(Name name) const;                               // over all rows since it began, f64 of rank 0; E1002
  void reset_metrics(At at = At::current());                    // they begin
  Tensor grad(Name weight) const;                               // since the last update; of a layer "c1.w"; E5007
  Tensor weight(Name path, At at = At::current()) const;        // of any slot, a copy of what it holds now; E1002
  std::vector<std::string> slots(At at = At::current()) const;  // all of them: "w1", "c1.w"
  std::string text(At at = At::current()) const;                // "<training of Line(), sgd(lr: 0.1, ...)>"
  const detail::NodePtr& node() const { return node_; }

 private:
  detail::NodePtr node_;
};

namespace detail {
ModelTrainingInstance train(const Agent& net, Operand loss, Operand optimizer, const TrainOptions& options);
}

// The loss is categorical_crossentropy, sparse_categorical_crossentropy (both of logits), mse_avg, mse_sum, identity,
// or a pure fn of the prediction and what it should have been. E1004: there is no member `forward`, and not just one.
inline ModelTrainingInstance train(const Agent& net, Operand loss, Operand optimizer,
                                   const TrainOptions& options = {}) {
  return detail::train(net, std::move(loss), std::move(optimizer), options);
}

inline Tensor forward(ModelTrainingInstance& m, Operand a, Operand b = {}, Operand c = {}, Operand d = {}) {
  return m.forward(std::move(a), std::move(b), std::move(c), std::move(d));
}
inline void backward(ModelTrainingInstance& m, Operand y) { m.backward(std::move(y)); }
inline void update(ModelTrainingInstance& m, detail::At at = detail::At::current()) { m.update(at); }

}  // namespace taskspec::dsl
