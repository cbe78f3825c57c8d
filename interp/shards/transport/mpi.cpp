#include "interp/shards/transport/mpi.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

// Small messages have receives that wait for them; others are looked for.
constexpr std::size_t control_bytes = 128;
constexpr std::size_t posted_receives = 8;

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw failure("E6002", {}, std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace

// One lock around every call: MPI is told that calls come one at a time.
class MpiSession::End final : public Transport {
 public:
  End() {
    int rank = 0, ranks = 1;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    self_ = ShardId(static_cast<std::size_t>(rank));
    ranks_ = static_cast<std::size_t>(ranks);
    for (MPI_Comm* made : {&control_, &bulk_}) {
      check(MPI_Comm_dup(MPI_COMM_WORLD, made), "MPI_Comm_dup");
      check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
    posted_.resize(posted_receives);
    for (Posted& posted : posted_) post(posted);
  }

  ShardId self() const override { return self_; }
  std::size_t shards() const override { return ranks_; }

  void send(Message message) override {
    const std::lock_guard lock(mutex_);
    if (message.to == self_) return come_.push_back(std::move(message));
    Sent& sent = sent_.emplace_back();
    put_message(sent.bytes, message);
    const MPI_Comm to = sent.bytes.size() <= control_bytes ? control_ : bulk_;
    check(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE,
                    static_cast<int>(message.to.index()), 0, to, &sent.request),
          "MPI_Isend");
  }

  std::optional<Message> receive() override {
    const std::lock_guard lock(mutex_);
    if (come_.empty()) look();
    if (come_.empty()) return std::nullopt;
    std::optional<Message> first = std::move(come_.front());
    come_.pop_front();
    return first;
  }

  // MPI has nothing to sleep on. So: look for a while, give way to others, then sleep for a little at a time.
  void wait(std::int64_t nanoseconds) override {
    using Clock = std::chrono::steady_clock;
    constexpr auto looks = std::chrono::microseconds(20), yields = std::chrono::microseconds(200);
    const auto begin = Clock::now();
    const bool has_a_core = ranks_ <= std::thread::hardware_concurrency();
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (come_.empty()) look();
        if (!come_.empty() || std::exchange(is_awake_, false)) return;
      }
      const auto waited = Clock::now() - begin;
      if (waited >= std::chrono::nanoseconds(nanoseconds)) return;
      if (waited > yields)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      else if (!has_a_core || waited > looks)
        std::this_thread::yield();
    }
  }

  void wake() override {
    const std::lock_guard lock(mutex_);
    is_awake_ = true;
  }

  // mpirun ends all ranks when one dies.
  std::optional<ShardId> lost() const override { return std::nullopt; }

  void finish() {
    for (bool is_done = false; !is_done;) {
      const std::lock_guard lock(mutex_);
      look();
      is_done = sent_.empty();
    }
    check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    for (Posted& posted : posted_) {
      MPI_Cancel(&posted.request);
      MPI_Wait(&posted.request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&control_);
    MPI_Comm_free(&bulk_);
  }

 private:
  struct Posted {
    Bytes bytes = Bytes(control_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
  };

  struct Sent {
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void post(Posted& posted) {
    check(MPI_Irecv(posted.bytes.data(), static_cast<int>(control_bytes), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                    control_, &posted.request),
          "MPI_Irecv");
  }

  void read(ByteView bytes) {
    Message message;
    if (!get_message(bytes, message)) bug("what came from a rank is no message");
    come_.push_back(std::move(message));
  }

  // Takes what has come, and lets go of what has left.
  void look() {
    for (Posted& posted : posted_) {
      int is_there = 0, size = 0;
      MPI_Status status;
      check(MPI_Test(&posted.request, &is_there, &status), "MPI_Test");
      if (!is_there) continue;
      check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
      read(ByteView(posted.bytes).first(static_cast<std::size_t>(size)));
      post(posted);
    }
    for (;;) {
      int is_there = 0, size = 0;
      MPI_Message found;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, bulk_, &is_there, &found, &status), "MPI_Improbe");
      if (!is_there) break;
      check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
      Bytes bytes(static_cast<std::size_t>(size));
      check(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &found, MPI_STATUS_IGNORE), "MPI_Mrecv");
      read(bytes);
    }
    std::erase_if(sent_, [](Sent& sent) {
      int is_done = 0;
      check(MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      return is_done != 0;
    });
  }

  ShardId self_;
  std::size_t ranks_ = 1;
  MPI_Comm control_ = MPI_COMM_NULL, bulk_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::vector<Posted> posted_;
  std::list<Sent> sent_;  // a request keeps its address
  std::deque<Message> come_;
  bool is_awake_ = false;
};

MpiSession::MpiSession() = default;
MpiSession::~MpiSession() = default;

bool MpiSession::is_under_mpirun() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

void MpiSession::check_threads(int given) {
  if (given < MPI_THREAD_SERIALIZED)
    throw failure("E6002", {}, "this MPI library lets only one thread of a process call it");
}

std::unique_ptr<MpiSession> MpiSession::start() {
  int given = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given), "MPI_Init_thread");
  check_threads(given);
  std::unique_ptr<MpiSession> made(new MpiSession);
  made->end_ = std::make_unique<End>();
  return made;
}

Transport& MpiSession::transport() { return *end_; }

void MpiSession::finish() {
  end_->finish();
  check(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace taskspec
