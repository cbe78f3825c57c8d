#include "interp/train/fit_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace taskspec {

FitProgress::FitProgress() : shows_(isatty(STDERR_FILENO) == 1) {}

FitProgress::~FitProgress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void FitProgress::at(std::int64_t epoch, std::size_t row, std::size_t rows) {
  constexpr std::chrono::milliseconds pause{200};
  if (!shows_ || Clock::now() - last_ < pause) return;
  last_ = Clock::now();
  shown_ = true;
  const double seconds = std::chrono::duration<double>(last_ - begin_).count();
  const std::string line = fmt::format("\r\x1b[Kepoch {}, row {} of {}, {:.1f} s", epoch, row, rows, seconds);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace taskspec
