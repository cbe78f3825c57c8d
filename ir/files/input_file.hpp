// A regular file open for reading. Folders, pipes and devices are refused at once, so that no read can
// hang; only standard input, by its name, may be a pipe or a terminal. Every error names the file, and the
// byte where it helps.
//
//   InputFile file("x.npy");     file.read(span_of_bytes);     throw file.broken("expected a digit");
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "ir/base/diag.hpp"

namespace taskspec {

class InputFile {
 public:
  explicit InputFile(std::string path);  // E7001, E7003
  // Bytes that are there already, as if they were a file: a part of an archive. `path` is for messages.
  InputFile(std::string path, std::string bytes);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t position() const;
  std::uint64_t remaining() const { return size_ > position() ? size_ - position() : 0; }
  std::FILE* stream() { return stream_.get(); }  // for libraries that read by themselves

  void read(std::span<std::byte> bytes);  // all of them, else E7003
  void seek(std::uint64_t position);
  std::string read_all(std::size_t limit);

  Error broken(std::string what) const { return broken(std::move(what), position()); }
  Error broken(std::string what, std::uint64_t byte) const;

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  std::string path_;
  std::unique_ptr<std::string> bytes_;  // when it is no real file; the stream reads where they are
  std::unique_ptr<std::FILE, Close> stream_;
  std::uint64_t size_ = 0;
};

// "'x.npy' <what>" as E7003, for what has no place in bytes.
Error unreadable(const std::string& path, const std::string& what);

// The system's words for an errno: "permission denied".
std::string system_words(int error);

}  // namespace taskspec
