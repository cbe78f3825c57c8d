// The one exception of the C++ interface: what is wrong, and in which line of C++ (or of a text) it is.
//
//   try { g(x).run(); } catch (const Error& error) { std::cerr << error.what(); }
#pragma once
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace taskspec::dsl {

struct Diagnostic {
  std::string code;      // "E2001"; `taskspec explain E2001` says more
  std::string severity;  // "error" or "warning"
  std::string message;
  std::string file;  // empty: no place
  unsigned line = 0, column = 0;
  std::vector<std::string> notes;
  std::string help;
};

class Error : public std::exception {
 public:
  // `text` is what a person reads: the line, what is wrong in it, and the help.
  Error(std::vector<Diagnostic> diagnostics, std::string text)
      : diagnostics_(std::move(diagnostics)), text_(std::move(text)) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

}  // namespace taskspec::dsl
