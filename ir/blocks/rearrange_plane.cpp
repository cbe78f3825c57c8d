// Rearrangements of the plane: of rows (y) and columns (x), with all channels of a place going along.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "ir/base/text.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

struct Plane {
  std::int64_t rows, columns, channels;
};

Plane plane_of(const Extents& extents) { return {extents[0], extents[1], extents.size() > 2 ? extents[2] : 1}; }

Extents with_plane(Extents extents, std::int64_t rows, std::int64_t columns) {
  extents[0] = rows;
  extents[1] = columns;
  return extents;
}

// What each of them asks first.
Diags check_plane(const RearrangeCall& call, std::string_view name, std::size_t least, std::size_t most,
                  std::string_view what) {
  if (call.source.size() != 2 && call.source.size() != 3)
    return does_not_fit(call, std::string(name) + " moves rows and columns, and " + extents_text(call.source) +
                                  " has no [y, x] or [y, x, f]");
  return check_count(call, least, most, std::string(name) + " takes " + std::string(what));
}

struct Spot {
  std::int64_t y, x;
};

// Row by row of the target: from(spot) is where in the source it comes from, or nothing. Channels go along.
template <class From>
IndexMap plane_map(const Extents& source, const Extents& target, From from) {
  const Plane in = plane_of(source), out = plane_of(target);
  std::vector<std::int32_t> places;
  places.reserve(static_cast<std::size_t>(places_of(target)));
  for (std::int64_t y = 0; y < out.rows; ++y)
    for (std::int64_t x = 0; x < out.columns; ++x) {
      const std::optional<Spot> spot = from(Spot{y, x});
      for (std::int64_t f = 0; f < out.channels; ++f)
        places.push_back(!spot ? -1 : static_cast<std::int32_t>((spot->y * in.columns + spot->x) * in.channels + f));
    }
  return IndexMap::table(source, target, std::move(places));
}

// The other way round: to(spot) is where a place of the source goes. What nothing goes to is a hole.
template <class To>
IndexMap forward_map(const Extents& source, const Extents& target, To to) {
  const Plane in = plane_of(source), out = plane_of(target);
  std::vector<std::int32_t> places(static_cast<std::size_t>(places_of(target)), -1);
  for (std::int64_t y = 0; y < in.rows; ++y)
    for (std::int64_t x = 0; x < in.columns; ++x) {
      const Spot spot = to(Spot{y, x});
      for (std::int64_t f = 0; f < in.channels; ++f)
        places[static_cast<std::size_t>((spot.y * out.columns + spot.x) * out.channels + f)] =
            static_cast<std::int32_t>((y * in.columns + x) * in.channels + f);
    }
  return IndexMap::table(source, target, std::move(places));
}

bool is_inside(const Plane& plane, Spot spot) {
  return spot.y >= 0 && spot.y < plane.rows && spot.x >= 0 && spot.x < plane.columns;
}

std::int64_t modulo(std::int64_t value, std::int64_t period) { return (value % period + period) % period; }

// ---- shift -----------------------------------------------------------------------------------------

Result<std::vector<std::int64_t>> shift_numbers(std::span<const Value> given, Span span) {
  const Result<std::vector<std::int64_t>> by = integer_arguments(given.first(4), span);
  if (!by) return by.diags();
  const auto [left, right, up, down] = std::array{(*by)[0], (*by)[1], (*by)[2], (*by)[3]};
  return std::vector<std::int64_t>{down - up, right - left, given[4].boolean()};
}

std::string shift_text(std::span<const std::int64_t> numbers) {
  std::vector<std::string> parts;
  auto add = [&](std::int64_t by, std::string_view back, std::string_view on) {
    if (by != 0) parts.push_back(std::string(by < 0 ? back : on) + ": " + std::to_string(std::abs(by)));
  };
  if (!numbers.empty()) add(numbers[0], "up", "down");
  if (numbers.size() > 1) add(numbers[1], "left", "right");
  if (numbers.size() > 2 && numbers[2] != 0) parts.push_back("wrap: true");
  return joined(parts, ", ");
}

Result<Extents> shift_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "shift", 2, 3, "how far in y, in x, and whether it wraps"); diags.has_errors())
    return diags;
  if (call.numbers.size() == 3 && call.numbers[2] != 0 && call.numbers[2] != 1)
    return does_not_fit(call, "whether a shift wraps is 0 or 1, not " + std::to_string(call.numbers[2]));
  return call.source;
}

IndexMap shift_map(const RearrangeCall& call, const Extents& target) {
  const Plane plane = plane_of(call.source);
  const bool wraps = call.numbers.size() == 3 && call.numbers[2] != 0;
  return plane_map(call.source, target, [&](Spot at) -> std::optional<Spot> {
    const Spot from{at.y - call.numbers[0], at.x - call.numbers[1]};
    if (wraps) return Spot{modulo(from.y, plane.rows), modulo(from.x, plane.columns)};
    return is_inside(plane, from) ? std::optional(from) : std::nullopt;
  });
}

// ---- rotate ----------------------------------------------------------------------------------------

Result<Extents> rotate_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "rotate", 1, 1, "one angle"); diags.has_errors()) return diags;
  if (call.numbers[0] % 90 != 0)
    return does_not_fit(call, "rotate turns by a multiple of 90 degrees, not by " + std::to_string(call.numbers[0]));
  const Plane plane = plane_of(call.source);
  return call.numbers[0] % 180 == 0 ? call.source : with_plane(call.source, plane.columns, plane.rows);
}

IndexMap rotate_map(const RearrangeCall& call, const Extents& target) {
  const auto [rows, columns, channels] = plane_of(call.source);
  const std::int64_t row = columns * channels, last_row = (rows - 1) * row, last = (columns - 1) * channels;
  auto turned = [&](std::int64_t offset, std::int64_t by_y, std::int64_t by_x) {
    Extents strides{by_y, by_x};
    if (target.size() == 3) strides.push_back(1);
    return IndexMap::affine(call.source, target, offset, std::move(strides));
  };
  switch (modulo(call.numbers[0], 360)) {
    case 90:
      return turned(last, -channels, row);
    case 180:
      return turned(last_row + last, -row, -channels);
    case 270:
      return turned(last_row, channels, -row);
  }
  return turned(0, row, channels);
}

Extents rotate_before(std::span<const std::int64_t> numbers, const Extents& target) {
  if (target.size() < 2 || numbers.size() != 1) return {};
  return numbers[0] % 180 == 0 ? target : with_plane(target, target[1], target[0]);
}

// ---- scale -----------------------------------------------------------------------------------------

std::string scale_text(std::span<const std::int64_t> numbers) {
  if (numbers.size() != 2) return plain_arguments(numbers);
  return "y: " + std::to_string(numbers[0]) + ", x: " + std::to_string(numbers[1]);
}

Result<Extents> scale_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "scale", 2, 2, "a factor for y and one for x"); diags.has_errors()) return diags;
  if (call.numbers[0] < 1 || call.numbers[1] < 1)
    return does_not_fit(call,
                        "scale repeats rows and columns, so its factors are 1 or more; a pooling block makes less");
  const Plane plane = plane_of(call.source);
  return bounded(call, with_plane(call.source, plane.rows * call.numbers[0], plane.columns * call.numbers[1]));
}

IndexMap scale_map(const RearrangeCall& call, const Extents& target) {
  return plane_map(call.source, target, [&](Spot at) {
    return std::optional(Spot{at.y / call.numbers[0], at.x / call.numbers[1]});
  });
}

Extents scale_before(std::span<const std::int64_t> numbers, const Extents& target) {
  if (target.size() < 2 || numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 1) return {};
  if (target[0] % numbers[0] != 0 || target[1] % numbers[1] != 0) return {};
  return with_plane(target, target[0] / numbers[0], target[1] / numbers[1]);
}

// ---- shear, affine ---------------------------------------------------------------------------------

// x' = xx x + xy y + x0, y' = yx x + yy y + y0
struct Affinity {
  std::int64_t xx, xy, x0, yx, yy, y0;
  Spot operator()(Spot at) const { return {yx * at.x + yy * at.y + y0, xx * at.x + xy * at.y + x0}; }
};

// Two places that come to lie on one another are apart by something that the matrix makes nothing of: none if its
// determinant is not 0, else multiples of one vector, which may be longer than the plane.
bool has_collision(const Affinity& m, const Plane& plane) {
  if (m.xx * m.yy != m.xy * m.yx) return false;
  const bool by_first = m.xx != 0 || m.xy != 0;
  std::int64_t dx = by_first ? m.xy : m.yy, dy = by_first ? m.xx : m.yx;
  if (dx == 0 && dy == 0) return plane.rows > 1 || plane.columns > 1;
  const std::int64_t divisor = std::gcd(dx, dy);
  return std::abs(dy / divisor) < plane.rows && std::abs(dx / divisor) < plane.columns;
}

struct Reach {
  Spot least, most;
};

Reach reach_of(const Affinity& m, const Plane& plane) {
  const Spot corners[] = {m({0, 0}), m({0, plane.columns - 1}), m({plane.rows - 1, 0}),
                          m({plane.rows - 1, plane.columns - 1})};
  Reach reach{corners[0], corners[0]};
  for (const Spot corner : corners) {
    reach.least = {std::min(reach.least.y, corner.y), std::min(reach.least.x, corner.x)};
    reach.most = {std::max(reach.most.y, corner.y), std::max(reach.most.x, corner.x)};
  }
  return reach;
}

constexpr std::string_view collides = " puts several places of the source onto one";

std::string shear_text(std::span<const std::int64_t> numbers) {
  if (numbers.size() != 2) return plain_arguments(numbers);
  return "x: " + std::to_string(numbers[0]) + ", y: " + std::to_string(numbers[1]);
}

// So that what goes towards lower places still begins within the target.
Affinity sheared(std::span<const std::int64_t> numbers, const Plane& plane) {
  const std::int64_t a = numbers[0], b = numbers[1];
  return {1, a, a < 0 ? -a * (plane.rows - 1) : 0, b, 1, b < 0 ? -b * (plane.columns - 1) : 0};
}

Result<Extents> shear_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "shear", 2, 3, "a factor for x and one for y"); diags.has_errors()) return diags;
  if (call.numbers.size() == 3 && call.numbers[2] != 0)
    return does_not_fit(call,
                        "a shear that wraps has no meaning: what it moves out of the plane is kept, with zeros around");
  const Plane plane = plane_of(call.source);
  if (has_collision(sheared(call.numbers, plane), plane))
    return does_not_fit(call, "shear(" + shear_text(call.numbers) + ")" + std::string(collides));
  return bounded(call, with_plane(call.source, plane.rows + std::abs(call.numbers[1]) * plane.columns,
                                  plane.columns + std::abs(call.numbers[0]) * plane.rows));
}

IndexMap shear_map(const RearrangeCall& call, const Extents& target) {
  return forward_map(call.source, target, sheared(call.numbers, plane_of(call.source)));
}

Affinity affinity(std::span<const std::int64_t> n) { return {n[0], n[1], n[2], n[3], n[4], n[5]}; }

Result<Extents> affine_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "affine", 6, 6, "a matrix of 2 rows and 3 columns"); diags.has_errors())
    return diags;
  const Plane plane = plane_of(call.source);
  if (has_collision(affinity(call.numbers), plane))
    return does_not_fit(call, "affine(" + plain_arguments(call.numbers) + ")" + std::string(collides));
  const auto [least, most] = reach_of(affinity(call.numbers), plane);
  // What is wanted may be larger: zeros around.
  const bool is_wanted = call.wanted.size() == call.source.size();
  const Extents target =
      with_plane(call.source, is_wanted ? call.wanted[0] : most.y + 1, is_wanted ? call.wanted[1] : most.x + 1);
  if (least.y < 0 || least.x < 0 || most.y >= target[0] || most.x >= target[1])
    return does_not_fit(call, "affine(" + plain_arguments(call.numbers) + ") of " + extents_text(call.source) +
                                  " reaches from (" + std::to_string(least.y) + ", " + std::to_string(least.x) +
                                  ") to (" + std::to_string(most.y) + ", " + std::to_string(most.x) + "), outside " +
                                  extents_text(target));
  return bounded(call, target);
}

IndexMap affine_map(const RearrangeCall& call, const Extents& target) {
  return forward_map(call.source, target, affinity(call.numbers));
}

// ---- project ---------------------------------------------------------------------------------------

__extension__ using Wide = __int128;  // products of three numbers of 32 bits
using Matrix = std::array<std::int64_t, 9>;

// The inverse but for a factor, which a projection does not feel.
std::array<Wide, 9> adjugate(const Matrix& m) {
  auto minor = [&](int a, int b, int c, int d) { return Wide{m[a]} * m[d] - Wide{m[b]} * m[c]; };
  return {minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5), minor(5, 3, 8, 6), minor(0, 2, 6, 8),
          minor(2, 0, 5, 3), minor(3, 4, 6, 7), minor(1, 0, 7, 6), minor(0, 1, 3, 4)};
}

Matrix matrix_of(std::span<const std::int64_t> numbers) {
  Matrix matrix{};
  std::ranges::copy(numbers, matrix.begin());
  return matrix;
}

// The integer that is nearest to a fraction, the upper one of two: floor(a / b + 1/2).
Wide nearest_integer(Wide a, Wide b) {
  if (b < 0) a = -a, b = -b;
  const Wide doubled = 2 * a + b, by = 2 * b;
  return doubled / by - (doubled % by < 0 ? 1 : 0);
}

Result<Extents> project_target(const RearrangeCall& call) {
  if (Diags diags = check_plane(call, "project", 9, 9, "a matrix of 3 rows and 3 columns"); diags.has_errors())
    return diags;
  const Matrix m = matrix_of(call.numbers);
  const std::array<Wide, 9> inverse = adjugate(m);
  if (m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6] == 0)
    return does_not_fit(call,
                        "project(" + plain_arguments(call.numbers) + ") flattens the plane: its determinant is 0");
  const bool is_wanted = call.wanted.size() == call.source.size();
  return is_wanted ? with_plane(call.source, call.wanted[0], call.wanted[1]) : call.source;
}

IndexMap project_map(const RearrangeCall& call, const Extents& target) {
  const Plane plane = plane_of(call.source);
  const std::array<Wide, 9> back = adjugate(matrix_of(call.numbers));
  return plane_map(call.source, target, [&](Spot at) -> std::optional<Spot> {
    auto row = [&](std::size_t r) { return back[r] * at.x + back[r + 1] * at.y + back[r + 2]; };
    const Wide z = row(6);
    if (z == 0) return std::nullopt;
    const Wide x = nearest_integer(row(0), z), y = nearest_integer(row(3), z);
    if (x < 0 || x >= plane.columns || y < 0 || y >= plane.rows) return std::nullopt;
    return Spot{static_cast<std::int64_t>(y), static_cast<std::int64_t>(x)};
  });
}

constexpr Operand shift_operands[] = {{.name = "left", .kind = OperandKind::integer, .standard = 0},
                                      {.name = "right", .kind = OperandKind::integer, .standard = 0},
                                      {.name = "up", .kind = OperandKind::integer, .standard = 0},
                                      {.name = "down", .kind = OperandKind::integer, .standard = 0},
                                      {.name = "wrap", .kind = OperandKind::boolean, .standard = false}};
constexpr Operand rotate_operands[] = {{.name = "degrees", .kind = OperandKind::integer}};
constexpr Operand scale_operands[] = {{.name = "y", .kind = OperandKind::integer, .standard = 1},
                                      {.name = "x", .kind = OperandKind::integer, .standard = 1}};
constexpr Operand shear_operands[] = {{.name = "x", .kind = OperandKind::integer, .standard = 0},
                                      {.name = "y", .kind = OperandKind::integer, .standard = 0}};
constexpr Operand matrix_operands[] = {{.name = "matrix", .kind = OperandKind::integer, .variadic = true}};

}  // namespace

extern constinit const RearrangeDef rearrange_shift{
    .name = "shift",
    .label = "SHIFT",
    .number = 4,
    .doc =
        "Moves rows and columns. What leaves is lost and zeros come in, or, with `wrap: true`, it comes in at the "
        "other end. Its numbers: how far towards higher y, higher x, and 1 where it wraps. "
        "`shift(left: 1, up: 2, wrap: true)`.",
    .operands = shift_operands,
    .numbers = shift_numbers,
    .arguments = shift_text,
    .target = shift_target,
    .map = shift_map,
    .before = same_extents};

extern constinit const RearrangeDef rearrange_rotate{
    .name = "rotate",
    .label = "ROTATE",
    .number = 3,
    .doc = "Turns the plane counter-clockwise by a multiple of 90 degrees, its number. `rotate(90)`.",
    .operands = rotate_operands,
    .numbers = integer_arguments,
    .arguments = plain_arguments,
    .target = rotate_target,
    .map = rotate_map,
    .before = rotate_before};

extern constinit const RearrangeDef rearrange_scale{
    .name = "scale",
    .label = "SCALE",
    .number = 5,
    .doc = "Repeats each row and each column; its numbers are how often, for y and for x. `scale(y: 2, x: 2)`.",
    .operands = scale_operands,
    .numbers = integer_arguments,
    .arguments = scale_text,
    .target = scale_target,
    .map = scale_map,
    .before = scale_before};

extern constinit const RearrangeDef rearrange_shear{
    .name = "shear",
    .label = "SHEAR",
    .number = 6,
    .doc =
        "Place (x, y) goes to (x + a y, y + b x), with zeros around; [m, n] becomes [m + |b| n, n + |a| m], and what "
        "goes towards lower places begins at 0. Its numbers are a and b. `shear(x: 1)`.",
    .operands = shear_operands,
    .numbers = integer_arguments,
    .arguments = shear_text,
    .target = shear_target,
    .map = shear_map,
    .before = unknown_extents};

extern constinit const RearrangeDef rearrange_affine{
    .name = "affine",
    .label = "AFFINE",
    .number = 8,
    .doc =
        "Place (x, y) goes to (a x + b y + c, d x + e y + f), with zeros between and around, in the shape at the "
        "other end. Its numbers are a to f. `affine(2, 0, 0, 0, 2, 0)` puts a zero between any two.",
    .operands = matrix_operands,
    .numbers = integer_arguments,
    .arguments = plain_arguments,
    .target = affine_target,
    .map = affine_map,
    .before = unknown_extents};

extern constinit const RearrangeDef rearrange_project{
    .name = "project",
    .label = "PROJECT",
    .number = 9,
    .doc =
        "Place (x, y) goes to (u / w, v / w), where (u, v, w) is a matrix times (x, y, 1): each place of the target "
        "takes what is nearest to where it comes from, zero where that lies outside. Its numbers are the 3 x 3 of "
        "the matrix, row by row. `project(1, 0, 0, 0, 1, 0, 0, 0, 1)`.",
    .operands = matrix_operands,
    .numbers = integer_arguments,
    .arguments = plain_arguments,
    .target = project_target,
    .map = project_map,
    .before = unknown_extents};

}  // namespace taskspec
