// Makes the picture of the lessons: an evening at a lake, computed, so that it is ours to give away.
// Like a photograph it has smooth gradients, hard edges, fine textures and a little grain.
//
//   g++ -std=c++20 -O2 make_photo.cpp -o make_photo && ./make_photo photo.npy
//
// The file is u8[240, 320, 3]; save(load(u8[_, _, 3], "photo.npy"), "photo.png") makes the picture of it.
// Coordinates: x from 0 to 4/3 and y from 0 to 1, downwards.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr double pi = 3.14159265358979;

// ---- colours and noise

struct Colour {
  double r = 0, g = 0, b = 0;
};
Colour operator+(Colour a, Colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
Colour operator*(Colour a, double s) { return {a.r * s, a.g * s, a.b * s}; }
Colour mix(Colour a, Colour b, double t) { return a * (1 - t) + b * t; }

// 0 below a, 1 above b, smooth between.
double step(double a, double b, double x) {
  double t = std::clamp((x - a) / (b - a), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double hash(std::int64_t x, std::int64_t y) {
  auto h = static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(y) * 0xc2b2ae3d27d4eb4fu;
  h ^= h >> 29, h *= 0xbf58476d1ce4e5b9u, h ^= h >> 32, h *= 0x94d049bb133111ebu, h ^= h >> 29;
  return static_cast<double>(h >> 11) * 0x1p-53;
}

// Random values at integer points, smooth between: 0..1.
double noise(double x, double y) {
  double fx = std::floor(x), fy = std::floor(y), tx = step(0, 1, x - fx), ty = step(0, 1, y - fy);
  auto ix = static_cast<std::int64_t>(fx), iy = static_cast<std::int64_t>(fy);
  double top = std::lerp(hash(ix, iy), hash(ix + 1, iy), tx);
  return std::lerp(top, std::lerp(hash(ix, iy + 1), hash(ix + 1, iy + 1), tx), ty);
}

// Noise of several sizes on top of each other, as mountains and clouds have it: 0..1.
double rough(double x, double y, int octaves) {
  double sum = 0, weight = 0.5, total = 0;
  for (int i = 0; i < octaves; ++i, weight /= 2, x = x * 2 + 17.3, y = y * 2 + 9.1)
    sum += weight * noise(x, y), total += weight;
  return sum / total;
}

// ---- far away

constexpr double sun_x = 0.80, sun_y = 0.33, shore = 0.585;

Colour sky(double x, double y) {
  Colour high{0.19, 0.38, 0.68}, middle{0.56, 0.72, 0.87}, low{1.0, 0.83, 0.62};
  Colour colour = mix(mix(high, middle, step(0, 0.34, y)), low, step(0.16, 0.56, y) * 0.95);
  double distance = std::hypot(x - sun_x, y - sun_y);
  colour = mix(colour, {1.0, 0.88, 0.62}, 0.75 * std::exp(-distance * 5.5));
  colour = mix(colour, {1.0, 0.97, 0.86}, step(0.042, 0.037, distance));
  // Clouds: flat below, thinner towards the zenith, bright on the side of the sun.
  double warp = rough(x * 2, y * 4, 3) * 0.6;
  auto density = [&](double cx, double cy) { return rough(cx * 2.6 + warp, cy * 8.5 + warp, 5); };
  double cover = step(0.52, 0.70, density(x, y)) * step(0.0, 0.12, y) * step(0.47, 0.30, y);
  double light = std::clamp(0.55 + 3.0 * (density(x, y) - density(x + 0.03, y + 0.012)), 0.0, 1.0);
  return mix(colour, mix({0.66, 0.62, 0.70}, {1.0, 0.96, 0.90}, light), cover * 0.9);
}

// Height of a ridge line; `sharp` makes peaks instead of hills.
double ridge(double x, double frequency, double seed, bool sharp) {
  double height = 0, weight = 0.55;
  for (int i = 0; i < 6; ++i, weight *= 0.48, frequency *= 2.07) {
    double n = noise(x * frequency + seed, seed * 3 + i);
    height += weight * (sharp ? 1 - std::fabs(2 * n - 1) : n);
  }
  return height;
}

Colour mountain(double x, double y, double top) {
  // Light falls from the right: what rises to the left lies in the shade.
  double slope = ridge(x + 0.012, 2.6, 4.2, true) - ridge(x - 0.012, 2.6, 4.2, true);
  double facets = rough(x * 26 - y * 30, y * 22 + x * 8, 4) - 0.5;
  double light = std::clamp(0.5 - slope * 2.2 + facets * 1.5, 0.0, 1.0);
  Colour rock = mix({0.27, 0.30, 0.42}, {0.66, 0.58, 0.56}, light);
  double snow_line = 0.40 + (rough(x * 22, y * 30, 3) - 0.5) * 0.13;
  Colour snow = mix({0.56, 0.63, 0.80}, {1.0, 0.95, 0.90}, light);
  Colour colour = mix(rock, snow, step(0.012, -0.012, y - snow_line) * step(-0.003, 0.007, y - top));
  return mix(colour, {0.80, 0.76, 0.78}, step(0.36, 0.60, y) * 0.72);  // haze in the valley
}

Colour forest(double x, double y, double top, Colour dark, Colour light) {
  double crowns = rough(x * 70, y * 95, 3), patches = rough(x * 6, y * 12, 3);
  double shine = std::clamp(1.7 * (crowns - 0.5) + 0.5 + 1.0 * (patches - 0.5), 0.0, 1.0);
  return mix(dark, light, shine * step(0.0, 0.014, y - top + 0.006));
}

// Sky, mountains and the woods behind the lake.
Colour background(double x, double y) {
  double peaks = 0.60 - 0.34 * ridge(x, 2.6, 4.2, true);
  double hills = 0.605 - 0.20 * ridge(x, 1.9, 11.7, false) - 0.006 * noise(x * 90, 1);
  double woods = 0.600 - 0.05 * ridge(x, 3.0, 23.1, false) - 0.022 * std::pow(noise(x * 62, 5), 2);
  if (y > woods) return forest(x, y, woods, {0.07, 0.14, 0.12}, {0.25, 0.34, 0.18});
  if (y > hills) return mix(forest(x, y, hills, {0.19, 0.28, 0.28}, {0.44, 0.50, 0.33}), {0.86, 0.78, 0.70}, 0.22);
  if (y > peaks) return mountain(x, y, peaks);
  return sky(x, y);
}

// ---- the lake and the meadow

Colour lake(double x, double y) {
  double depth = (y - shore) / 0.13;
  double ripple = (rough(x * 9, y * 130, 3) - 0.5) * 0.05 * (0.25 + depth);
  Colour mirrored =
      background(x + ripple * 0.3, std::clamp(2 * shore - y * 1.0 - std::fabs(ripple), 0.0, shore - 0.001));
  Colour colour = mix(mirrored, {0.16, 0.30, 0.42}, 0.22 + 0.25 * step(0.3, 1.2, depth));
  double glint = step(0.60, 0.78, rough(x * 16, y * 210, 3)) * std::exp(-std::pow((x - sun_x) * 7, 2));
  return mix(colour, {1.0, 0.90, 0.68}, 0.85 * glint);
}

double meadow_top(double x) { return 0.70 - 0.045 * std::cos(x * 2.6 + 0.4) + 0.006 * noise(x * 34, 3); }

double path_middle(double y) { return 0.47 + 0.12 * std::sin((y - 0.74) * 7.5) + (y - 0.74) * 0.55; }

Colour flowers(Colour grass, double x, double y, double near) {
  double size = 0.011 + 0.016 * near;
  auto cx = static_cast<std::int64_t>(std::floor(x / size)), cy = static_cast<std::int64_t>(std::floor(y / size * 1.5));
  double kind = hash(cx + 900, cy + 70);
  double dx = x / size - static_cast<double>(cx) - 0.3 - 0.4 * hash(cx, cy + 5);
  double dy = y / size * 1.5 - static_cast<double>(cy) - 0.5;
  if (kind > 0.17 * step(0.30, 0.62, rough(x * 5, y * 7, 2)) || std::hypot(dx, dy) > 0.24) return grass;
  if (kind < 0.05) return {0.93, 0.27, 0.20};
  return kind < 0.11 ? Colour{0.98, 0.86, 0.30} : Colour{0.96, 0.94, 0.92};
}

Colour meadow(double x, double y) {
  double near = std::clamp((y - 0.64) / 0.36, 0.0, 1.0);  // 0 at the shore, 1 at the photographer's feet
  double far = 1 / (0.20 + near);                         // the ground in perspective: tufts shrink with it
  double tufts = rough((x - 0.67) * far * 34, far * 21, 4), blades = noise(x * 190, y * 70 + 3 * noise(x * 40, 8));
  double swards = rough((x - 0.67) * far * 5, far * 4, 3);
  double light = 0.5 + 1.25 * (tufts - 0.5) + 0.55 * (blades - 0.5) * step(0.1, 0.8, near) + 0.9 * (swards - 0.5);
  Colour grass = mix({0.13, 0.23, 0.07}, {0.57, 0.63, 0.21}, std::clamp(light, 0.0, 1.0));
  grass = mix({0.62, 0.60, 0.30}, grass, step(0.0, 0.25, near));  // dry towards the shore
  double away = std::fabs(x - path_middle(y)) - (rough(x * 30, y * 40, 2) - 0.5) * 0.03;
  double width = 0.012 + 0.085 * (y - 0.73);
  Colour earth = mix({0.50, 0.38, 0.25}, {0.82, 0.69, 0.50}, rough(x * 60, y * 110, 3));
  if (y > 0.735) return mix(earth, flowers(grass, x, y, near), step(width, width + 0.012, away));
  return grass;
}

// ---- what people built

Colour wall(double x, double y) {
  double plank = y * 90, seam = plank - std::floor(plank);
  double grain = rough(x * 14, std::floor(plank) * 3.1 + y * 40, 3);
  return mix({0.70, 0.55, 0.38}, {0.95, 0.83, 0.62}, grain) * (seam < 0.16 ? 0.72 : 1.0);
}

Colour window(double x, double y, double left, double top, double width, double height) {
  double u = (x - left) / width, v = (y - top) / height;
  bool frame = u < 0.13 || u > 0.87 || v < 0.10 || v > 0.90 || std::fabs(u - 0.5) < 0.06 || std::fabs(v - 0.45) < 0.05;
  if (frame) return {0.96, 0.94, 0.90};
  return mix({0.20, 0.26, 0.36}, {0.98, 0.80, 0.46}, step(0.2, 1.3, u + 0.6 * (1 - v)));
}

Colour roof(double along, double down) {
  double row = down * 9, part = row - std::floor(row);
  double tile = along * 22 + (static_cast<std::int64_t>(std::floor(row)) % 2 ? 0.5 : 0.0);
  double tint = hash(static_cast<std::int64_t>(std::floor(tile)), static_cast<std::int64_t>(std::floor(row)));
  bool gap = tile - std::floor(tile) < 0.14;
  return mix({0.48, 0.16, 0.11}, {0.78, 0.33, 0.22}, tint) * (part > 0.80 ? 0.62 : gap ? 0.78 : 1.0);
}

constexpr double house_left = 0.20, gable_right = 0.325, house_right = 0.50;
constexpr double ground = 0.755, eaves = 0.635, roof_top = 0.535;

bool chimney(Colour& colour, double x, double y) {
  if (x < 0.395 || x > 0.425 || y < 0.500 || y > 0.575) return false;
  double row = std::floor(y * 110);
  bool mortar = y * 110 - row < 0.25 || std::fmod(x * 85 + (static_cast<int>(row) % 2) * 0.5, 1.0) < 0.18;
  colour = y < 0.508 ? Colour{0.35, 0.31, 0.30} : mortar ? Colour{0.72, 0.66, 0.60} : Colour{0.60, 0.29, 0.22};
  if (x < 0.405) colour = colour * 0.75;
  return true;
}

// A gable to the left, in the shade, and a long side to the right, in the sun.
bool house(Colour& colour, double x, double y) {
  double peak = (house_left + gable_right) / 2, half = (gable_right - house_left) / 2;
  double slope = (eaves - roof_top) / half;
  // The roof over the long side is a parallelogram that leans with the gable.
  double lean = (y - roof_top) / slope, down = (y - roof_top) / (eaves + 0.016 - roof_top);
  double begin = peak - 0.004 + lean, end = house_right - half + 0.014 + lean;
  if (down > 0 && down < 1 && x > begin && x < end) {
    colour = roof((x - begin) / 0.26, down);
    return true;
  }
  double edge = roof_top + std::fabs(x - peak) * slope;
  if (x > peak - half - 0.018 && x < peak + 0.006 && y > edge - 0.017 && y < edge + 0.004)
    return colour = {0.40, 0.17, 0.13}, true;
  bool gable = x > house_left && x < gable_right && y > edge && y < ground;
  bool side = x >= gable_right && x < house_right && y > eaves && y < ground;
  if (!gable && !side) return false;
  colour = wall(x, y);
  if (gable && x > 0.236 && x < 0.289 && y > 0.652 && y < 0.700) colour = window(x, y, 0.236, 0.652, 0.053, 0.048);
  if (gable && std::hypot(x - peak, y - 0.607) < 0.014) colour = {0.25, 0.27, 0.33};
  for (double left : {0.345, 0.445})
    if (side && x > left && x < left + 0.036 && y > 0.668 && y < 0.713)
      colour = window(x, y, left, 0.668, 0.036, 0.045);
  if (side && x > 0.396 && x < 0.430 && y > 0.672) {  // the door
    colour = mix({0.20, 0.30, 0.30}, {0.30, 0.44, 0.42}, noise(x * 160, y * 6));
    if (x < 0.400 || x > 0.426 || y < 0.678) colour = {0.94, 0.92, 0.88};
    if (std::hypot(x - 0.4215, y - 0.718) < 0.003) colour = {0.95, 0.85, 0.45};
  }
  if (side && y < eaves + 0.030) colour = colour * std::lerp(0.60, 1.0, step(eaves + 0.012, eaves + 0.03, y));
  if (y > ground - 0.014)
    colour = mix({0.45, 0.43, 0.42}, {0.66, 0.64, 0.60}, hash(static_cast<std::int64_t>(x * 90), 3));
  if (gable) colour = {colour.r * 0.58, colour.g * 0.60, colour.b * 0.72};
  return true;
}

bool fence(Colour& colour, double x, double y) {
  if (x < 0.60) return false;
  double level = 0.800 + 0.020 * std::sin(x * 4.0), post = std::fmod(x + 0.02, 0.082);
  bool upright = post < 0.012 && y > level - 0.052 - (post < 0.006 ? post : 0.012 - post) && y < level + 0.040;
  bool rail = std::fabs(y - level + 0.033) < 0.0065 || std::fabs(y - level - 0.006) < 0.0065;
  if (!upright && !rail) return false;
  double grain = rough(upright ? x * 200 : x * 30, upright ? y * 30 : y * 300, 2);
  colour = mix({0.36, 0.27, 0.20}, {0.78, 0.66, 0.52}, grain) * (upright && post < 0.005 ? 0.7 : 1.0);
  return true;
}

// ---- trees

// A spruce: rows of branches, each wider than the one above, with a ragged edge.
bool spruce(Colour& colour, double x, double y, double middle, double foot, double height) {
  double v = (y - (foot - height)) / height;  // 0 at the tip, 1 at the foot
  if (v < 0 || v > 1) return false;
  if (v > 0.93) return std::fabs(x - middle) < height * 0.028 ? colour = {0.22, 0.15, 0.10}, true : false;
  double rows = v * 8 + 0.35 * noise(middle * 50, 1), part = rows - std::floor(rows);
  double ragged = (noise(x * 260, y * 200) - 0.5) * 0.05 * height;
  double reach = height * 0.27 * v * (0.62 + 0.38 * part) + ragged * v;
  double u = (x - middle) / std::max(reach, 1e-6);
  if (std::fabs(u) > 1) return false;
  double needles = rough(x * 120, y * 170, 3);
  double light = std::clamp(0.30 + 0.40 * u + 1.1 * (needles - 0.5) + 0.28 * (part - 0.6), 0.0, 1.0);
  colour = mix({0.03, 0.09, 0.07}, {0.33, 0.45, 0.21}, light);
  return true;
}

// An oak: a trunk and a crown of many leaf balls, each lit from the upper right.
bool oak(Colour& colour, double x, double y, double middle, double foot, double size) {
  bool hit = false;
  double bend = 0.010 * std::sin((foot - y) * 14);
  double width = size * (0.050 + 0.10 * step(foot - 0.05, foot + 0.01, y));
  if (std::fabs(x - middle - bend) < width && y < foot + 0.006 * noise(x * 90, 2) && y > foot - size * 1.0) {
    double bark = rough(x * 170, y * 24, 3), u = (x - middle - bend) / width;
    colour = mix({0.13, 0.09, 0.07}, {0.55, 0.42, 0.31}, std::clamp(bark + 0.45 * u, 0.0, 1.0));
    hit = true;
  }
  double ragged = (rough(x * 55, y * 55, 3) - 0.5) * 0.085;
  for (int ball = 0; ball < 34; ++ball) {
    double turn = ball * 2.399963, out = std::sqrt((ball + 0.5) / 34) * size * 0.66;  // a sunflower fills the disc
    double bx = middle + out * std::cos(turn) * 1.12, by = foot - size * 1.30 + out * std::sin(turn) * 0.82;
    double radius = size * (0.15 + 0.08 * hash(ball, 77)) + ragged * size * 1.6;
    double dx = (x - bx) / radius, dy = (y - by) / radius;
    if (dx * dx + dy * dy > 1) continue;
    double leaves = rough(x * 105, y * 105, 3);
    double inside = (x - middle) / size * 0.26 - (y - (foot - size * 1.30)) / size * 0.30;  // the crown as a whole
    double light = std::clamp(0.36 + 0.17 * dx - 0.20 * dy + inside + 1.35 * (leaves - 0.5), 0.0, 1.0);
    colour = mix({0.05, 0.11, 0.03}, {0.66, 0.68, 0.23}, light);
    hit = true;
  }
  return hit;
}

bool trees_at_the_shore(Colour& colour, double x, double y) {
  bool hit = false;
  struct {
    double middle, foot, height;
  } const group[] = {{0.045, 0.70, 0.25},  {0.60, 0.690, 0.15},  {0.125, 0.715, 0.31},
                     {0.655, 0.700, 0.20}, {0.035, 0.745, 0.34}, {0.705, 0.710, 0.145}};
  for (auto [middle, foot, height] : group) hit |= spruce(colour, x, y, middle, foot, height);
  return hit;
}

// ---- the photograph

// The long shadows of a low sun at the right: to the left of what stands there.
double shadow(double x, double y) {
  double of_house = step(0.0, 0.02, y - ground + 0.012) * step(0.80, 0.765, y - (x - 0.2) * 0.05) *
                    step(0.04, 0.10, x) * step(0.50, 0.47, x - (y - ground) * 2);
  double of_oak = step(1.0, 0.55, std::hypot((x - 0.93) / 0.24, (y - 0.885) / 0.024));
  return std::max(of_house * 0.5, of_oak * 0.55);
}

Colour scene(double x, double y) {
  double top = meadow_top(x);
  Colour colour = y < shore ? background(x, y) : y < top ? lake(x, y) : meadow(x, y);
  if (y > shore && y < shore + 0.005) colour = colour * 0.6;  // the far bank
  if (y > top) colour = colour * (1 - shadow(x, y));
  trees_at_the_shore(colour, x, y);
  chimney(colour, x, y);
  house(colour, x, y);
  fence(colour, x, y);
  oak(colour, x, y, 1.13, 0.885, 0.26);
  return colour;
}

// The eye of a camera: darker corners, warm light, a little more contrast.
std::uint8_t developed(double light, double vignette, double grain) {
  double v = std::clamp(light * vignette, 0.0, 1.0);
  v = std::lerp(v, v * v * (3 - 2 * v), 0.35);
  return static_cast<std::uint8_t>(std::clamp(std::lround(v * 255 + grain), 0L, 255L));
}

constexpr int height = 240, width = 320, samples = 4;  // samples x samples rays through each pixel

std::vector<std::uint8_t> photograph() {
  std::vector<std::uint8_t> bytes;
  for (int py = 0; py < height; ++py) {
    for (int px = 0; px < width; ++px) {
      Colour sum;
      for (int i = 0; i < samples * samples; ++i) {
        double sx = px + (i % samples + 0.5) / samples, sy = py + (i / samples + 0.5) / samples;
        sum = sum + scene(sx / height, sy / height);
      }
      Colour mean = sum * (1.0 / (samples * samples));
      double corner = std::hypot(px / double{width} - 0.5, py / double{height} - 0.5);
      double vignette = 1.03 - 0.30 * corner * corner;
      double grain = (hash(px + 5000, py) + hash(px, py + 5000) - 1) * 1.1;
      for (double channel : {mean.r, mean.g, mean.b}) bytes.push_back(developed(channel, vignette, grain));
    }
  }
  return bytes;
}

void write_npy(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(height) + ", " +
                       std::to_string(width) + ", 3), }";
  header.resize(117, ' ');  // with magic, version and length: 128 bytes
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10);
  file << header << '\n';
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  write_npy(words[1], photograph());
}
