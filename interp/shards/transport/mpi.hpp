// Ranks of MPI as shards: only built where Open MPI is found (option `mpi`).
//
//   const auto session = MpiSession::start();          // under mpirun alone
//   Collectives collectives(session->transport());
//   session->finish();
#pragma once
#include <memory>

#include "interp/shards/transport/transport.hpp"

namespace taskspec {

class MpiSession {
 public:
  // This process was started by mpirun: otherwise its start-up is not to be paid.
  static bool is_under_mpirun();
  static std::unique_ptr<MpiSession> start();
  // Throws Error E6002 where the library gives so little thread support; start() does so, too.
  static void check_threads(int given);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;

  Transport& transport();
  // All that was sent has left; every rank comes to this.
  void finish();

 private:
  class End;
  MpiSession();
  std::unique_ptr<End> end_;
};

}  // namespace taskspec
