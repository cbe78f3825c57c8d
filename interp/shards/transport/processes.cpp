#include "interp/shards/transport/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

class Handle {
 public:
  Handle() = default;
  explicit Handle(int number) : number_(number) {
    if (number < 0) throw failure("E5008", {}, "the system opens no further file or socket");
  }
  Handle(Handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Handle() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

constexpr std::size_t read_at_once = 1 << 16;

// One stream of frames: a length, then a message.
struct Line {
  Handle socket;
  std::deque<Bytes> out;
  std::size_t out_done = 0;  // of the first one
  Bytes in;
  bool has_ended = false;
};

// A shard that leaves in order says so with a frame of no bytes: then its silence is no failure.
class SocketTransport final : public Transport {
 public:
  SocketTransport(ShardId self, std::vector<Handle> sockets)
      : self_(self), lines_(sockets.size()), wake_(eventfd(0, EFD_NONBLOCK)) {
    for (std::size_t shard = 0; shard < sockets.size(); ++shard) {
      lines_[shard].socket = std::move(sockets[shard]);
      if (shard == self.index()) continue;
      const int flags = fcntl(lines_[shard].socket.number(), F_GETFL);
      fcntl(lines_[shard].socket.number(), F_SETFL, flags | O_NONBLOCK);
    }
  }

  ShardId self() const override { return self_; }
  std::size_t shards() const override { return lines_.size(); }

  void send(ShardMessage message) override {
    if (message.to == self_) return come_.push_back(std::move(message));
    Bytes frame;
    put_message(frame, message);
    put(lines_[message.to.index()], std::move(frame));
  }

  std::optional<ShardMessage> receive() override {
    look(0);
    if (come_.empty()) return std::nullopt;
    std::optional<ShardMessage> first = std::move(come_.front());
    come_.pop_front();
    return first;
  }

  void wait(std::int64_t nanoseconds) override {
    if (come_.empty()) look(static_cast<int>(std::min<std::int64_t>((nanoseconds + 999'999) / 1'000'000, 1'000'000)));
  }

  void wake() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
  }

  std::optional<ShardId> lost() const override { return lost_; }

  // All that was sent leaves this process before it ends.
  void leave() {
    for (Line& line : lines_)
      if (line.socket.is_open()) put(line, {});
    auto is_pending = [](const Line& line) { return line.socket.is_open() && !line.out.empty(); };
    while (std::any_of(lines_.begin(), lines_.end(), is_pending)) look(1000);
  }

 private:
  void put(Line& line, Bytes payload) {
    if (!line.socket.is_open()) return;
    Bytes frame;
    ByteWriter(frame).put<std::uint64_t>(payload.size()).raw(payload);
    line.out.push_back(std::move(frame));
    flush(line);
  }

  void flush(Line& line) {
    while (!line.out.empty()) {
      const Bytes& frame = line.out.front();
      const auto sent = ::send(line.socket.number(), frame.data() + line.out_done, frame.size() - line.out_done,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (sent < 0) return drop(line);
      line.out_done += static_cast<std::size_t>(sent);
      if (line.out_done < frame.size()) continue;
      line.out.pop_front();
      line.out_done = 0;
    }
  }

  void drop(Line& line) {
    line.socket.close();
    line.out.clear();
    line.out_done = 0;
    if (!line.has_ended && !lost_) lost_ = ShardId(static_cast<std::size_t>(&line - lines_.data()));
  }

  void read(Line& line) {
    for (;;) {
      const std::size_t before = line.in.size();
      line.in.resize(before + read_at_once);
      const auto got = ::recv(line.socket.number(), line.in.data() + before, read_at_once, MSG_DONTWAIT);
      line.in.resize(before + static_cast<std::size_t>(std::max<std::int64_t>(got, 0)));
      if (got < 0 && errno == EINTR) continue;
      const bool is_empty = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      take_frames(line);
      if (is_empty) return;
      if (got <= 0) return drop(line);
    }
  }

  void take_frames(Line& line) {
    std::size_t done = 0;
    for (;;) {
      ByteReader in(ByteView(line.in).subspan(done));
      const auto size = in.get<std::uint64_t>();
      if (!in.ok() || in.left() < size) break;
      ShardMessage message;
      if (size == 0)
        line.has_ended = true;
      else if (get_message(in.raw(size), message))
        come_.push_back(std::move(message));
      else
        bug("a frame holds no message");
      done += sizeof size + size;
    }
    line.in.erase(line.in.begin(), line.in.begin() + static_cast<std::ptrdiff_t>(done));
  }

  // Moves what can be moved, after at most that many milliseconds of sleep.
  void look(int milliseconds) {
    polled_.clear();
    polled_.push_back({wake_.number(), POLLIN, 0});
    for (const Line& line : lines_)
      polled_.push_back({line.socket.number(), static_cast<short>(line.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    if (::poll(polled_.data(), polled_.size(), milliseconds) <= 0) return;
    std::uint64_t count = 0;
    if (polled_[0].revents) [[maybe_unused]]
      const auto taken = ::read(wake_.number(), &count, sizeof count);
    for (std::size_t shard = 0; shard < lines_.size(); ++shard) {
      Line& line = lines_[shard];
      if (polled_[shard + 1].revents & (POLLIN | POLLHUP | POLLERR)) read(line);
      if (line.socket.is_open() && !line.out.empty()) flush(line);
    }
  }

  const ShardId self_;
  std::vector<Line> lines_;
  Handle wake_;
  std::deque<ShardMessage> come_;
  std::vector<pollfd> polled_;
  std::optional<ShardId> lost_;
};

void write_all(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void live(ShardId shard, std::vector<Handle> sockets, const Handle& result, pid_t parent,
                       const std::function<Bytes(Transport&)>& run) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it ended before it could be told
  int status = 70;
  try {
    SocketTransport transport(shard, std::move(sockets));
    const Bytes bytes = run(transport);
    transport.leave();
    write_all(result.number(), bytes);
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shard %u: %s\n", shard.value, error.what());
  }
  _exit(status);
}

struct Child {
  pid_t process = 0;
  Handle result;
  ProcessEnd end;
};

void collect(std::vector<Child>& children, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    std::vector<pollfd> polled;
    std::vector<Child*> open;
    for (Child& child : children)
      if (child.result.is_open()) {
        polled.push_back({child.result.number(), POLLIN, 0});
        open.push_back(&child);
      }
    if (open.empty()) return;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    if (::poll(polled.data(), polled.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!polled[i].revents) continue;
      Bytes& bytes = open[i]->end.result;
      const std::size_t before = bytes.size();
      bytes.resize(before + read_at_once);
      const auto got = ::read(polled[i].fd, bytes.data() + before, read_at_once);
      bytes.resize(before + static_cast<std::size_t>(std::max<std::int64_t>(got, 0)));
      if (got <= 0) open[i]->result.close();
    }
  }
  for (Child& child : children)
    if (child.result.is_open()) kill(child.process, SIGKILL);
}

}  // namespace

std::vector<ProcessEnd> run_in_processes(std::size_t shards, const std::function<Bytes(Transport&)>& run,
                                         double seconds) {
  std::vector<std::vector<Handle>> sockets(shards);
  for (auto& of_shard : sockets) of_shard.resize(shards);
  for (std::size_t a = 0; a < shards; ++a)
    for (std::size_t b = a + 1; b < shards; ++b) {
      int pair[2] = {-1, -1};
      [[maybe_unused]] const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
      sockets[a][b] = Handle(pair[0]);
      sockets[b][a] = Handle(pair[1]);
    }
  std::fflush(nullptr);  // else each child would write it again
  std::vector<Child> children(shards);
  const pid_t parent = getpid();
  for (std::size_t shard = 0; shard < shards; ++shard) {
    int pipes[2] = {-1, -1};
    [[maybe_unused]] const int made = pipe2(pipes, O_CLOEXEC);
    Handle from(pipes[0]), to(pipes[1]);
    children[shard].process = fork();
    if (children[shard].process < 0) {
      for (std::size_t i = 0; i < shard; ++i) kill(children[i].process, SIGKILL);
      throw failure("E5008", {}, "the system starts no further process");
    }
    if (children[shard].process == 0) {
      std::vector<Handle> own = std::move(sockets[shard]);
      sockets.clear();  // those of others: else nobody would see that one has ended
      children.clear();
      from.close();
      live(ShardId(shard), std::move(own), to, parent, run);
    }
    children[shard].result = std::move(from);
  }
  sockets.clear();
  collect(children, seconds);
  std::vector<ProcessEnd> ends;
  for (Child& child : children) {
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    child.end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    ends.push_back(std::move(child.end));
  }
  return ends;
}

}  // namespace taskspec
