// `./dev fuzz`: changed samples into a reader, thousands in one process. A second process watches the first: what
// makes that crash, hang or take all memory is a finding, is kept as a file, and the work goes on behind it.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <thread>

#include "ir/base/ascii.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/temporary_folder.hpp"

// Read by the sanitizers before main. One allocation of a gigabyte is a fault: inputs have a few kilobytes.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:allocator_may_return_null=0:detect_leaks=0:quarantine_size_mb=64:handle_abort=1:"
         "detect_stack_use_after_return=0";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1"; }

namespace taskspec::fuzz {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto longest_case = 5s;
constexpr std::uint64_t most_pages = (std::uint64_t{3} << 30) / 4096;
constexpr std::size_t most_findings = 20;  // of one reader, of one kind each

struct Settings {
  std::string reader;
  double seconds = 60;
  std::uint64_t seed = 0, first = 0, count = UINT64_MAX;
  bool alone = false;  // one case, unwatched
  std::string folder;
};

// What the working process tells the watching one.
struct Shared {
  std::atomic<std::uint64_t> number{0}, done{0}, accepted{0};
  std::atomic<Clock::rep> began{0};
  std::array<char, 1000> wrong{};
};

std::string summary_of(const std::string& errors) {
  for (const char* mark : {"SUMMARY: ", "runtime error: ", "internal error: "})
    if (const std::size_t at = errors.find(mark); at != std::string::npos)
      return errors.substr(at, errors.find('\n', at) - at);
  return "";
}

// Findings that differ in numbers only are one.
std::string without_numbers(std::string text) {
  std::erase_if(text, is_digit);
  return text;
}

// Inputs from `first` on until one is a finding or the time is over.
[[noreturn]] void work(const Trial& trial, const Settings& settings, Shared& shared, std::uint64_t first,
                       Clock::time_point end, const std::string& errors) {
  if (!std::freopen(errors.c_str(), "w", stderr)) _exit(1);
  for (std::uint64_t number = first; number - settings.first < settings.count && Clock::now() < end; ++number) {
    shared.number = number;
    shared.began = Clock::now().time_since_epoch().count();
    const Taken taken = trial.run(trial.input(settings.seed, number));
    ++shared.done;
    if (taken.accepted) ++shared.accepted;
    if (taken.wrong.empty()) continue;
    std::strncpy(shared.wrong.data(), taken.wrong.c_str(), shared.wrong.size() - 1);
    _exit(1);
  }
  _exit(0);
}

// How it ended otherwise than well; empty: well.
std::string ending(pid_t worker, const Shared& shared) {
  const std::string pages = fmt::format("/proc/{}/statm", worker);
  for (int status = 0;;) {
    const pid_t ended = waitpid(worker, &status, WNOHANG);
    if (ended == worker && WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    if (ended == worker && shared.wrong[0] != '\0') return shared.wrong.data();
    if (ended == worker)
      return WIFSIGNALED(status) ? fmt::format("signal {}", strsignal(WTERMSIG(status)))
                                 : fmt::format("exit {}", WEXITSTATUS(status));
    std::uint64_t all = 0, resident = 0;
    std::ifstream(pages) >> all >> resident;
    const auto took = Clock::now().time_since_epoch() - Clock::duration(shared.began.load());
    if (resident > most_pages || took > longest_case) {
      kill(worker, SIGKILL);
      waitpid(worker, &status, 0);
      return resident > most_pages ? fmt::format("{} MiB of memory", resident / 256) : "more than 5 seconds";
    }
    std::this_thread::sleep_for(10ms);
  }
}

class Watch {
 public:
  Watch(const ReaderName& reader, const Settings& settings) : reader_(reader), settings_(settings) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (memory) Shared;
  }
  Watch(const Watch&) = delete;
  ~Watch() { munmap(shared_, sizeof(Shared)); }

  // How many kinds of findings there are.
  std::size_t run() {
    const auto begin = Clock::now();
    const auto end =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings_.seconds));
    std::uint64_t next = settings_.first;
    while (Clock::now() < end && next - settings_.first < settings_.count && findings_.size() < most_findings) {
      shared_->wrong[0] = '\0';
      shared_->began = Clock::now().time_since_epoch().count();
      std::fflush(nullptr);
      const pid_t worker = fork();
      if (worker < 0) throw std::runtime_error("no process can be started");
      if (worker == 0) work(trial_, settings_, *shared_, next, end, folder_ / "errors");
      const std::string wrong = ending(worker, *shared_);
      if (wrong.empty()) break;
      found(shared_->number, wrong);
      next = shared_->number + 1;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto done = static_cast<double>(shared_->done);
    fmt::print("{:8} {:9.0f} executions, {:6.0f} a second, {:4.1f} % of them good input, {} findings{}\n", reader_.name,
               done, done / seconds, 100.0 * static_cast<double>(shared_->accepted) / done, findings_.size(),
               findings_.size() == most_findings ? ", and stopped" : "");
    std::fflush(stdout);
    return findings_.size();
  }

 private:
  void found(std::uint64_t number, const std::string& wrong) {
    const std::string summary = summary_of(read_file(folder_ / "errors"));
    const std::string what = summary.empty() ? wrong : summary;
    if (++findings_[without_numbers(what)] > 1) return;
    const std::string path = fmt::format("{}/{}-{}-{}", settings_.folder, reader_.name, settings_.seed, number);
    std::ofstream(path, std::ios::binary) << trial_.input(settings_.seed, number);
    fmt::print("FINDING in {}: {}\n  input: {}\n  again: ./dev fuzz {} --seed {} --case {}\n", reader_.name, what, path,
               reader_.name, settings_.seed, number);
    std::fflush(stdout);
  }

  const ReaderName& reader_;
  const Settings& settings_;
  const Trial trial_{*reader_.reader};
  const TemporaryFolder folder_;
  Shared* shared_ = nullptr;
  std::map<std::string, std::size_t> findings_;  // how often, by what was wrong
};

int run_alone(const ReaderName& reader, const Settings& settings) {
  const Trial trial(*reader.reader);
  const std::string input = trial.input(settings.seed, settings.first);
  const std::string path = fmt::format("{}/{}-{}-{}", settings.folder, reader.name, settings.seed, settings.first);
  std::ofstream(path, std::ios::binary) << input;
  fmt::print("input: {} ({} bytes)\n", path, input.size());
  std::fflush(stdout);
  const Taken taken = trial.run(input);
  fmt::print("{}\n", taken.accepted ? "good input" : taken.wrong.empty() ? "refused" : taken.wrong);
  return taken.wrong.empty() ? 0 : 1;
}

int usage() {
  fmt::print(stderr, "fuzz READER|all [SECONDS] [--seed N] [--count N] [--case N]\n");
  for (const ReaderName& reader : all_readers()) fmt::print(stderr, "  {:8} {}\n", reader.name, reader.what);
  return 2;
}

template <class T>
bool read_number(const char* text, T& number) {
  const char* end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end && text != end;
}

std::optional<Settings> read_settings(int argc, char** argv) {
  Settings settings;
  settings.seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / 1s);
  settings.folder = std::filesystem::temp_directory_path() / "taskspec-fuzz";
  if (argc < 2) return std::nullopt;
  settings.reader = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool option = word.starts_with("--") && i + 1 < argc;
    if (option && word == "--seed" && read_number(argv[i + 1], settings.seed)) {
      ++i;
    } else if (option && word == "--count" && read_number(argv[i + 1], settings.count)) {
      ++i;
    } else if (option && word == "--case" && read_number(argv[i + 1], settings.first)) {
      settings.alone = true;
      ++i;
    } else if (!read_number(argv[i], settings.seconds)) {
      return std::nullopt;
    }
  }
  return settings;
}

int run(int argc, char** argv) {
  std::optional<Settings> settings = read_settings(argc, argv);
  if (!settings) return usage();
  std::filesystem::create_directories(settings->folder);
  const ReaderName* one = find_reader(settings->reader);
  if (!one && settings->reader != "all") return usage();
  if (settings->alone) return one ? run_alone(*one, *settings) : usage();
  fmt::print("seed {}\n", settings->seed);
  if (one) return Watch(*one, *settings).run() > 0 ? 1 : 0;
  settings->seconds /= static_cast<double>(all_readers().size());
  std::size_t findings = 0;
  for (const ReaderName& reader : all_readers()) findings += Watch(reader, *settings).run();
  return findings > 0 ? 1 : 0;
}

}  // namespace

}  // namespace taskspec::fuzz

int main(int argc, char** argv) { return taskspec::fuzz::run(argc, argv); }
