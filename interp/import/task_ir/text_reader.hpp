// Protobuf text to messages, for any descriptor: some ten times as fast as the parser that comes with protobuf where a
// file is a long list of numbers, and every message keeps its place, so that later errors have line and column.
//
//   TextReader reader(text, source);
//   tianjic_ir::TaskGraph graph;
//   bool whole = reader.read(graph);          // else reader.diags() says where and why; warnings may come with either
//   reader.place(graph.blocks(3))             // the span of its name
#pragma once
#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec::task_ir {

inline constexpr int deepest_nesting = 100;

// Of a field that nobody knows, for its warning. Of several with one name in one kind of message only the first is
// told, with their count: a hostile file may have millions.
class UnknownFields {
 public:
  void add(std::string_view message, std::string_view field, const std::string& path, Span span);
  void tell(Diags& diags) const;

 private:
  struct Entry {
    std::string path, field;
    Span span;
    std::size_t count = 0;
  };
  std::map<std::string, Entry> entries_;  // by message and field
};

class TextReader {
 public:
  TextReader(std::string_view text, SourceId source) : text_(text), source_(source) {}
  bool read(google::protobuf::Message& message);
  const Diags& diags() const { return diags_; }

  Span place(const google::protobuf::Message& message) const;
  // Of the value of a field in it, number `index` where there are several. Reads the message again.
  Span place(const google::protobuf::Message& message, std::string_view field, std::size_t index = 0);

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;
  using Integers = google::protobuf::MutableRepeatedFieldRef<std::int32_t>;
  struct Step {  // on the way to where the reader is
    const Field* field;
    int index;
  };
  struct Place {
    Span name;
    std::size_t body = 0;  // behind its bracket
  };
  // Thrown where the text ends to make sense; caught by read() and place().
  struct Stop {};

  void fields(Message& message, char close);
  void known_field(Message& message, const Field& field, Span name);
  void one_value(Message& message, const Field& field, Span name);
  void sub_message(Message& message, const Field& field, Span name);
  void scalar(Message& message, const Field& field);
  void integers(const Integers& into, std::string_view name);
  template <class T>
  T integer(std::string_view type);
  double real();
  bool boolean();
  std::string string();
  int enumerator(const google::protobuf::EnumDescriptor& type);

  void unknown_field(const Message& message, std::string_view name, Span span);
  void skip_value();
  void skip_message(char close);

  void skip_space();
  bool take(char c);  // if it comes next
  char peek();        // what comes next; '\0' at the end
  std::string_view word();
  std::string_view number_token();
  char opening();  // takes { or <, and says what closes it
  void enter(Span at);
  std::string path() const;  // "blocks[3].shape"
  Span span_from(std::size_t begin) const;
  Span next_token();
  [[noreturn]] void stop(Span span, std::string message);

  std::string_view text_;
  SourceId source_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Step> steps_;
  std::unordered_map<const Message*, Place> places_;
  UnknownFields unknown_;
  Diags diags_;
};

}  // namespace taskspec::task_ir
