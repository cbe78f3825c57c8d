// What a backend has to show of a run beyond the fields of its report: tables for a terminal, files, a tab of a page.
// A backend that has such pictures is a PicturedBackend, too; sessions ask it at their end.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taskspec {

class RunPicture {
 public:
  enum class Tab : std::uint8_t { chip, shards };

  virtual ~RunPicture() = default;
  virtual Tab tab() const = 0;
  virtual std::string text() const = 0;
  virtual std::string json(bool whole) const = 0;  // whole: with what only a page draws
  virtual std::string csv_head() const = 0;
  virtual std::string csv() const = 0;
  virtual std::string trace(int process) const = 0;  // events of Chrome's format, each with ",\n" before it
};

using RunPictures = std::vector<std::shared_ptr<const RunPicture>>;

class PicturedBackend {
 public:
  virtual ~PicturedBackend() = default;
  virtual void keep_pictures() = 0;  // somebody will look: timelines and spikes are kept from here on
  virtual RunPictures pictures() const = 0;
};

}  // namespace taskspec
