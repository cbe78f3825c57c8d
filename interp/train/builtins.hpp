// What the builtins of training share. Those with a point in their name are methods and members of what `train` gives.
#pragma once
#include "interp/control/frame.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/train/training.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

inline Training& training_of(const Value& value) { return *std::static_pointer_cast<Training>(value.object()); }
inline StepSite step_site(const HostContext& host) { return {host.frame->scope, host.span}; }

inline Value count_tensor(HostContext& host, std::int64_t number) {
  return host.interpreter->target().constant(scalar_array(Value(number), Precision::i64));
}
inline Type count_type(RuleContext&) { return Type::tensor(Precision::i64, {}); }

// Of their records.
inline constexpr const char* training_example =
    "agent Line() {\n  weight w: f32[1, 1] = constant(0.5)\n"
    "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n}\n"
    "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
    "for i in 0..20 {\n  m.forward([[1.0], [2.0]] as f32[2, 1])\n  m.backward([[3.0], [6.0]] as f32[2, 1])\n  "
    "m.update()\n}\n"
    "print(close(m.eval().forward([[2.0]] as f32[1, 1]).y.scalar, 6.0, rel: 1e-3))\n// expect: true";

}  // namespace taskspec
