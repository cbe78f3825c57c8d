#include "ir/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "ir/base/text.hpp"

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// Names in one folder, sorted, so that the suggestion does not depend on the order of the disk.
std::vector<std::string> names_in(const fs::path& folder) {
  constexpr std::size_t enough = 10000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < enough; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Error not_found(const std::string& path) {
  Diag diag("E7001", Severity::error, {}, fmt::format("no file '{}'", path));
  fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    diag.help(fmt::format("there is no folder '{}' either", folder.string()));
    return Error(std::move(diag));
  }
  std::vector<std::string> names = names_in(folder.empty() ? "." : folder);
  if (auto close = nearest(fs::path(path).filename().string(), names))
    diag.help(fmt::format("did you mean '{}'?", (folder / *close).string()));
  return Error(std::move(diag));
}

// Streams that somebody opened for us: `taskspec run -`, `taskspec run <(generate)`.
bool is_open_stream(const std::string& path, mode_t mode) {
  bool named = path == "/dev/stdin" || path.starts_with("/dev/fd/");
  return named && (S_ISFIFO(mode) || S_ISCHR(mode) || S_ISSOCK(mode));
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

std::string system_words(int error) {
  std::string words = std::generic_category().message(error);
  if (!words.empty() && words[0] >= 'A' && words[0] <= 'Z') words[0] = static_cast<char>(words[0] - 'A' + 'a');
  return words;
}

Error unreadable(const std::string& path, const std::string& what) {
  return failure("E7003", {}, fmt::format("'{}' {}", path, what));
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  if (path_.find('\0') != std::string::npos) throw failure("E7001", {}, "a file name cannot hold a zero byte");
  // O_NONBLOCK: opening a pipe that nobody writes to would wait forever.
  int descriptor = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) throw not_found(path_);
  if (descriptor < 0) throw unreadable(path_, "cannot be read: " + system_words(errno));
  struct stat status {};
  bool known = fstat(descriptor, &status) == 0;
  if (known && is_open_stream(path_, status.st_mode)) {
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);  // here waiting is right
  } else if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor);
    throw unreadable(path_, known ? "is " + kind_of(status.st_mode) + ", not a file" : "cannot be read");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  stream_.reset(fdopen(descriptor, "rb"));
  if (!stream_) {
    close(descriptor);
    throw unreadable(path_, "cannot be read: " + system_words(errno));
  }
}

InputFile::InputFile(std::string path, std::string bytes)
    : path_(std::move(path)), bytes_(std::make_unique<std::string>(std::move(bytes))) {
  size_ = bytes_->size();
  if (bytes_->empty()) throw unreadable(path_, "is empty");
  stream_.reset(fmemopen(bytes_->data(), bytes_->size(), "rb"));
  if (!stream_) throw failure("E5008", {}, "no memory to read '" + path_ + "'");
}

void InputFile::seek(std::uint64_t position) {
  if (fseeko(stream_.get(), static_cast<off_t>(position), SEEK_SET) != 0)
    throw unreadable(path_, "cannot be read: " + system_words(errno));
}

std::uint64_t InputFile::position() const {
  auto position = ftello(stream_.get());
  return position < 0 ? 0 : static_cast<std::uint64_t>(position);
}

void InputFile::read(std::span<std::byte> bytes) {
  std::uint64_t begin = position();
  std::size_t got = std::fread(bytes.data(), 1, bytes.size(), stream_.get());
  if (got == bytes.size()) return;
  if (std::ferror(stream_.get())) throw unreadable(path_, "cannot be read: " + system_words(errno));
  throw broken(fmt::format("{} expected, the file ends after {}", plural(bytes.size(), "more byte"), got), begin);
}

std::string InputFile::read_all(std::size_t limit) {
  // Reads to the end rather than `size_` bytes: files of /proc say that they are empty.
  auto too_large = [&] {
    return unreadable(path_, fmt::format("is larger than {} bytes, the most that is read", limit));
  };
  if (size_ > limit) throw too_large();
  std::string text;
  text.resize(static_cast<std::size_t>(size_) + 1);
  std::size_t used = 0;
  while (std::size_t got = std::fread(text.data() + used, 1, text.size() - used, stream_.get())) {
    used += got;
    if (used > limit) throw too_large();
    if (used == text.size()) text.resize(used * 2);
  }
  if (std::ferror(stream_.get())) throw unreadable(path_, "cannot be read: " + system_words(errno));
  text.resize(used);
  return text;
}

Error InputFile::broken(std::string what, std::uint64_t byte) const {
  return unreadable(path_, fmt::format("is broken at byte {}: {}", byte, what));
}

}  // namespace taskspec
