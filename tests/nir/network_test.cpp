// Networks: layers of synapses, windows, edges backwards, graphs inside of graphs, and what is refused.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/nir/networks.hpp"

namespace taskspec::network_test {

namespace {

nir::Node linear(const std::string& name, std::int64_t out, std::int64_t in, std::uint64_t seed) {
  return {name, "Linear", {{"weight", random_numbers({out, in}, seed, -1, 1)}}, {}, {}};
}
nir::Node affine(const std::string& name, std::int64_t out, std::int64_t in, std::uint64_t seed) {
  nir::Node node = linear(name, out, in, seed);
  node.type = "Affine";
  node.parameters.emplace("bias", random_numbers({out}, seed + 1, -1, 1));
  return node;
}
nir::Node lif(const std::string& name) {
  return {name,
          "LIF",
          {{"tau", number(1e-3)}, {"r", number(1)}, {"v_leak", number(0)}, {"v_threshold", number(0.05)}},
          {},
          {}};
}

double at(const Array& array, std::initializer_list<std::int64_t> index) {
  std::int64_t position = 0;
  std::size_t axis = 0;
  for (std::int64_t i : index) position = position * array.extents()[axis++] + i;
  return array.number(position);
}

nir::Node conv2d(Array weight, Array bias, std::vector<std::int64_t> stride, nir::Parameter padding,
                 std::vector<std::int64_t> dilation, std::int64_t groups, std::vector<std::int64_t> shape) {
  nir::Node node{"conv", "Conv2d", {}, {}, {}};
  node.parameters = {{"weight", std::move(weight)},
                     {"bias", std::move(bias)},
                     {"stride", counts(std::move(stride))},
                     {"padding", std::move(padding)},
                     {"dilation", counts(std::move(dilation))},
                     {"groups", counts({groups})},
                     {"input_shape", counts(std::move(shape))}};
  return node;
}

}  // namespace

TEST_CASE("affine layers [nir]") {
  const nir::Node layer = affine("fc", 4, 3, 5);
  const Array input = random_numbers({6, 3}, 3, -1, 1);
  const Array got = run(chain({layer}, {3}, {4}), {{"precision", "f64"}}, input)["output"];
  const Array &w = std::get<Array>(layer.parameters.at("weight")), &b = std::get<Array>(layer.parameters.at("bias"));
  for (std::int64_t t = 0; t < 6; ++t)
    for (std::int64_t o = 0; o < 4; ++o) {
      double sum = b.number(o);
      for (std::int64_t i = 0; i < 3; ++i) sum += at(w, {o, i}) * at(input, {t, i});
      CHECK(std::abs(at(got, {t, o}) - sum) < 1e-12);
    }
}

TEST_CASE("convolutions with uneven padding, strides, dilation and groups [nir]") {
  const Array weight = random_numbers({4, 1, 2, 3}, 21, -1, 1), bias = random_numbers({4}, 22, -1, 1);
  const Array input = random_numbers({2, 2, 5, 6}, 23, -1, 1);
  struct Form {
    std::vector<std::int64_t> stride, dilation;
    nir::Parameter padding;
    std::int64_t top, left, rows, columns;
  };
  const Form forms[] = {{{1, 1}, {1, 1}, std::string("same"), 0, 1, 5, 6},
                        {{2, 1}, {1, 2}, counts({1, 2}), 1, 2, 3, 6},
                        {{1, 2}, {1, 1}, std::string("valid"), 0, 0, 4, 2}};
  for (const Form& form : forms) {
    const nir::Node node = conv2d(weight, bias, form.stride, form.padding, form.dilation, 2, {5, 6});
    const Array got =
        run(chain({node}, {2, 5, 6}, {4, form.rows, form.columns}), {{"precision", "f64"}}, input)["output"];
    REQUIRE(got.extents() == Extents{2, 4, form.rows, form.columns});
    for (std::int64_t t = 0; t < 2; ++t)
      for (std::int64_t o = 0; o < 4; ++o)
        for (std::int64_t y = 0; y < form.rows; ++y)
          for (std::int64_t x = 0; x < form.columns; ++x) {
            double sum = bias.number(o);
            for (std::int64_t ky = 0; ky < 2; ++ky)
              for (std::int64_t kx = 0; kx < 3; ++kx) {
                const std::int64_t iy = y * form.stride[0] - form.top + ky * form.dilation[0];
                const std::int64_t ix = x * form.stride[1] - form.left + kx * form.dilation[1];
                if (iy < 0 || iy >= 5 || ix < 0 || ix >= 6) continue;
                sum += at(weight, {o, 0, ky, kx}) * at(input, {t, o / 2, iy, ix});
              }
            CHECK(std::abs(at(got, {t, o, y, x}) - sum) < 1e-12);
          }
  }
}

TEST_CASE("pools and flatten [nir]") {
  const Array input = random_numbers({2, 3, 5, 7}, 31, -1, 1);
  struct Form {
    std::int64_t k, s, p, rows, columns;
  };
  for (const Form form : {Form{2, 2, 0, 2, 3}, Form{3, 2, 1, 3, 4}, Form{2, 2, 1, 3, 4}})
    for (const std::string type : {"SumPool2d", "AvgPool2d"}) {
      nir::Node pool{"pool", type, {}, {}, {}};
      pool.parameters = {{"kernel_size", counts({form.k, form.k})},
                         {"stride", counts({form.s, form.s})},
                         {"padding", counts({form.p, form.p})}};
      nir::Node flat{"flat", "Flatten", {{"start_dim", counts({0})}, {"end_dim", counts({-1})}}, {}, {}};
      flat.parameters.emplace("input_type", counts({3, form.rows, form.columns}));
      const std::int64_t all = 3 * form.rows * form.columns;
      const Array got = run(chain({pool, flat}, {3, 5, 7}, {all}), {{"precision", "f64"}}, input)["output"];
      REQUIRE(got.extents() == Extents{2, all});
      for (std::int64_t t = 0; t < 2; ++t)
        for (std::int64_t c = 0; c < 3; ++c)
          for (std::int64_t y = 0; y < form.rows; ++y)
            for (std::int64_t x = 0; x < form.columns; ++x) {
              double sum = 0;
              for (std::int64_t ky = 0; ky < form.k; ++ky)
                for (std::int64_t kx = 0; kx < form.k; ++kx) {
                  const std::int64_t iy = y * form.s - form.p + ky, ix = x * form.s - form.p + kx;
                  if (iy >= 0 && iy < 5 && ix >= 0 && ix < 7) sum += at(input, {t, c, iy, ix});
                }
              if (type == "AvgPool2d") sum /= static_cast<double>(form.k * form.k);
              CHECK(std::abs(at(got, {t, (c * form.rows + y) * form.columns + x}) - sum) < 1e-12);
            }
    }
}

TEST_CASE("edges backwards carry an earlier step [nir] [delay]") {
  for (const std::int64_t late : {1, 3}) {
    const nir::Node back = affine("back", 2, 2, 41);
    const nir::Model model = network({input("input", {2}), lif("lif"), back, output("output", {2})},
                                     {{"input", "lif"}, {"lif", "output"}, {"lif", "back"}, {"back", "lif"}});
    const Array given = random_numbers({40, 2}, 43, -0.5, 2);
    const Array got = run(model, {{"precision", "f64"}, {"feedback", std::to_string(late)}}, given)["output"];
    const Array &w = std::get<Array>(back.parameters.at("weight")), &b = std::get<Array>(back.parameters.at("bias"));
    std::vector<std::array<double, 2>> returned;
    double v[2] = {0, 0};
    for (std::int64_t t = 0; t < 40; ++t) {
      double z[2];
      for (std::int64_t k = 0; k < 2; ++k) {
        const double x = at(given, {t, k}) +
                         (t >= late ? returned[static_cast<std::size_t>(t - late)][static_cast<std::size_t>(k)] : 0);
        v[k] += 1e-4 / 1e-3 * ((0 - v[k]) + x);
        z[k] = v[k] > 0.05 ? 1 : 0;
        if (z[k] > 0) v[k] = 0;
        CHECK(at(got, {t, k}) == z[k]);
      }
      returned.push_back({b.number(0) + at(w, {0, 0}) * z[0] + at(w, {0, 1}) * z[1],
                          b.number(1) + at(w, {1, 0}) * z[0] + at(w, {1, 1}) * z[1]});
    }
  }
}

TEST_CASE("like lava, synapses are one step late [nir]") {
  const nir::Node layer = linear("fc", 2, 2, 51);
  const Array given = random_numbers({10, 2}, 53, -1, 1);
  const nir::Model model = chain({layer}, {2}, {2});
  const Array plain = run(model, {{"precision", "f64"}}, given)["output"];
  const Array late = run(model, {{"precision", "f64"}, {"like", "lava"}}, given)["output"];
  for (std::int64_t t = 0; t < 10; ++t)
    for (std::int64_t k = 0; k < 2; ++k) CHECK(at(late, {t, k}) == (t == 0 ? 0 : at(plain, {t - 1, k})));
}

TEST_CASE("graphs inside of graphs are spliced [nir]") {
  const nir::Node fc = linear("fc", 3, 2, 61);
  nir::Node inner{"block", "NIRGraph", {}, {input("in", {2}), fc, lif("lif"), output("out", {3})}, {}};
  inner.edges = {{"in", "fc"}, {"fc", "lif"}, {"lif", "out"}};
  const nir::Model nested =
      network({input("input", {2}), inner, output("output", {3})}, {{"input", "block"}, {"block", "output"}});
  const Array given = random_numbers({20, 2}, 63, -1, 3);
  const Array got =
      run(nested, {{"precision", "f64"}, {"record", "all"}}, given, {"output", "block_lif_spikes"})["output"];
  CHECK(largest_difference(got, run(chain({fc, lif("lif")}, {2}, {3}), {{"precision", "f64"}}, given)["output"]) == 0);
}

TEST_CASE("all that is wrong is refused at once [nir]") {
  nir::Node inner{"lif1", "NIRGraph", {}, {input("input", {2}), lif("lif1"), output("output", {2})}, {}};
  inner.edges = {{"input", "lif"}, {"lif", "output"}};
  nir::Node strange{"s", "Izhikevich", {}, {}, {}};
  nir::Node poor{"p", "LI", {{"tau", number(1)}}, {}, {}};
  const nir::Model model = network({input("input", {2}), inner, strange, poor, output("output", {2})},
                                   {{"input", "lif1"}, {"lif1", "output"}, {"nowhere", "p"}});
  CHECK(refusal(model) ==
        "E7003 'net.nir' cannot be imported: 6 things are wrong\n"
        "edge 'lif1/input' -> 'lif1/lif': there is no node 'lif1/lif'; did you mean 'lif1/lif1'?\n"
        "edge 'lif1/lif' -> 'lif1/output': there is no node 'lif1/lif'; did you mean 'lif1/lif1'?\n"
        "node 's' has the unknown type 'Izhikevich'\n"
        "edge 'nowhere' -> 'p': there is no node 'nowhere'\n"
        "node 'p' (LI) has no 'r'\n"
        "node 'p' (LI) has no 'v_leak'");
}

TEST_CASE("loops that keep nothing, and shapes that do not fit [nir]") {
  const nir::Model loop =
      network({input("input", {2}), linear("a", 2, 2, 1), linear("b", 2, 2, 2), output("output", {2})},
              {{"input", "a"}, {"a", "b"}, {"b", "a"}, {"b", "output"}});
  CHECK(refusal(loop) == "E7003 'net.nir' cannot be imported: a loop without a node that keeps a state: 'a', 'b'");
  const nir::Model shapes = chain({linear("a", 3, 2, 1), linear("b", 2, 4, 2)}, {2}, {2});
  CHECK(refusal(shapes) == "E7003 'net.nir' cannot be imported: node 'b' (Linear): it takes [4], and is given [3]");
  CHECK(refusal(chain({lif("a")}, {2}, {2}), {{"dt", "0"}}) == "E1003 'dt' is a time above 0, not '0'");
  CHECK(refusal(chain({lif("a")}, {2}, {2}), {{"step", "1"}}) ==
        "E1003 a NIR model has no option 'step'; options: dt, integrator, reset, feedback, precision, like, record");
}

TEST_CASE("an input that says another shape [nir]") {
  const nir::Model model = chain({lif("a"), linear("b", 1, 3, 5)}, {1}, {3});
  CHECK(refusal(model) == "E7003 'net.nir' cannot be imported: node 'b' (Linear): it takes [3], and is given [1]");
  const nir::Model wide = chain({linear("b", 1, 3, 5)}, {1}, {3});
  const ModelText made = nir::program_of(wide, "net.nir", "net", {});
  CHECK(made.notes == std::vector<std::string>{
                          "dt 0.0001, integrator euler, reset file, feedback 1 step, precision f32",
                          "Input 'input' says [1], 'b' takes [3]: that counts", "Output 'output' says [3], it is [1]"});
}

}  // namespace taskspec::network_test
