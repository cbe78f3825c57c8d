// Writing a file whole or not at all: into a new file beside it, then over it in one step. Until
// `commit` the old file stands; without `commit` (an error on the way, a full disk) nothing is left behind.
//
//   AtomicFile out("y.npy");     out.write(header);     out.write(bytes);     out.commit();
//
// A device or pipe (/dev/stdout, /dev/full) cannot be replaced and is written to directly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace taskspec {

class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);  // E7004
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);  // E7004
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  // Somebody else may lay it out first, by the name that it has until `commit`. E7004: it is written to directly.
  const std::string& beside() const;
  void write_at(std::uint64_t position, std::span<const std::byte> bytes);  // E7004
  void commit();                                                            // E7004

 private:
  void open_directly();
  void open_beside();
  [[noreturn]] void fail(int error) const;

  std::string path_;    // as the user wrote it
  std::string target_;  // what is replaced: behind symbolic links
  std::string beside_;  // the new file; empty when written directly or committed
  int descriptor_ = -1;
};

void write_whole(const std::string& path, std::span<const std::byte> bytes);

}  // namespace taskspec
