// Blocks in chip mode against recorded outputs of a simulator of the chip's primitives, where these are at hand: the
// folder TASKSPEC_GOLDEN, else ../shared/golden. Memory is words of 32 bits, packed as the chip packs them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/guard/paths.hpp"
#include "tests/peers/golden_folder.hpp"
#include "tests/unit/block_cases.hpp"

namespace taskspec::chip_primitives_test {

namespace {

using Json = nlohmann::json;
using Words = std::vector<std::int64_t>;

constexpr Precision codes[] = {Precision::i32, Precision::i8, Precision::u8, Precision::tern};

std::int64_t up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// Elements of memory.
Words decoded(const Json& words, int code) {
  Words values;
  for (const Json& word : words) {
    const auto bits = static_cast<std::uint32_t>(word.get<std::int64_t>());
    if (code == 0) values.push_back(static_cast<std::int32_t>(bits));
    for (int k = 0; k < 4 && (code == 1 || code == 2); ++k) {
      const auto byte = static_cast<std::uint8_t>(bits >> 8 * k);
      values.push_back(code == 1 ? static_cast<std::int8_t>(byte) : byte);
    }
    for (int k = 0; k < 16 && code == 3; ++k) {
      const auto pair = static_cast<int>(bits >> 2 * k & 3);
      values.push_back(pair == 3 ? -1 : pair);
    }
  }
  return values;
}

std::int64_t given(const Json& c, const char* name, std::int64_t none) {
  return c.contains(name) ? c[name].get<std::int64_t>() : none;
}

struct Primitive {
  const Json& c;
  std::int64_t at(const char* name, std::int64_t none = 0) const { return given(c, name, none); }
  int in() const { return static_cast<int>(at("x1_precision")); }
};

// The windows of a case: kernel, strides, pads (one for all sides where only pad_top is given).
BlockShape windows(const Primitive& p, BlockShape shape, Words& pads, Words& strides) {
  shape.iy = p.at("niy", p.at("ny"));
  shape.ix = p.at("nix", p.at("nx"));
  shape.ky = p.at("nky", 1);
  shape.kx = p.at("nkx", 1);
  const std::int64_t top = p.at("pad_top");
  pads = {top, p.at("pad_down", top), p.at("pad_left", top), p.at("pad_right", top)};
  strides = {p.at("stride_y", 1), p.at("stride_x", 1), p.at("dilate_y", 1), p.at("dilate_x", 1)};
  shape.y = (shape.iy + pads[0] + pads[1] - ((shape.ky - 1) * strides[2] + 1)) / strides[0] + 1;
  shape.x = (shape.ix + pads[2] + pads[3] - ((shape.kx - 1) * strides[3] + 1)) / strides[1] + 1;
  return shape;
}

void set_windows(BlockCase& block, const Words& pads, const Words& strides) {
  const char* names[] = {"pad_up", "pad_down", "pad_left", "pad_right"};
  for (std::size_t i = 0; i < 4; ++i) block.set(names[i], pads[i]);
  block.set("stride_y", strides[0]);
  block.set("stride_x", strides[1]);
  if (!block.block().def->find_attribute("dilation_y")) return;
  block.set("dilation_y", strides[2]);
  block.set("dilation_x", strides[3]);
}

void set_bias(BlockCase& block, std::int64_t constant) {
  block.block().bias = BiasKind::constant;
  if (block.block().def->find_attribute("constant_b")) block.set("constant_b", constant);
}

Array array_of(int code, const Extents& extents, const Words& values) {
  std::int64_t count = 1;
  for (std::int64_t e : extents) count *= e;
  return make_array(codes[code], extents, Words(values.begin(), values.begin() + count));
}

// Outputs of a case: channels of each pixel, without what fills its last line.
Words real_channels(const Json& words, int code, std::int64_t channels, std::int64_t pitch) {
  const Words all = decoded(words, code);
  Words kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<std::int64_t>(i) % pitch < channels) kept.push_back(all[i]);
  return kept;
}

using Outcome = std::pair<Words, Words>;  // ours, recorded

Outcome sums(const Primitive& p) {
  const bool is_pool = p.at("avg_pooling_en") == 1;
  const std::int64_t steps[] = {8, 32, 32, 128}, f = up(p.at("nif"), steps[p.in()]);
  Words pads, strides;
  BlockShape shape = windows(p, {.f = f}, pads, strides);
  const std::int64_t n = p.at("nkx") * p.at("nky");
  if (!is_pool) shape = {.y = p.at("niy"), .x = p.at("nix"), .f = f};
  BlockCase block(is_pool ? "CAVG" : "CADD", shape, Precision::i32);
  set_bias(block, p.at("constant_b"));
  const Words in = decoded(p.c["in0"], p.in());
  if (is_pool) {
    set_windows(block, pads, strides);
    block.feed(0, array_of(p.in(), {shape.iy, shape.ix, f}, in));
  } else {
    block.block().branches = static_cast<std::uint16_t>(n);
    const std::int64_t size = shape.y * shape.x * f;
    for (std::int64_t k = 0; k < n; ++k)
      block.feed(static_cast<std::size_t>(k),
                 array_of(p.in(), {size}, Words(in.begin() + k * size, in.begin() + (k + 1) * size)));
  }
  return {integers_of(block.run({})), decoded(p.c["out0"], 0)};
}

Outcome products(const Primitive& p) {
  const std::string prim = p.c["prim"];
  const bool vectors = prim == "P03" && p.at("tensor_en") == 0;
  const BlockShape shape = vectors ? BlockShape{.y = p.at("n_branch"), .x = 1, .f = p.at("nif")}
                                   : BlockShape{.y = p.at("ny"), .x = p.at("nx"), .f = p.at("nif")};
  BlockCase block(prim == "P03" ? "CVVH" : prim == "P43" ? "CAX" : "CVS", shape, Precision::i32);
  set_bias(block, p.at("constant_b"));
  block.feed(0, array_of(p.in(), {shape.y, shape.x, shape.f}, decoded(p.c["in0"], p.in())));
  if (prim == "P03") block.feed(1, array_of(p.in(), {shape.y, shape.x, shape.f}, decoded(p.c["in1"], p.in())));
  if (prim == "P43") block.feed(1, array_of(1, {shape.f}, decoded(p.c["in1"], 1)));
  if (prim == "P83") block.set("constant_a", p.at("constant_a"));
  return {integers_of(block.run({})), decoded(p.c["out0"], 0)};
}

Outcome vector_product(const Primitive& p) {
  const auto weight = static_cast<int>(p.at("x2_precision"));
  const std::int64_t group = weight == 3 ? 128 : 32, r = p.at("nif"), f = p.at("nof");
  const Words memory = decoded(p.c["in1"], weight);
  Words weights(static_cast<std::size_t>(f * r));
  for (std::int64_t o = 0; o < f; ++o)
    for (std::int64_t k = 0; k < r; ++k)
      weights[static_cast<std::size_t>(o * r + k)] =
          memory[static_cast<std::size_t>((o / group * r + k) * group + o % group)];
  BlockCase block("CVM", {.f = f, .r = r}, Precision::i32);
  set_bias(block, p.at("constant_b"));
  block.feed(0, array_of(p.in(), {r}, decoded(p.c["in0"], p.in())));
  block.feed(1, array_of(weight, {f, r}, weights));
  return {integers_of(block.run({})), real_channels(p.c["out0"], 0, f, up(f, group))};
}

// CC: [y][x][channels], weights [group][ky][kx][r][32]. CC2D: [r][y][x], weights [group][r][ky][kx][32].
Outcome convolution(const Primitive& p) {
  const bool is_2d = p.c["prim"] == "P81";
  const std::int64_t r = p.at("nif"), f = p.at("nof");
  Words pads, strides;
  const BlockShape shape = windows(p, {.f = f, .r = r}, pads, strides);
  BlockCase block(is_2d ? "CC2D" : "CC", shape, Precision::i32);
  set_windows(block, pads, strides);
  const std::int64_t line = p.in() == 3 ? 64 : 16;
  const std::int64_t channels = up(r, line), columns = up(shape.ix, 16);
  const Words memory = decoded(p.c["in0"], p.in()), stored = decoded(p.c["in1"], 1);
  Words input, weights;
  for (std::int64_t y = 0; y < shape.iy; ++y)
    for (std::int64_t x = 0; x < shape.ix; ++x)
      for (std::int64_t k = 0; k < r; ++k)
        input.push_back(memory[static_cast<std::size_t>(is_2d ? (k * shape.iy + y) * columns + x
                                                              : (y * shape.ix + x) * channels + k)]);
  for (std::int64_t o = 0; o < f; ++o)
    for (std::int64_t k = 0; k < r; ++k)
      for (std::int64_t y = 0; y < shape.ky; ++y)
        for (std::int64_t x = 0; x < shape.kx; ++x) {
          const std::int64_t group = o / 32 * shape.ky * shape.kx * r;
          const std::int64_t place = is_2d ? (k * shape.ky + y) * shape.kx + x : (y * shape.kx + x) * r + k;
          weights.push_back(stored[static_cast<std::size_t>((group + place) * 32 + o % 32)]);
        }
  block.feed(0, array_of(p.in(), {shape.iy, shape.ix, r}, input));
  block.feed(1, array_of(1, {f, r, shape.ky, shape.kx}, weights));
  return {integers_of(block.run({})), real_channels(p.c["out0"], 0, f, up(f, 32))};
}

Outcome compare(const Primitive& p) {
  const auto out = static_cast<int>(p.at("out_precision"));
  Words pads, strides;
  const BlockShape shape = windows(p, {.f = p.at("nif")}, pads, strides);
  BlockCase block(p.c["prim"] == "P05" ? "CCMPB" : "CCMPS", shape, codes[out]);
  set_windows(block, pads, strides);
  block.set("cmp", p.at("compare_init"));
  block.set("shift", 2 * p.at("bit_shift_num"));
  block.feed(0, array_of(p.in(), {shape.iy, shape.ix, shape.f}, decoded(p.c["in0"], p.in())));
  return {integers_of(block.run({})), decoded(p.c["out0"], out)};
}

Outcome look_up(const Primitive& p) {
  const auto out = static_cast<int>(p.at("x2_precision"));
  const std::int64_t n = p.at("group_num") * p.at("neuron_real_num"), bits = 4 * (p.at("lut_data_width") + 1);
  BlockCase block("CLUT", {.f = n}, codes[out]);
  block.set("lut_dw", bits);
  block.set("shift", 2 * p.at("bit_shift_num"));
  block.feed(0, array_of(p.in(), {n}, decoded(p.c["in0"], p.in())));
  block.feed(1, array_of(out, {std::int64_t{1} << bits}, decoded(p.c["in1"], out)));
  Words recorded = decoded(p.c["out0"], out);
  recorded.resize(static_cast<std::size_t>(n));
  return {integers_of(block.run({})), recorded};
}

// Moves of the soma: rows, converted as a compare converts, joined or taken apart.
Words converted_rows(const Primitive& p, const char* name, std::int64_t length, std::int64_t rows) {
  const auto out = static_cast<int>(p.at("out_precision", p.in()));
  BlockCase block("CCMPB", {.f = length * rows}, codes[out]);
  block.set("cmp", out == 0 ? INT32_MIN : out == 3 ? -1 : -128);
  block.set("shift", 2 * p.at("bit_shift_num"));
  block.feed(0, array_of(p.in(), {length * rows}, decoded(p.c[name], p.in())));
  return integers_of(block.run({}));
}

Outcome merge(const Primitive& p) {
  const auto out = static_cast<int>(p.at("out_precision", p.in()));
  const std::int64_t a = p.at("length_in"), b = p.at("length_ciso");
  const Words in = converted_rows(p, "in0", a, p.at("num_in")), more = converted_rows(p, "in1", b, p.at("num_ciso"));
  Words joined;
  for (std::int64_t row = 0; row < p.at("num_out"); ++row) {
    const std::int64_t i = row % p.at("num_in") * a, j = row % p.at("num_ciso") * b;
    joined.insert(joined.end(), in.begin() + i, in.begin() + i + a);
    joined.insert(joined.end(), more.begin() + j, more.begin() + j + b);
  }
  return {joined, decoded(p.c["out0"], out)};
}

Outcome part(const Primitive& p) {
  const auto out = static_cast<int>(p.at("out_precision", p.in()));
  const std::int64_t length = p.at("length_in"), first = p.at("length_out"), second = p.at("length_ciso");
  const Words in = converted_rows(p, "in0", length, p.at("num_in"));
  Words ours, recorded = decoded(p.c["out0"], out);
  for (auto [begin, size] : {std::pair{std::int64_t{0}, first}, std::pair{first, second}})
    for (std::int64_t row = 0; row < p.at("num_in"); ++row)
      ours.insert(ours.end(), in.begin() + row * length + begin, in.begin() + row * length + begin + size);
  const Words rest = decoded(p.c["out1"], out);
  recorded.insert(recorded.end(), rest.begin(), rest.end());
  return {ours, recorded};
}

Outcome outcome(const Primitive& p) {
  const std::string prim = p.c["prim"];
  if (prim == "P02") return sums(p);
  if (prim == "P03" || prim == "P43" || prim == "P83") return products(p);
  if (prim == "P04") return vector_product(p);
  if (prim == "P05" || prim == "P25") return compare(p);
  if (prim == "P06") return merge(p);
  if (prim == "P26") return part(p);
  if (prim == "P07") return look_up(p);
  return convolution(p);
}

}  // namespace

TEST_CASE("recorded primitives of the chip [golden-prims]") {
  std::ifstream file(golden_folder() / "chip_primitives.json");
  if (!file) {
    MESSAGE("skipped: no chip_primitives.json in " << golden_folder().string());
    return;
  }
  const Json cases = Json::parse(file);
  int passed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    CAPTURE(cases[i]["prim"].get<std::string>());
    const auto [ours, recorded] = outcome({cases[i]});
    CHECK(ours == recorded);
    passed += ours == recorded ? 1 : 0;
  }
  MESSAGE(passed << " of " << cases.size() << " primitives");
}

namespace {

// A configuration of the recorded neurons as a CLIF with its states.
BlockCase neurons(const Json& c) {
  const std::int64_t n = c["neurons"], type = c["fire_type"];
  BlockCase block("CLIF", {.f = n},
                  type == 5               ? Precision::tern
                  : type < 2 || type == 6 ? Precision::i32
                                          : Precision::i8);
  const std::pair<const char*, const char*> names[] = {{"vth0", "Vth0"},
                                                       {"vth_adpt_en", "Vth_adpt_en"},
                                                       {"vth_alpha", "Vth_alpha"},
                                                       {"vth_beta", "Vth_beta"},
                                                       {"vth_incre", "Vth_Incre"},
                                                       {"vr", "VR"},
                                                       {"vl", "VL"},
                                                       {"vleaky_adpt_en", "Vleaky_adpt_en"},
                                                       {"vleaky_alpha", "Vleaky_alpha"},
                                                       {"dv", "dV"},
                                                       {"vleaky_beta", "Vleaky_beta"},
                                                       {"ref_len", "Ref_len"},
                                                       {"tw_len", "Tw_len"},
                                                       {"tw_en", "Tw_en"},
                                                       {"vinit", "Vinit"},
                                                       {"vm_const", "VM"},
                                                       {"reset_mode", "reset_mode"},
                                                       {"fire_type", "fire_type"},
                                                       {"seed", "seed"}};
  for (auto [ours, theirs] : names) block.set(ours, static_cast<std::int32_t>(c[theirs].get<std::int64_t>()));
  block.set("shift", 2 * c["bit_shift_num"].get<std::int64_t>());
  block.set("vtheta_const_en", 0);
  Words v, count, theta = c["Vtheta_init"].get<Words>();
  for (const Json& word : c["V_ref_init"]) {
    const auto bits = static_cast<std::uint32_t>(word.get<std::int64_t>());
    v.push_back(static_cast<std::int32_t>(bits << 4) >> 4);
    count.push_back(bits >> 28);
  }
  block.feed(0, Array::make({Precision::i32, {n}}), true);
  block.feed(1, make_array(Precision::i28, {n}, v));
  block.feed(2, make_array(Precision::u4, {n}, count));
  block.feed(3, make_array(Precision::i28, {n}, theta));
  return block;
}

// Fire type 2 was recorded with one more bit, cut towards zero.
Words as_recorded(const Json& c, const Words& v1) {
  Words out;
  const std::int64_t by = std::int64_t{1} << (2 * c["bit_shift_num"].get<std::int64_t>() + 1);
  for (std::int64_t v : v1) out.push_back(std::clamp<std::int64_t>(v / by, -128, 127));
  return out;
}

bool same_step(const Json& c, const Json& step, const ExactEngine& engine, const Array& out, const Words& charged) {
  const std::int64_t type = c["fire_type"];
  Words recorded = decoded(step["out_words"], type < 2 || type == 6 ? 0 : type == 5 ? 3 : 1);
  recorded.resize(static_cast<std::size_t>(out.elements()));
  const Words ours = type == 2 ? as_recorded(c, charged) : integers_of(out);
  Words words;
  const Words v = integers_of(engine.value(BlockId(2))), count = integers_of(engine.value(BlockId(3)));
  for (std::size_t i = 0; i < v.size(); ++i)
    words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(count[i]) << 28 |
                                              (static_cast<std::uint32_t>(v[i]) & 0xfffffffU)));
  CHECK(ours == recorded);
  CHECK(words == step["V_ref"].get<Words>());
  CHECK(integers_of(engine.value(BlockId(4))) == step["Vtheta"].get<Words>());
  return ours == recorded && words == step["V_ref"].get<Words>();
}

}  // namespace

TEST_CASE("recorded neurons of the chip [golden-prims]") {
  std::ifstream file(golden_folder() / "chip_lif.json");
  if (!file) {
    MESSAGE("skipped: no chip_lif.json in " << golden_folder().string());
    return;
  }
  int passed = 0;
  const Json cases = Json::parse(file);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Json& c = cases[i];
    CAPTURE(i);
    BlockCase block = neurons(c);
    ExactEngine engine = block.engine({});
    // Beside it the same neurons that show V1, for what was recorded otherwise.
    BlockCase shows = neurons(c);
    shows.set("fire_type", 0);
    shows.block().precision = Precision::i32;
    ExactEngine charged = shows.engine({});
    for (const Json& step : c["steps"]) {
      const Array u = make_array(Precision::i32, {c["neurons"].get<std::int64_t>()}, step["Uin"].get<Words>());
      const Array out = engine.run(std::vector{u})[0], v1 = charged.run(std::vector{u})[0];
      passed += same_step(c, step, engine, out, integers_of(v1)) ? 1 : 0;
    }
  }
  MESSAGE(passed << " of 96 steps of neurons");
}

}  // namespace taskspec::chip_primitives_test
