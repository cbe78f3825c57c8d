#include "bench/ops_cases.hpp"

#include <functional>
#include <map>
#include <random>

namespace taskspec::bench {

namespace {

using Precision::boolean, Precision::f32, Precision::i32, Precision::i64, Precision::i8;
constexpr std::int64_t large = 1 << 22;  // elements: 16 MB of f32, more than the caches of one core hold

// Floats in [0.1, 1), integers in 0..100, truths.
Value tensor(Precision precision, Extents extents, double low = 0.1, double high = 1) {
  static std::mt19937_64 engine(1);
  Array array = Array::make({precision, std::move(extents)});
  std::uniform_real_distribution<float> real(static_cast<float>(low), static_cast<float>(high));
  if (precision == f32) {
    for (float& x : array.data<float>()) x = real(engine);
    return array;
  }
  const std::uint64_t count = precision == boolean  ? 2
                              : is_float(precision) ? 0
                                                    : static_cast<std::uint64_t>(high > 1 ? high : 100);
  for (std::int64_t e = 0; e < array.elements(); ++e) array.set_integer(e, static_cast<std::int64_t>(engine() % count));
  return array;
}

Value f(Extents extents) { return tensor(f32, std::move(extents)); }
Value i(std::int64_t value) { return value; }
Value pair(std::int64_t a, std::int64_t b) { return Tuple{{Value(a), Value(b)}}; }
Value written(Precision precision, const Extents& extents) { return Type::of(ArrayType{precision, extents}.type()); }

using Cases = std::map<std::string_view, std::function<OpCase()>>;

Cases elementwise() {
  auto one = [](const char* torch) { return [torch] { return OpCase{{f({large})}, torch}; }; };
  auto two = [](const char* torch) { return [torch] { return OpCase{{f({large}), f({large})}, torch}; }; };
  auto ints = [](const char* torch) {
    return [torch] { return OpCase{{tensor(i32, {large}), tensor(i32, {large})}, torch}; };
  };
  return {
      {"abs", one("torch.abs(x0)")},
      {"sign", one("torch.sign(x0)")},
      {"floor", one("torch.floor(x0)")},
      {"ceil", one("torch.ceil(x0)")},
      {"round", one("torch.round(x0)")},
      {"exp", one("torch.exp(x0)")},
      {"log", one("torch.log(x0)")},
      {"sqrt", one("torch.sqrt(x0)")},
      {"rsqrt", one("torch.rsqrt(x0)")},
      {"sin", one("torch.sin(x0)")},
      {"cos", one("torch.cos(x0)")},
      {"tanh", one("torch.tanh(x0)")},
      {"sigmoid", one("torch.sigmoid(x0)")},
      {"relu", one("torch.relu(x0)")},
      {"gelu", one("torch.nn.functional.gelu(x0)")},
      {"elu", one("torch.nn.functional.elu(x0)")},
      {"spike", one("torch.ge(x0, 0.5).float()")},
      {"neg", one("torch.neg(x0)")},
      {"isnan", one("torch.isnan(x0)")},
      {"add", two("torch.add(x0, x1)")},
      {"sub", two("torch.sub(x0, x1)")},
      {"mul", two("torch.mul(x0, x1)")},
      {"div", two("torch.div(x0, x1)")},
      {"mod", two("torch.fmod(x0, x1)")},
      {"pow", two("torch.pow(x0, x1)")},
      {"minimum", two("torch.minimum(x0, x1)")},
      {"maximum", two("torch.maximum(x0, x1)")},
      {"relu_grad", two("torch.where(x0 > 0, x1, 0.0)")},
      {"lt", two("torch.lt(x0, x1)")},
      {"le", two("torch.le(x0, x1)")},
      {"gt", two("torch.gt(x0, x1)")},
      {"ge", two("torch.ge(x0, x1)")},
      {"eq", two("torch.eq(x0, x1)")},
      {"ne", two("torch.ne(x0, x1)")},
      {"and", ints("torch.bitwise_and(x0, x1)")},
      {"or", ints("torch.bitwise_or(x0, x1)")},
      {"xor", ints("torch.bitwise_xor(x0, x1)")},
      {"not",
       [] {
         return OpCase{{tensor(i32, {large})}, "torch.bitwise_not(x0)"};
       }},
      {"shift_left",
       [] {
         return OpCase{{tensor(i32, {large}), i(3)}, "torch.bitwise_left_shift(x0, 3)"};
       }},
      {"shift_right",
       [] {
         return OpCase{{tensor(i32, {large}), i(3)}, "torch.bitwise_right_shift(x0, 3)"};
       }},
      {"clamp",
       [] {
         return OpCase{{f({large}), 0.3, 0.7}, "torch.clamp(x0, 0.3, 0.7)"};
       }},
      {"where",
       [] {
         return OpCase{{tensor(boolean, {large}), f({large}), f({large})}, "torch.where(x0, x1, x2)"};
       }},
      {"cast",
       [] {
         return OpCase{{tensor(i32, {large}), written(f32, {large})}, "x0.to(torch.float32)"};
       }},
  };
}

Cases makers() {
  auto random = [](const char* torch) { return [torch] { return OpCase{{written(f32, {large}), i(1)}, torch}; }; };
  auto weights = [](const char* torch) {
    return [torch] { return OpCase{{written(f32, {2048, 2048}), i(1)}, torch}; };
  };
  return {
      {"fill",
       [] {
         return OpCase{{written(f32, {large}), 0.5}, "torch.full((4194304,), 0.5)"};
       }},
      {"iota",
       [] {
         return OpCase{{i(large)}, "torch.arange(4194304)"};
       }},
      {"one_hot",
       [] {
         return OpCase{{tensor(i64, {4096}), i(1000)}, "torch.nn.functional.one_hot(x0, 1000)"};
       }},
      {"uniform", random("torch.rand(4194304)")},
      {"normal", random("torch.randn(4194304)")},
      {"truncated_normal", random("torch.nn.init.trunc_normal_(torch.empty(4194304))")},
      {"bernoulli", random("torch.empty(4194304).bernoulli_(0.5)")},
      {"glorot_uniform", weights("torch.nn.init.xavier_uniform_(torch.empty(2048, 2048))")},
      {"glorot_normal", weights("torch.nn.init.xavier_normal_(torch.empty(2048, 2048))")},
      {"kaiming_normal", weights("torch.nn.init.kaiming_normal_(torch.empty(2048, 2048))")},
  };
}

Cases reductions() {
  auto along = [](const char* torch) { return [torch] { return OpCase{{f({4096, 1024}), i(1)}, torch}; }; };
  return {
      {"sum", along("torch.sum(x0, 1)")},
      {"mean", along("torch.mean(x0, 1)")},
      {"prod", along("torch.prod(x0, 1)")},
      {"max", along("torch.amax(x0, 1)")},
      {"min", along("torch.amin(x0, 1)")},
      {"argmax", along("torch.argmax(x0, 1)")},
      {"argmin", along("torch.argmin(x0, 1)")},
      {"softmax", along("torch.softmax(x0, 1)")},
      {"log_softmax", along("torch.log_softmax(x0, 1)")},
      {"topk",
       [] {
         return OpCase{{f({4096, 1024}), i(10)}, "torch.topk(x0, 10, 1)"};
       }},
      {"layernorm",
       [] {
         return OpCase{{f({4096, 1024}), f({1024}), f({1024})}, "torch.nn.functional.layer_norm(x0, (1024,), x1, x2)"};
       }},
      {"batchnorm",
       [] {
         return OpCase{{f({32, 64, 45, 45}), f({64}), f({64})},
                       "torch.nn.functional.batch_norm(x0, None, None, x1, x2, training=True)"};
       }},
      {"running_batchnorm",
       [] {
         return OpCase{{f({32, 64, 45, 45}), f({64}), f({64}), f({64}), f({64})},
                       "torch.nn.functional.batch_norm(x0, x1, x2, x3, x4)"};
       }},
      {"batchnorm_sums",
       [] {
         return OpCase{{f({32, 64, 45, 45}), f({32, 64, 45, 45})}, ""};
       }},
      {"batchnorm_input_grad",
       [] {
         return OpCase{{f({32, 64, 45, 45}), f({32, 64, 45, 45}), f({64}), f({5, 64})}, ""};
       }},
      {"layernorm_input_grad",
       [] {
         return OpCase{{f({4096, 1024}), f({4096, 1024}), f({1024})}, ""};
       }},
  };
}

Cases movement() {
  auto square = [](std::vector<Value> rest, const char* torch) {
    return [rest, torch] {
      OpCase made{{f({2048, 2048})}, torch};
      made.operands.insert(made.operands.end(), rest.begin(), rest.end());
      return made;
    };
  };
  return {
      {"reshape", square({i(1024), i(4096)}, "x0.reshape(1024, 4096).clone()")},
      {"permute", square({i(1), i(0)}, "x0.permute(1, 0).contiguous()")},
      {"broadcast",
       [] {
         return OpCase{{f({2048}), i(2048), i(2048)}, "x0.expand(2048, 2048).contiguous()"};
       }},
      {"reverse", square({i(1)}, "x0.flip(1)")},
      {"reflect", square({i(0)}, "x0.flip(0)")},
      {"rotate", square({i(1)}, "torch.rot90(x0, 1).contiguous()")},
      {"scale", square({i(1), i(2)}, "x0.repeat_interleave(2, 1)")},
      {"tile", square({i(0), i(2)}, "x0.tile(2, 1)")},
      {"concat",
       [] {
         return OpCase{{List{f({2048, 1024}), f({2048, 1024})}, i(1)}, "torch.cat([x0, x1], 1)"};
       }},
      {"split", square({i(4), i(1)}, "[p.contiguous() for p in torch.chunk(x0, 4, 1)]")},
      {"slice", square({"*r", i(0), i(2048), i(0), i(1024)}, "x0[:, :1024].contiguous()")},
      {"drop",
       [] {
         return OpCase{{f({1, 2048, 2048}), i(0)}, "x0.squeeze(0).clone()"};
       }},
      {"lift", square({i(0)}, "x0.unsqueeze(0).clone()")},
      {"copy", square({}, "x0.clone()")},
      {"pad", square({i(1), i(1), i(1)}, "torch.nn.functional.pad(x0, (1, 1))")},
      {"shift", square({i(1), i(1), true}, "torch.roll(x0, 1, 1)")},
      {"gather",
       [] {
         return OpCase{{f({4096, 1024}), tensor(i64, {4096}, 0, 4096), i(0)}, "torch.index_select(x0, 0, x1)"};
       }},
      {"scatter_add",
       [] {
         return OpCase{{f({4096, 1024}), tensor(i64, {4096}, 0, 4096), f({4096, 1024}), i(0)},
                       "torch.index_add(x0, 0, x1, x2)"};
       }},
      {"graph_print",
       [] {
         return OpCase{{"x", f({1})}, ""};
       }},
      {"lookup",
       [] {
         return OpCase{{tensor(i8, {256}), tensor(i32, {large})}, ""};
       }},
      {"lif",
       [] {
         return OpCase{{tensor(i32, {large}), tensor(i32, {large}), i(90), i(2)}, ""};
       }},
  };
}

Cases products() {
  const Extents image{8, 64, 56, 56}, weights{64, 64, 3, 3};
  auto conv = [=](const char* torch) {
    return [=] { return OpCase{{f(image), f(weights), f({64}), i(1), i(1)}, torch}; };
  };
  return {
      {"matmul",
       [] {
         return OpCase{{f({1024, 1024}), f({1024, 1024})}, "torch.matmul(x0, x1)"};
       }},
      {"linear",
       [] {
         return OpCase{{f({512, 1024}), f({1024, 1024}), f({1024})}, "torch.nn.functional.linear(x0, x1, x2)"};
       }},
      {"conv2d", conv("torch.nn.functional.conv2d(x0, x1, x2, padding=1)")},
      {"conv1d",
       [] {
         return OpCase{{f({8, 64, 4096}), f({64, 64, 3}), f({64}), i(1), i(1)},
                       "torch.nn.functional.conv1d(x0, x1, x2, padding=1)"};
       }},
      {"conv2d_input_grad",
       [=] {
         return OpCase{{written(f32, image), f(image), f(weights), i(1), i(1)},
                       "torch.nn.functional.conv_transpose2d(x0, x1, padding=1)"};
       }},
      {"conv2d_weight_grad",
       [=] {
         return OpCase{{written(f32, weights), f(image), f(image), i(1), i(1)},
                       "torch.nn.grad.conv2d_weight(x0, (64, 64, 3, 3), x1, padding=1)"};
       }},
  };
}

Cases pools() {
  const Extents image{16, 64, 64, 64}, half{16, 64, 32, 32};
  return {
      {"max_pool",
       [=] {
         return OpCase{{f(image), i(2)}, "torch.nn.functional.max_pool2d(x0, 2)"};
       }},
      {"avg_pool",
       [=] {
         return OpCase{{f(image), i(2)}, "torch.nn.functional.avg_pool2d(x0, 2)"};
       }},
      {"global_pool",
       [=] {
         return OpCase{{f(image)}, "torch.nn.functional.adaptive_avg_pool2d(x0, 1)"};
       }},
      {"max_pool_grad",
       [=] {
         return OpCase{{f(image), f(half), i(2)}, ""};
       }},
      {"avg_pool_grad",
       [=] {
         return OpCase{{written(f32, image), f(half), pair(2, 2)}, ""};
       }},
  };
}

}  // namespace

std::optional<OpCase> op_case(const OpDef& op) {
  for (Cases (*family)() : {elementwise, makers, reductions, movement, products, pools}) {
    Cases cases = family();
    if (auto found = cases.find(op.name); found != cases.end()) return found->second();
  }
  return std::nullopt;
}

}  // namespace taskspec::bench
