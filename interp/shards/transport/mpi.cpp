#include "interp/shards/transport/mpi.hpp"

#include <mpi.h>

#include <cstdio>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

#include "interp/shards/mpi_stamp.hpp"
#include "interp/shards/transport/content_line.hpp"

namespace taskspec {
namespace {

// Small messages have receives that wait for them; others are looked for.
constexpr std::size_t small = 128;
constexpr std::size_t posted_receives = 8;

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

class Port final : public MpiPort {
 public:
  explicit Port(int threads_given) {
    check(MPI_Comm_rank(MPI_COMM_WORLD, &facts_.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &facts_.ranks), "MPI_Comm_size");
    facts_.may_change_threads = threads_given >= MPI_THREAD_SERIALIZED;
    int* greatest = nullptr;
    int is_known = 0;
    check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest), &is_known), "MPI_Comm_get_attr");
    if (is_known) facts_.greatest_tag = *greatest;
    // Errors are returned and told, and nobody else's messages come in between.
    for (MPI_Comm* made : {&control_, &bulk_}) {
      check(MPI_Comm_dup(MPI_COMM_WORLD, made), "MPI_Comm_dup");
      check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
    for (std::size_t at = 0; at < posted_receives; ++at) post(at);
    share_lines();
  }

  Facts facts() const override { return facts_; }

  void send(int rank, int tag, std::vector<std::byte> bytes) override {
    Sent& sent = sent_.emplace_back();
    sent.bytes = std::move(bytes);
    const MPI_Comm to = sent.bytes.size() <= small ? control_ : bulk_;
    check(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, rank, tag, to, &sent.request),
          "MPI_Isend");
    if (ContentLine* line = line_to(rank)) line->sends_beside();
  }

  bool look(const Sink& sink) override {
    if (!may_find()) return false;
    bool has_come = look_for_small(sink);
    while (begin_large()) has_come = true;
    has_come = take_large(sink) || has_come;
    std::erase_if(sent_, [](Sent& sent) {
      int is_done = 0;
      check(MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      return is_done != 0;
    });
    return has_come;
  }

  bool have_all_left() const override { return sent_.empty(); }

  void finalise() override {
    for (MPI_Request& request : requests_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    MPI_Comm_free(&control_);
    MPI_Comm_free(&bulk_);
    check(MPI_Finalize(), "MPI_Finalize");
  }

  void abort(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

  ContentLine* line_to(int rank) override { return to_[static_cast<std::size_t>(rank)]; }
  ContentLine* line_from(int rank) override { return from_[static_cast<std::size_t>(rank)]; }

 private:
  struct Sent {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // To ask MPI takes as long as some small messages by a line: where all ranks are of this machine they have said how
  // many messages they sent. What was sent from here goes on while somebody asks.
  bool may_find() const {
    if (!sent_.empty()) return true;
    for (std::size_t rank = 0; rank < from_.size(); ++rank)
      if (static_cast<int>(rank) != facts_.rank && (!from_[rank] || from_[rank]->sent_beside() != taken_[rank]))
        return true;
    return false;
  }

  struct Coming {
    int rank = 0, tag = 0;
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // Each rank has the lines that lead to it. Where that memory is not to be had, on any of them, none has.
  void share_lines() {
    constexpr int most = 16;  // ranks of a machine: a line for each two of them
    to_.assign(static_cast<std::size_t>(facts_.ranks), nullptr);
    from_ = to_;
    taken_.assign(to_.size(), 0);
    MPI_Comm machine = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
    check(MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int here = 0, self = 0;
    check(MPI_Comm_size(machine, &here), "MPI_Comm_size");
    check(MPI_Comm_rank(machine, &self), "MPI_Comm_rank");
    if (here > 1 && here <= most) {
      void* own = nullptr;
      int is_had =
          MPI_Win_allocate_shared(bytes_of_lines(here), 1, MPI_INFO_NULL, machine, &own, &window_) == MPI_SUCCESS;
      if (is_had)
        for (int rank = 0; rank < here; ++rank) new (first_line(own) + rank) ContentLine;
      // And nobody sends before the lines are made.
      check(MPI_Allreduce(MPI_IN_PLACE, &is_had, 1, MPI_INT, MPI_MIN, machine), "MPI_Allreduce");
      if (is_had)
        note_lines(machine, here, self, own);
      else
        window_ = MPI_WIN_NULL;  // left alone: to free it takes all of them
    }
    check(MPI_Comm_free(&machine), "MPI_Comm_free");
  }

  static MPI_Aint bytes_of_lines(int ranks) {
    return static_cast<MPI_Aint>(static_cast<std::size_t>(ranks + 1) * sizeof(ContentLine));
  }
  // In memory that begins anywhere, though at the same place of a page for all.
  static ContentLine* first_line(void* memory) {
    std::size_t room = 2 * sizeof(ContentLine);
    return static_cast<ContentLine*>(std::align(alignof(ContentLine), sizeof(ContentLine), memory, room));
  }

  void note_lines(MPI_Comm machine, int here, int self, void* own) {
    MPI_Group world = MPI_GROUP_NULL, near = MPI_GROUP_NULL;
    check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
    check(MPI_Comm_group(machine, &near), "MPI_Comm_group");
    for (int rank = 0; rank < here; ++rank) {
      int place = 0;  // among all ranks
      check(MPI_Group_translate_ranks(near, 1, &rank, world, &place), "MPI_Group_translate_ranks");
      if (rank == self) continue;
      MPI_Aint size = 0;
      int unit = 0;
      void* theirs = nullptr;
      check(MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&theirs)), "MPI_Win_shared_query");
      to_[static_cast<std::size_t>(place)] = first_line(theirs) + self;
      from_[static_cast<std::size_t>(place)] = first_line(own) + rank;
    }
    MPI_Group_free(&world);
    MPI_Group_free(&near);
  }

  void post(std::size_t at) {
    check(MPI_Irecv(posted_[at], small, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &requests_[at]), "MPI_Irecv");
  }

  bool look_for_small(const Sink& sink) {
    int count = 0, which[posted_receives];
    MPI_Status statuses[posted_receives];
    check(MPI_Testsome(posted_receives, requests_, &count, which, statuses), "MPI_Testsome");
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(which[i]);
      int size = 0;
      check(MPI_Get_count(&statuses[i], MPI_BYTE, &size), "MPI_Get_count");
      ++taken_[static_cast<std::size_t>(statuses[i].MPI_SOURCE)];
      sink(statuses[i].MPI_TAG, std::vector<std::byte>(posted_[at], posted_[at] + size));
      post(at);
    }
    return count > 0;
  }

  bool begin_large() {
    int is_there = 0, size = 0;
    MPI_Message found;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, bulk_, &is_there, &found, &status), "MPI_Improbe");
    if (!is_there) return false;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    // Its sender may compute just now: it comes when it comes.
    Coming& coming = coming_.emplace_back();
    coming.rank = status.MPI_SOURCE;
    coming.tag = status.MPI_TAG;
    coming.bytes.resize(static_cast<std::size_t>(size));
    check(MPI_Imrecv(coming.bytes.data(), size, MPI_BYTE, &found, &coming.request), "MPI_Imrecv");
    return true;
  }

  bool take_large(const Sink& sink) {
    bool has_come = false;
    for (auto coming = coming_.begin(); coming != coming_.end();) {
      int is_done = 0;
      check(MPI_Test(&coming->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_done) {
        ++taken_[static_cast<std::size_t>(coming->rank)];
        sink(coming->tag, std::move(coming->bytes));
        coming = coming_.erase(coming);
        has_come = true;
      } else {
        ++coming;
      }
    }
    return has_come;
  }

  Facts facts_;
  MPI_Comm control_ = MPI_COMM_NULL, bulk_ = MPI_COMM_NULL;
  std::byte posted_[posted_receives][small];
  MPI_Request requests_[posted_receives];
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<ContentLine*> to_, from_;  // by rank
  std::vector<std::uint64_t> taken_;     // likewise: messages
  std::list<Sent> sent_;                 // a request keeps its address
  std::list<Coming> coming_;
};

}  // namespace
}  // namespace taskspec

extern "C" const char* taskspec_mpi_stamp() { return taskspec::mpi_stamp; }

extern "C" taskspec::MpiPort* taskspec_open_mpi(char* why, std::size_t size) {
  try {
    int given = MPI_THREAD_SINGLE;
    taskspec::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given), "MPI_Init_thread");
    return new taskspec::Port(given);
  } catch (const std::runtime_error& error) {
    std::snprintf(why, size, "%s", error.what());
    return nullptr;
  }
}
