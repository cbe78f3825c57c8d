// The processes that run one program together, where there are several: who this one is among them, and what the first
// one says to the others. Set once, before anything runs.
//
//   if (RankLine* ranks = RankLine::here()) ... ranks->rank() ...
#pragma once
#include <memory>

#include "ir/types/value.hpp"

namespace taskspec {

class RankLine {
 public:
  virtual ~RankLine() = default;
  virtual std::int64_t rank() const = 0;
  // A host value, by the part of the program that asks and how many it asked for before. The first rank has it; the
  // others wait for it. Throws Error E5009 once the first one has ended without.
  virtual Value agree(int part, std::uint64_t number, const Value& own) = 0;
  virtual void end() = 0;  // the program of this rank has

  static RankLine* here();  // null: this process is the only one
  static void set(std::unique_ptr<RankLine> line);
};

}  // namespace taskspec
