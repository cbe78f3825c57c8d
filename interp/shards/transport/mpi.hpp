// MPI as bytes from process to process, one call at a time. It lives in a module of its own, `taskspec-mpi.so`, which
// is loaded under mpirun alone: a program that is started without pays nothing for it, and is built without it.
//
//   const auto port = load_mpi();
//   port->send(1, tag, bytes);
//   port->look([](int tag, std::vector<std::byte> bytes) { ... });
//
// Ranks of one machine also share memory: lines for small contents, without a call of MPI.
//
// Whatever goes wrong comes as std::runtime_error, in the words of MPI.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace taskspec {

class ContentLine;

class MpiPort {
 public:
  // What MPI said when it was initialised.
  struct Facts {
    int rank = 0, ranks = 1;
    bool may_change_threads = false;  // any thread may call, one at a time
    long greatest_tag = 0;
  };
  using Sink = std::function<void(int tag, std::vector<std::byte> bytes)>;

  virtual ~MpiPort() = default;
  virtual Facts facts() const = 0;
  virtual void send(int rank, int tag, std::vector<std::byte> bytes) = 0;  // never waits
  // Takes what has come, and lets go of what has left; true if there was something.
  virtual bool look(const Sink& sink) = 0;
  virtual bool have_all_left() const = 0;  // what was sent from here, as far as the last look knows
  virtual void finalise() = 0;             // may wait for the others
  virtual void abort(int status) = 0;      // ends the processes of all ranks
  // From this rank to another, and the other way; null: there is none, as that is on another machine.
  virtual ContentLine* line_to(int rank) = 0;
  virtual ContentLine* line_from(int rank) = 0;
};

// What the module has; loaded once. Null, and why, where MPI cannot be initialised.
inline constexpr const char* mpi_module_entry = "taskspec_open_mpi";
using OpenMpi = MpiPort* (*)(char* why, std::size_t size);
// Which headers it was compiled with, these among them: those of another build lay out in another way what both use.
// Who loads it compares before anything else is called.
inline constexpr const char* mpi_module_stamp = "taskspec_mpi_stamp";
using MpiStamp = const char* (*)();

}  // namespace taskspec
