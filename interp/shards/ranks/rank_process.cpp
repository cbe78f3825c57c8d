#include "interp/shards/ranks/rank_process.hpp"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "interp/shards/mpi_stamp.hpp"
#include "interp/shards/ranks/descriptors.hpp"
#include "interp/shards/ranks/ranks.hpp"
#include "ir/files/installed.hpp"

namespace taskspec {
namespace {

// A process is one rank for as long as it lives, so what it shares with others is one for the process as well. Left to
// the system at the end: handlers that run then may still need it.
struct RankProcess {
  std::optional<CallNotes> notes;
  std::optional<std::size_t> rank;
  std::unique_ptr<MpiLine> line;
  int starter = -1;  // a socket that is open for as long as this process lives
};

RankProcess& process() {
  static auto* const made = new RankProcess;
  return *made;
}

using State = CallNotes::State;

void state(State now) {
  RankProcess& own = process();
  if (own.notes && own.rank) own.notes->rank(*own.rank).state = static_cast<std::uint32_t>(now);
}

// Who leaves while others still count on its shards is no rank that has come to its end: mpirun then ends the others.
void at_end_of_process() {
  RankProcess& own = process();
  if (own.line && own.line->open_networks > 0) return;
  if (own.line && own.line->port) {
    try {
      const std::lock_guard lock(own.line->mutex);
      own.line->say_end(0);
      state(State::ending);
      own.line->port->finalise();
    } catch (...) {
      return;
    }
  }
  state(State::ended);
}

void end_well() {
  static const bool is_registered = std::atexit(at_end_of_process) == 0;
  (void)is_registered;
}

Error misfit(std::string what) { return failure("E6002", {}, std::move(what)); }

}  // namespace

std::optional<std::size_t> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  std::size_t number = 0;
  if (!text) return std::nullopt;
  const char* const end = text + std::strlen(text);
  const auto [at, wrong] = std::from_chars(text, end, number);
  if (wrong != std::errc() || at != end) return std::nullopt;
  return number;
}

// In an installation it lies where its libraries lie, below the name of the product.
std::string mpi_module() {
  namespace fs = std::filesystem;
  std::error_code none;
  for (const std::string& folder : installed_folders(".", "interp/shards"))
    for (const fs::path& place : {fs::path(folder), fs::path(folder) / "../.." / TASKSPEC_LIBRARIES / "taskspec"})
      if (const fs::path module = place / "taskspec-mpi.so"; fs::exists(module, none)) return module.string();
  return {};
}

CallNotes* starter_notes() { return process().notes ? &*process().notes : nullptr; }

void fit_facts(const MpiPort::Facts& facts) {
  if (!facts.may_change_threads) throw misfit("this MPI library lets only one thread of a process call it");
  constexpr long tags = (1L << 31) - 1;
  if (facts.greatest_tag < tags)
    throw misfit("this MPI library has tags up to " + std::to_string(facts.greatest_tag) + ", and shards need " +
                 std::to_string(tags));
}

namespace {

// Nothing else of it is called before: it would take what it is given for something else, and ranks would wait for
// ever.
void refuse_other_build(void* library, const std::string& module) {
  const auto stamp = reinterpret_cast<MpiStamp>(dlsym(library, mpi_module_stamp));
  if (stamp && std::string_view(stamp()) == mpi_stamp) return;
  Diag diag =
      misfit("MPI cannot be loaded: '" + module + "' belongs to another build of taskspec").diags().items().front();
  diag.help("build both again (./dev build), or install them together");
  throw Error(std::move(diag));
}

std::unique_ptr<MpiLine> load_mpi() {
  const std::string module = mpi_module();
  if (module.empty()) throw misfit("this program was started by mpirun, and was built without MPI");
  // Parts of MPI that it loads itself look for its names among those of the whole program.
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const wrong = library ? nullptr : dlerror();
  if (!library) throw misfit("MPI cannot be loaded: " + std::string(wrong ? wrong : module));
  const auto open = reinterpret_cast<OpenMpi>(dlsym(library, mpi_module_entry));
  if (!open) throw misfit("MPI cannot be loaded: '" + module + "' is another thing");
  refuse_other_build(library, module);
  char why[512] = "";
  auto line = std::make_unique<MpiLine>();
  line->port.reset(open(why, sizeof why));
  if (!line->port) throw misfit("MPI cannot be initialised: " + std::string(why));
  fit_facts(line->port->facts());
  return line;
}

}  // namespace

Result<MpiLine*> mpi_line() {
  static std::mutex mutex;  // host and graph program may ask at the same time
  const std::lock_guard lock(mutex);
  RankProcess& own = process();
  try {
    if (!own.line) {
      own.line = load_mpi();
      end_well();
    }
  } catch (const Error& error) {
    return error.diags();
  }
  return own.line.get();
}

bool has_mpi_line() { return process().line != nullptr; }

// Where the starter is not to be reached, on another machine, all goes the way that mpirun has made.
void join_starter() {
  const char* const name = std::getenv(starter_variable);
  const auto rank = number_in_environment(rank_variable);
  if (!name || !rank) return;
  Descriptor line = connect_abstract(name);
  unsetenv(starter_variable);
  if (!line) return;
  const auto number = static_cast<std::uint32_t>(*rank);
  if (::send(line.get(), &number, sizeof number, MSG_NOSIGNAL) != sizeof number) return;
  std::vector<Descriptor> got = receive_descriptors(line.get());
  if (got.size() < 3) return;
  // As it is here: notes, output, error, and input for the first one.
  for (int at = 1; at <= 2; ++at) dup2(got[static_cast<std::size_t>(at)].get(), at);
  if (got.size() == 4 && number == 0) dup2(got[3].get(), 0);
  RankProcess& own = process();
  own.starter = line.release();
  own.rank = rank;
  if (auto notes = CallNotes::at(got[0].release()); notes && *rank < notes->ranks())
    own.notes.emplace(std::move(*notes));
  else
    return;
  own.notes->rank(*rank).process = getpid();
  state(State::begun);
  end_well();
}

}  // namespace taskspec
