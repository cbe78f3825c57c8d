// Writes JSON straight into a string: a graph of a million tasks is a few hundred megabytes of text, and a tree of
// values in between would cost ten times that.
//
//   JsonText out;
//   out.open('{').key("id").number(3).key("in").open('[').close(']').close('}');    // {"id":3,"in":[]}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace taskspec {

class JsonText {
 public:
  JsonText& open(char bracket) { return put(bracket, true); }
  JsonText& close(char bracket);
  JsonText& key(std::string_view name);
  JsonText& line();  // the next value or key begins a new line: one element per line keeps differences readable

  JsonText& string(std::string_view text);
  JsonText& number(std::int64_t value);
  JsonText& real(double value);  // as `print` writes it; "inf", "-inf" and "nan" as strings
  JsonText& boolean(bool value) { return word(value ? "true" : "false"); }
  JsonText& null() { return word("null"); }

  // Members of an object.
  JsonText& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  JsonText& member(std::string_view name, std::int64_t value) { return key(name).number(value); }

  std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  JsonText& put(char bracket, bool opens);
  JsonText& word(std::string_view text);
  void separate();

  std::string out_;
  bool first_ = true;  // nothing stands before the next value: no comma
  bool new_line_ = false;
};

// Text that is legal inside JSON: bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

// Bytes as base64 with padding, and back; false when `text` is none.
std::string base64(std::string_view bytes);
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace taskspec
