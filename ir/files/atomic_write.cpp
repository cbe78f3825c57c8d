#include "ir/files/atomic_write.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "ir/base/diag.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// The standard streams by name. Even when they lead to a regular file, somebody else holds it open:
// replacing it would lose what he writes.
bool is_stream_name(const std::string& path) {
  for (std::string_view prefix : {"/dev/std", "/dev/fd/", "/proc/"})
    if (path.starts_with(prefix)) return true;
  return false;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  if (path_.find('\0') != std::string::npos) throw failure("E7004", {}, "a file name cannot hold a zero byte");
  struct stat status {};
  bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (is_stream_name(path_) || (exists && !S_ISREG(status.st_mode))) {
    open_directly();
    return;
  }
  // Replacing asks for rights on the folder only; a file that is write-protected shall stay so.
  if (exists && access(path_.c_str(), W_OK) != 0) fail(errno);
  std::error_code error;
  if (fs::path real = fs::canonical(path_, error); !error) target_ = real.string();
  open_beside();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void AtomicFile::open_directly() {
  // O_NONBLOCK for the opening only: a pipe without a reader is an error, not a wait.
  descriptor_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
}

void AtomicFile::open_beside() {
  fs::path folder = fs::path(target_).parent_path();
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    beside_ = (folder / fmt::format(".taskspec-{}-{}.tmp", getpid(), attempt)).string();
    descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    beside_.clear();  // not ours to remove
    if (errno != EEXIST || attempt == 10000) fail(errno);
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 26));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

const std::string& AtomicFile::beside() const {
  if (beside_.empty())
    throw failure("E7004", {}, fmt::format("cannot write '{}': it is a device or a pipe, which has no places", path_));
  return beside_;
}

void AtomicFile::write_at(std::uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        pwrite(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 26), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    position += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::commit() {
  struct stat old {};
  if (!beside_.empty() && stat(target_.c_str(), &old) == 0 && fchmod(descriptor_, old.st_mode & 07777) != 0)
    fail(errno);
  // Some disks report that they are full only here.
  if (!beside_.empty() && fsync(descriptor_) != 0) fail(errno);
  int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail(errno);
  if (!beside_.empty() && rename(beside_.c_str(), target_.c_str()) != 0) fail(errno);
  beside_.clear();
}

void AtomicFile::fail(int error) const {
  throw failure("E7004", {}, fmt::format("cannot write '{}': {}", path_, system_words(error)));
}

void write_whole(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace taskspec
