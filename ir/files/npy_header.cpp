#include "ir/files/npy_header.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_dictionary = 1 << 16;  // real ones have a hundred bytes
constexpr std::size_t most_extents = 64;

// Reads the dictionary. Only what npy files contain is understood: strings, True, False, tuples of integers.
class Dictionary {
 public:
  Dictionary(const InputFile& file, std::string_view text, std::uint64_t begin)
      : file_(file), text_(text), begin_(begin) {}

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Extents> shape;

  void parse() {
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr")
        descr = element_type();
      else if (key == "fortran_order")
        fortran_order = boolean();
      else if (key == "shape")
        shape = extents();
      else
        throw error("no key but 'descr', 'fortran_order' and 'shape'");
      if (!accept(',') && peek() != '}') throw error("',' or '}'");
    }
    if (peek() != '\0') throw error("nothing after the dictionary");
    if (!descr || !fortran_order || !shape) throw error("all of 'descr', 'fortran_order' and 'shape'");
  }

 private:
  Error error(const std::string& expected) const {
    return file_.broken("expected " + expected + " in the header", begin_ + at_);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw error(fmt::format("'{}'", c));
  }

  std::string string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') throw error("a string");
    std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw error("the end of a string");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  std::string element_type() {
    if (peek() == '[') throw error("one element type (records with fields are not supported)");
    return string();
  }

  bool boolean() {
    peek();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) return at_ += word.size(), value;
    }
    throw error("True or False");
  }

  Extents extents() {
    Extents result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == most_extents) throw error(fmt::format("at most {} extents", most_extents));
      peek();
      std::int64_t extent = -1;
      auto [end, wrong] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (wrong != std::errc() || extent < 0) throw error("an extent (0 up to 2^63 - 1)");
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // Python 2 wrote long integers so
      result.push_back(extent);
      if (!accept(',') && peek() != ')') throw error("',' or ')'");
    }
    return result;
  }

  const InputFile& file_;
  std::string_view text_;
  std::uint64_t begin_;
  std::size_t at_ = 0;
};

struct ElementType {
  std::string_view name;
  Precision precision;
};
constexpr ElementType element_types[] = {
    {"b1", Precision::boolean}, {"i1", Precision::i8},  {"u1", Precision::u8},  {"i2", Precision::i16},
    {"u2", Precision::u16},     {"i4", Precision::i32}, {"u4", Precision::u32}, {"i8", Precision::i64},
    {"u8", Precision::u64},     {"f2", Precision::f16}, {"f4", Precision::f32}, {"f8", Precision::f64},
};

void read_element_type(NpyHeader& header, const InputFile& file, std::string_view descr) {
  char order = descr.empty() ? '\0' : descr[0];
  for (const ElementType& type : element_types) {
    if (descr.empty() || descr.substr(1) != type.name || std::string_view("<>|=").find(order) == std::string_view::npos)
      continue;
    header.type.precision = type.precision;
    header.swapped = order == (std::endian::native == std::endian::little ? '>' : '<');
    return;
  }
  throw unreadable(file.path(), fmt::format("holds elements of type '{}'; supported are bool, integers up to 64 bits "
                                            "and floats of 16, 32 and 64 bits",
                                            descr));
}

// Compares with the file before any memory is taken: a header of 100 bytes may claim 10^18 elements.
void check_size(const NpyHeader& header, const InputFile& file) {
  std::uint64_t needed = info(header.type.precision).bytes;
  bool fits = true, empty = false;
  for (std::int64_t extent : header.type.extents) {
    if (extent == 0)
      empty = true;
    else
      fits = fits && !__builtin_mul_overflow(needed, static_cast<std::uint64_t>(extent), &needed);
  }
  fits = fits && needed <= INT64_MAX;
  if (fits && (empty || needed <= file.remaining())) return;
  throw file.broken(fmt::format("{} needs {} of elements, the file has {}", fits ? header.type.text() : "its shape",
                                fits ? plural(needed, "byte") : "over 2^63 bytes", file.remaining()));
}

std::size_t read_length(InputFile& file, std::size_t bytes) {
  std::byte raw[4] = {};
  file.read(std::span(raw, bytes));
  std::size_t length = 0;
  for (std::size_t i = 0; i < bytes; ++i) length |= std::to_integer<std::size_t>(raw[i]) << (8 * i);
  return length;
}

}  // namespace

NpyHeader read_npy_header(InputFile& file) {
  char start[8] = {};
  if (file.size() < sizeof start) throw file.broken("an npy file begins with 8 bytes of magic and version", 0);
  file.read(std::as_writable_bytes(std::span(start)));
  if (std::string_view(start, magic.size()) != magic) throw file.broken("expected the magic bytes \\x93NUMPY", 0);
  if (start[6] < 1 || start[6] > 3)
    throw file.broken(fmt::format("npy version {} is not known (1, 2 or 3)", static_cast<unsigned char>(start[6])), 6);

  std::size_t length = read_length(file, start[6] == 1 ? 2 : 4);
  std::uint64_t begin = file.position();
  if (length > longest_dictionary || length > file.remaining())
    throw file.broken(
        fmt::format("a header of {} bytes; {} are left and {} allowed", length, file.remaining(), longest_dictionary),
        8);
  std::string text(length, '\0');
  file.read(std::as_writable_bytes(std::span(text)));

  Dictionary dictionary(file, text, begin);
  dictionary.parse();
  NpyHeader header;
  header.type.extents = std::move(*dictionary.shape);
  header.fortran_order = *dictionary.fortran_order;
  read_element_type(header, file, *dictionary.descr);
  check_size(header, file);
  return header;
}

std::string npy_header(const ArrayType& type) {
  const PrecisionInfo& p = info(type.precision);
  char kind = type.precision == Precision::boolean ? 'b' : p.is_float ? 'f' : p.minimum < 0 ? 'i' : 'u';
  char order = p.bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string shape;
  for (std::int64_t extent : type.extents) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  if (type.extents.size() == 1) shape += ',';
  std::string text =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}", order, kind, p.bytes, shape);
  std::size_t used = magic.size() + 4 + text.size() + 1;
  text.append((64 - used % 64) % 64, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace taskspec
