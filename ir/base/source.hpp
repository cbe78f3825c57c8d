// Source texts and places in them. A Span is what every later artefact keeps in order to walk back
// to the text it came from.
//
//   Sources sources;
//   SourceId id = sources.add("hello.task", text);
//   sources[id].position(12)   // line and column, 1-based, columns in bytes
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/ids.hpp"

namespace taskspec {

struct SourceTag;
using SourceId = Id<SourceTag>;

// Bytes [begin, end) of one source. A default Span means "no place" (made by a machine, not a person).
struct Span {
  SourceId source;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool valid() const { return source.valid(); }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both; an invalid one is ignored.
Span join(Span a, Span b);

struct Position {
  std::uint32_t line = 1;    // 1-based
  std::uint32_t column = 1;  // 1-based, in bytes
};

class Source {
 public:
  Source(std::string path, std::string text);
  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }
  Position position(std::uint32_t offset) const;
  std::string_view line(std::uint32_t number) const;  // 1-based, without its line end
  std::uint32_t line_start(std::uint32_t number) const;
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(starts_.size()); }

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> starts_;
};

// All texts of one program. Copies share the texts; sources are only ever added.
class Sources {
 public:
  SourceId add(std::string path, std::string text);
  const Source& operator[](SourceId id) const { return *items_[id.index()]; }
  std::size_t size() const { return items_.size(); }
  std::string_view text(Span span) const;
  std::string place(Span span) const;  // "path:line:column"

 private:
  std::vector<std::shared_ptr<const Source>> items_;
};

}  // namespace taskspec
