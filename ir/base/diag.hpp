// Diagnostics: a user's mistake as data. Phases collect them in Diags; the tool renders them.
//
//   diags.error("E1001", span, "unknown name 'enrgy'").label(other, "defined here").help("did you mean 'energy'?");
//
// Messages are lower case, without a final stop. What a code means in general stands in the registry
// (ir/codes/codes.hpp), which `taskspec explain` prints.
#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/source.hpp"

namespace taskspec {

// A registered code such as E2003. Made from a literal; a malformed literal does not compile.
class Code {
 public:
  consteval Code(const char* text) : number_(parse(text)) {}
  static constexpr Code of(std::uint16_t number) { return Code(number, 0); }
  constexpr std::uint16_t number() const { return number_; }
  std::string text() const;  // "E2003"
  friend constexpr auto operator<=>(Code, Code) = default;

 private:
  constexpr Code(std::uint16_t number, int) : number_(number) {}
  static consteval std::uint16_t parse(const char* text) {
    if (text[0] != 'E') throw "a code is E and four digits";
    std::uint16_t number = 0;
    for (int i = 1; i < 5; ++i) {
      if (text[i] < '0' || text[i] > '9') throw "a code is E and four digits";
      number = static_cast<std::uint16_t>(number * 10 + (text[i] - '0'));
    }
    if (text[5] != '\0') throw "a code is E and four digits";
    return number;
  }
  std::uint16_t number_;
};

enum class Severity : std::uint8_t { error, warning };

struct Label {
  Span span;
  std::string text;
};

struct Diag {
  Code code = "E1009";
  Severity severity = Severity::error;
  std::string message;
  Label primary;  // the narrowest guilty span; its text may be empty
  std::vector<Label> labels;
  std::vector<std::string> notes;
  std::string help_text;

  Diag() = default;
  Diag(Code c, Severity s, Span span, std::string text);
  // Copies and destructors are made once, in the source: they are long, and every user of this header would make them.
  Diag(const Diag&);
  Diag(Diag&&) noexcept;
  Diag& operator=(const Diag&);
  Diag& operator=(Diag&&) noexcept;
  ~Diag();

  Diag& at(std::string text);
  Diag& label(Span span, std::string text);
  Diag& note(std::string text);
  Diag& help(std::string text);
};

// What a phase collects. Order is the order of discovery; `sorted` gives source order.
class Diags {
 public:
  Diags() = default;
  Diags(const Diags&);
  Diags(Diags&&) noexcept;
  Diags& operator=(const Diags&);
  Diags& operator=(Diags&&) noexcept;
  ~Diags();
  Diag& error(Code code, Span span, std::string message);
  Diag& warning(Code code, Span span, std::string message);
  void add(Diag diag);
  void append(const Diags& other);
  bool has_errors() const;
  bool empty() const { return !items_ || items_->empty(); }
  std::size_t size() const { return items_ ? items_->size() : 0; }
  const std::deque<Diag>& items() const;
  std::vector<Diag> sorted() const;

 private:
  std::deque<Diag>& list();
  // A deque: the reference that error() returns stays valid. Apart: it takes memory even to be empty, or to be moved.
  std::unique_ptr<std::deque<Diag>> items_;
};

// The one exception of the C++ API, and the way out of a deep recursion inside one phase, whose entry
// catches it and returns the diagnostics.
class Error : public std::exception {
 public:
  explicit Error(Diags diags);
  explicit Error(Diag diag);
  Error(const Error&);
  Error& operator=(const Error&) = delete;
  ~Error() override;
  const Diags& diags() const { return diags_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Diags diags_;
  std::string text_;
};

// Shorthand: an Error with one diagnostic.
Error failure(Code code, Span span, std::string message);

// Our own mistake: prints what and where, exits with 70. User input never gets here.
[[noreturn]] void bug(std::string_view what, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace taskspec
