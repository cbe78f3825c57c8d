// lif and lookup against plain loops written from the rules of Task IR, and against recorded outputs of
// the chip's primitives where those are at hand.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "stdlib/ops.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_neurons_test {

namespace {

using Ints = std::vector<std::int64_t>;

Array ints(const Ints& values, Precision precision = Precision::i32) {
  Array array = Array::make({precision, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}

Ints contents(const Array& array) {
  Ints values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.integer(i));
  return values;
}

std::int64_t s28(std::int64_t x) {
  return std::min<std::int64_t>(std::max<std::int64_t>(x, -(1 << 27)), (1 << 27) - 1);
}

// A population, one neuron after the other, every line as the rule has it.
struct Population {
  std::int64_t vth0 = 0, th_alpha = 256, th_beta = 0, incre = 0, vr = 0, vl = -(1 << 27), alpha = 256, beta = 0, dv = 0,
               ref_len = 0, tw_len = 255, vinit = 0, mode = 0, tw = 0;
  bool th_adapts = false, leak_adapts = false, has_window = false;
  std::optional<Ints> masks;
  std::uint32_t l = 1;
  Ints v, c, theta;

  Ints step(const Ints& u) {
    Ints spikes;
    const bool fin = tw >= tw_len;
    for (std::size_t i = 0; i < v.size(); ++i) {
      std::int64_t m28 = masks ? noise(static_cast<std::int32_t>((*masks)[i % masks->size()])) : 0;
      std::int64_t vth = std::max(s28(vth0 + theta[i] + m28), vl), v1 = s28(v[i] + (c[i] == 0 ? u[i] : 0));
      bool spike = v1 > vth;
      std::int64_t kept = v1;
      if (spike && mode == 0) kept = vr;
      if (spike && mode == 1) kept = v1 - vth;
      if (spike && mode == 2) kept = v1 - dv;
      std::int64_t leaked = (leak_adapts ? floor_shift(kept * alpha) : kept) + beta;
      v[i] = std::max(s28(fin ? vinit : leaked), vl);
      theta[i] = s28((th_adapts ? floor_shift(theta[i] * th_alpha) : theta[i]) + th_beta + (spike ? incre : 0));
      c[i] = spike ? ref_len : std::max<std::int64_t>(0, c[i] - 1);
      spikes.push_back(spike ? 1 : 0);
    }
    if (has_window) tw = tw == tw_len ? 0 : tw + 1;
    return spikes;
  }

  static std::int64_t floor_shift(std::int64_t x) { return x >= 0 ? x / 256 : -((-x + 255) / 256); }

  std::int64_t noise(std::int32_t mask) {
    std::uint32_t b = (l ^ l >> 1 ^ l >> 2 ^ l >> 3 ^ l >> 5 ^ l >> 7) & 1;
    l = b << 31 | l >> 1;
    auto r = static_cast<std::int32_t>(l);
    std::int64_t m = r >= 0 ? r & mask : -static_cast<std::int64_t>(~r & mask);
    std::int64_t low = m & 0xfffffff;
    return low >= (1 << 27) ? low - (1 << 28) : low;
  }
};

// The same through the op. Returns the spikes and takes the new state over.
class ByOp {
 public:
  explicit ByOp(Population& p) : p_(p) {}

  Ints step(const Ints& u) {
    static const char* modes[] = {"zero", "subtract", "constant", "none"};
    const bool counts = p_.ref_len > 0, adapts = p_.th_adapts || p_.th_beta != 0 || p_.incre != 0 || has_theta();
    auto when = [](bool there, Value value) { return there ? value : Value(); };
    auto state = [&](bool there, const Ints& values) { return there ? Value(ints(values)) : Value(); };
    Value mask = !p_.masks ? Value() : p_.masks->size() == 1 ? Value(p_.masks->at(0)) : Value(ints(*p_.masks));
    OpCall call = prepare("lif", {ints(u),
                                  ints(p_.v),
                                  p_.vth0,
                                  -p_.beta,
                                  modes[p_.mode],
                                  p_.dv,
                                  when(p_.leak_adapts, p_.alpha),
                                  p_.ref_len,
                                  state(counts, p_.c),
                                  state(adapts, p_.theta),
                                  when(p_.th_adapts, p_.th_alpha),
                                  -p_.th_beta,
                                  p_.incre,
                                  mask,
                                  state(p_.masks.has_value(), {static_cast<std::int32_t>(p_.l)}),
                                  when(p_.has_window, p_.tw_len),
                                  state(p_.has_window, {p_.tw}),
                                  p_.vr,
                                  p_.vl,
                                  p_.vinit});
    Serial serial;
    std::vector<Array> out = run(*call.instance.op->kernel(call.instance), call, serial);
    std::size_t next = 1;
    p_.v = contents(out[next++]);
    if (counts) p_.c = contents(out[next++]);
    if (adapts) p_.theta = contents(out[next++]);
    if (p_.masks) p_.l = static_cast<std::uint32_t>(out[next++].integer(0));
    if (p_.has_window) p_.tw = out[next++].integer(0);
    REQUIRE(next == out.size());
    return contents(out[0]);
  }

 private:
  bool has_theta() const {
    return std::any_of(p_.theta.begin(), p_.theta.end(), [](std::int64_t x) { return x != 0; });
  }

  Population& p_;
};

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool coin() { return engine_() % 2 == 0; }

 private:
  std::mt19937_64 engine_;
};

Population random_population(Dice& dice, std::size_t neurons) {
  Population p;
  const std::int64_t range = dice.coin() ? 200 : 1 << 27;  // small numbers, or such that saturate
  p.vth0 = dice.between(-range / 4, range - 1);
  p.vr = dice.between(-50, 50);
  p.vl = dice.coin() ? -(1 << 27) : dice.between(-300, 0);
  p.mode = dice.between(0, 3);
  p.dv = dice.between(0, 200);
  p.beta = dice.between(-20, 20);
  p.leak_adapts = dice.coin();
  p.alpha = dice.between(0, 256);
  p.th_adapts = dice.coin();
  p.th_alpha = dice.between(0, 256);
  if (dice.coin()) p.incre = dice.between(1, 60), p.th_beta = dice.between(-5, 5);
  if (dice.coin()) p.ref_len = dice.between(1, 15);
  if (dice.coin()) p.has_window = true, p.tw_len = dice.between(0, 6), p.vinit = dice.between(-9, 9);
  if (dice.coin()) p.masks = Ints{dice.between(0, 1 << 20)};
  if (p.masks && dice.coin()) p.masks = Ints{dice.between(0, 255), -1, dice.between(0, INT32_MAX)};
  p.l = static_cast<std::uint32_t>(dice.between(1, UINT32_MAX));
  for (std::size_t i = 0; i < neurons; ++i) {
    p.v.push_back(dice.between(-range, range - 1));
    p.c.push_back(0);
    p.theta.push_back(p.th_adapts ? dice.between(-100, 100) : 0);
  }
  return p;
}

}  // namespace

TEST_CASE("lif: bit for bit as a plain loop, parameters at random [ops]") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Population plain = random_population(dice, 7), tested = plain;
    for (int step = 0; step < 9; ++step) {
      CAPTURE(step);
      Ints u;
      for (std::size_t i = 0; i < plain.v.size(); ++i) u.push_back(dice.between(-1000, 1 << (step % 2 ? 10 : 28)));
      REQUIRE(plain.step(u) == ByOp(tested).step(u));
      CHECK(plain.v == tested.v);
      CHECK(plain.c == tested.c);
      CHECK(plain.theta == tested.theta);
      CHECK(plain.l == tested.l);
      CHECK(plain.tw == tested.tw);
    }
  }
}

TEST_CASE("lif: the recorded steps of the chip's primitive [ops]") {
  const std::filesystem::path path = source_root() / "../shared/golden/chip_lif.json";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: the recorded outputs are not here");
    return;
  }
  const nlohmann::json cases = nlohmann::json::parse(std::ifstream(path));
  for (const auto& c : cases) {
    CAPTURE(c.at("seed").dump());
    Population p;
    auto number = [&](const char* name) { return c.at(name).get<std::int64_t>(); };
    p.vth0 = number("Vth0"), p.th_alpha = number("Vth_alpha"), p.th_beta = number("Vth_beta");
    p.incre = number("Vth_Incre"), p.vr = number("VR"), p.vl = number("VL"), p.alpha = number("Vleaky_alpha");
    p.beta = number("Vleaky_beta"), p.dv = number("dV"), p.ref_len = number("Ref_len"), p.tw_len = number("Tw_len");
    p.vinit = number("Vinit"), p.mode = number("reset_mode");
    p.th_adapts = number("Vth_adpt_en") != 0, p.leak_adapts = number("Vleaky_adpt_en") != 0;
    p.has_window = number("Tw_en") != 0;
    if (number("VM") != 0) p.masks = Ints{number("VM")};
    p.l = static_cast<std::uint32_t>(number("seed"));
    p.theta = c.at("Vtheta_init").get<Ints>();
    auto unpack = [](const Ints& words, Ints& v, Ints& counts) {
      v.clear(), counts.clear();
      for (std::int64_t word : words) {
        std::int64_t low = word & 0xfffffff;
        v.push_back(low >= (1 << 27) ? low - (1 << 28) : low);
        counts.push_back((word >> 28) & 15);
      }
    };
    unpack(c.at("V_ref_init").get<Ints>(), p.v, p.c);
    for (const auto& step : c.at("steps")) {
      Ints u = step.at("Uin").get<Ints>();
      for (std::size_t i = 0; p.ref_len == 0 && i < u.size(); ++i) {  // the op keeps no counts then, these cases do
        if (p.c[i] > 0) u[i] = 0;
        p.c[i] = std::max<std::int64_t>(0, p.c[i] - 1);
      }
      ByOp(p).step(u);
      Ints v, counts;
      unpack(step.at("V_ref").get<Ints>(), v, counts);
      CHECK(p.v == v);
      CHECK(p.c == counts);
      CHECK(p.theta == step.at("Vtheta").get<Ints>());
      if (p.has_window) CHECK(p.tw == step.at("Tw_cnt").get<std::int64_t>());
    }
  }
}

TEST_CASE("lookup: two's complement addresses, clamped [ops]") {
  for (std::int64_t length : {16, 256, 4096, 65536}) {
    Ints table, x;
    for (std::int64_t i = 0; i < length; ++i) table.push_back(i * 7919 % 100003 - 50000);
    for (std::int64_t i = -length; i <= length; i += 5) x.push_back(i);
    Ints expected;
    for (std::int64_t i : x) {
      std::int64_t a = std::min(std::max(i, -length / 2), length / 2 - 1);
      expected.push_back(table[static_cast<std::size_t>(a >= 0 ? a : length + a)]);
    }
    CHECK(contents(call_op("lookup", {ints(table), ints(x)})) == expected);
  }
}

}  // namespace taskspec::ops_neurons_test
