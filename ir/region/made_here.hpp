// The second place of a message about a region or a partition: where a text makes it. There is none where C++ made it,
// or where the message itself stands there.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/region/forest.hpp"

namespace taskspec {

void label_made(Diag& diag, Span made, const std::string& what);  // "the partition is made here"
inline void label_made(Diag& diag, const Region& region) { label_made(diag, region.made, "'" + region.name + "'"); }
inline void label_made(Diag& diag, const Partition& p) { label_made(diag, p.made, "the partition"); }

// What is wrong at `span` with a partition.
Error failure(Code code, Span span, std::string message, const Partition& p);

}  // namespace taskspec
