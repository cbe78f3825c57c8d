#include <iostream>

#include "interp/repl/editor.hpp"

namespace taskspec::repl {

namespace {

class Pipe final : public Editor {
 public:
  Line read(const std::string& prompt) override {
    std::string text;
    while (std::getline(std::cin, text)) {
      if (text.ends_with('\r')) text.pop_back();
      if (first_ && text.starts_with("> ")) transcript_ = true;
      if (!text.empty()) first_ = false;
      if (transcript_ && !take_prompt(text)) continue;
      std::cout << prompt << text << "\n";
      return {Got::line, text};
    }
    return {Got::end, ""};
  }

 private:
  // A line of a session that somebody typed, without the prompt before it.
  static bool take_prompt(std::string& text) {
    if (text != ">" && text != "." && !text.starts_with("> ") && !text.starts_with(". ")) return false;
    text.erase(0, std::min<std::size_t>(2, text.size()));
    return true;
  }

  bool first_ = true, transcript_ = false;
};

}  // namespace

std::unique_ptr<Editor> make_pipe() { return std::make_unique<Pipe>(); }

}  // namespace taskspec::repl
