#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <iterator>
#include <random>

#include "ir/base/ascii.hpp"

namespace taskspec::fuzz {

namespace {

constexpr std::string_view odd_words[] = {"0",
                                          "-1",
                                          "1",
                                          "2",
                                          "255",
                                          "256",
                                          "65535",
                                          "65536",
                                          "1000000",
                                          "2147483647",
                                          "2147483648",
                                          "-2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "1e308",
                                          "1e-400",
                                          "1e999",
                                          "-0.0",
                                          "0.5",
                                          "nan",
                                          "inf",
                                          "null",
                                          "true",
                                          "false",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "()",
                                          "\"f32[N]\"",
                                          "\"\\u0000\"",
                                          "\xff",
                                          "\xef\xbb\xbf",
                                          "\xf0\x9f\x99\x82"};

constexpr std::uint64_t odd_numbers[] = {
    0,          1,          0x7F,       0x80,       0xFF,       0x7FFF,           0x8000,     0xFFFF, 0x10000,
    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ULL << 32, 1ULL << 62, (1ULL << 63) - 1, 1ULL << 63, ~0ULL};

// One case: a sample that is being changed, and the dice.
class Change {
 public:
  Change(const std::vector<std::string>& samples, const std::vector<std::vector<Piece>>& pieces, std::uint64_t seed,
         std::uint64_t number)
      : samples_(samples), pieces_(pieces), random_(seed * 0x9E3779B97F4A7C15u ^ number) {
    sample_ = below(samples.size());
    text_ = samples[sample_];
  }

  std::string run(Grain grain) {
    // The pieces are those of the sample, so what works on them comes first, and once.
    if (grain == Grain::tokens && chance(85) && !pieces_[sample_].empty()) change_pieces();
    const std::size_t more = grain == Grain::tokens ? below(3) / 2 : 1 + below(4) * below(2);
    for (std::size_t i = 0; i < more; ++i) change_bytes();
    return std::move(text_);
  }

 private:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(random_() % count); }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class List>
  auto one_of(const List& list) {
    return list[below(std::size(list))];
  }

  // ---- bytes ----

  void change_bytes() {
    if (text_.empty()) text_ = one_of(odd_words);
    const std::size_t at = below(text_.size()), length = std::min(text_.size() - at, 1 + below(below(4) ? 8 : 64));
    switch (below(9)) {
      case 0:
        text_[at] = static_cast<char>(text_[at] ^ (1 << below(8)));
        break;
      case 1:
        text_[at] = static_cast<char>(random_());
        break;
      case 2:
        text_.resize(at);
        break;
      case 3:
        text_.erase(at, length);
        break;
      case 4:  // a chunk again, elsewhere
        text_.insert(below(text_.size()), text_.substr(at, length));
        break;
      case 5: {  // a chunk of another sample
        const std::string& other = one_of(samples_);
        text_.replace(at, length * below(2), other.substr(below(other.size()), length));
        break;
      }
      case 6:
        return binary_number(at);
      case 7:
        return written_number(at);
      default:
        text_.insert(at, one_of(odd_words));
    }
  }

  void binary_number(std::size_t at) {
    const std::size_t width = std::min<std::size_t>(text_.size() - at, std::size_t{1} << below(4));
    const bool big = chance(50);
    const std::uint64_t number = one_of(odd_numbers) + (chance(20) ? below(5) - 2 : 0);
    for (std::size_t i = 0; i < width; ++i)
      text_[at + (big ? width - 1 - i : i)] = static_cast<char>(number >> (8 * i));
  }

  void written_number(std::size_t at) {
    at = text_.find_first_of("0123456789", at);
    if (at == std::string::npos) return;
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", at), text_.size());
    text_.replace(at, end - at, one_of(odd_words));
  }

  // ---- pieces ----

  struct Part {
    std::size_t begin, end;  // tokens
  };

  // Some tokens, or all between two brackets with them.
  Part part_of(const std::vector<Piece>& pieces) {
    const std::size_t first = below(pieces.size());
    if (chance(60))
      for (std::size_t i = first; i < pieces.size(); ++i)
        if (pieces[i].partner != SIZE_MAX && pieces[i].partner > i) return {i, pieces[i].partner + 1};
    return {first, std::min(pieces.size(), first + 1 + (chance(40) ? below(8) : 0))};
  }

  std::string_view text_of(std::size_t sample, Part part) const {
    const std::vector<Piece>& pieces = pieces_[sample];
    const std::size_t begin = pieces[part.begin].begin, end = pieces[part.end - 1].end;
    return std::string_view(samples_[sample]).substr(begin, end - begin);
  }

  void put(Part part, std::string_view text) {
    const std::vector<Piece>& pieces = pieces_[sample_];
    const std::size_t begin = pieces[part.begin].begin, end = pieces[part.end - 1].end;
    text_.replace(begin, end - begin, text);
  }

  void change_pieces() {
    const std::vector<Piece>& pieces = pieces_[sample_];
    const Part part = part_of(pieces);
    std::size_t other = chance(50) ? sample_ : below(samples_.size());
    if (pieces_[other].empty()) other = sample_;
    const std::string here(text_of(sample_, part)), there(text_of(other, part_of(pieces_[other])));
    switch (below(8)) {
      case 0:
        return put(part, "");
      case 1:
        return put(part, there);
      case 2:
        return put(part, here + " " + there);
      case 3:
        return put(part, here + (chance(50) ? "," : "\n") + here);
      case 4:
        return put(part, one_of(odd_words));
      case 5: {  // a number is another one
        const Part number = number_near(part.begin);
        return put(number, one_of(odd_words));
      }
      case 6:
        return nest(part, here);
      default: {  // the beginning of one sample, the end of another
        const Part rest{below(pieces_[other].size()), pieces_[other].size()};
        return put({part.begin, pieces.size()}, text_of(other, rest));
      }
    }
  }

  Part number_near(std::size_t first) const {
    const std::vector<Piece>& pieces = pieces_[sample_];
    for (std::size_t i = first; i < pieces.size(); ++i)
      if (is_digit(samples_[sample_][pieces[i].begin])) return {i, i + 1};
    return {first, first + 1};
  }

  // Deep, but the input stays small.
  void nest(Part part, const std::string& inner) {
    constexpr std::string_view pairs[] = {"()", "[]", "{}", "-", "!"};
    const std::string_view pair = one_of(pairs);
    const std::size_t depth = 1 + below(below(20) ? 4 : 6000);
    std::string text(depth, pair[0]);
    text += inner;
    if (pair.size() > 1) text.append(depth, pair[1]);
    put(part, text);
  }

  const std::vector<std::string>& samples_;
  const std::vector<std::vector<Piece>>& pieces_;
  std::mt19937_64 random_;
  std::size_t sample_ = 0;
  std::string text_;
};

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    if (c == '"')
      end = end_of_string(text, at);
    else
      while (is_word(c) && end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
    if (c != ' ' && c != '\n') pieces.push_back({at, end});
    at = end;
    if (c == '(' || c == '[' || c == '{') open.push_back(pieces.size() - 1);
    if ((c != ')' && c != ']' && c != '}') || open.empty()) continue;
    pieces[open.back()].partner = pieces.size() - 1;
    pieces.back().partner = open.back();
    open.pop_back();
  }
  return pieces;
}

Mutator::Mutator(std::vector<std::string> samples, Grain grain) : samples_(std::move(samples)), grain_(grain) {
  for (const std::string& sample : samples_)
    pieces_.push_back(grain == Grain::tokens ? pieces_of(sample) : std::vector<Piece>());
}

std::string Mutator::operator()(std::uint64_t seed, std::uint64_t number) const {
  return Change(samples_, pieces_, seed, number).run(grain_);
}

}  // namespace taskspec::fuzz
