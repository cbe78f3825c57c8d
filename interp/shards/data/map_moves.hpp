// The elements of a launch's map between shards, from inside of an operation: each of these waits until it is done, and
// calls `meanwhile` between looks. Every shard has memory for the whole map and has filled in the rows of its own
// points.
//
//   gather_elements(port, shape, own, rows, meanwhile);             // now every shard has all rows
//   reduce_elements(port, shape, own, rows, into, meanwhile);       // the bits of interp/host/fold, for any sharding
//   share_element(port, owner, row, bytes, meanwhile);              // one row of `owner`
//
// All shards call them in one order.
#pragma once
#include "interp/shards/analysis/sharding.hpp"
#include "interp/shards/collectives/tree.hpp"
#include "interp/shards/data/data_port.hpp"

namespace taskspec {

// Own points as runs, ascending.
std::vector<Run> runs_of(const OwnPoints& own);

// `shape.op` does not matter here.
void gather_elements(DataPort& port, const MapShape& shape, const OwnPoints& own, std::byte* rows,
                     FunctionRef<void()> meanwhile);
// `into` has the precision of reduced_precision.
void reduce_elements(DataPort& port, const MapShape& shape, const OwnPoints& own, const std::byte* rows,
                     std::byte* into, FunctionRef<void()> meanwhile);
void share_element(DataPort& port, ShardId owner, std::byte* row, std::size_t bytes, FunctionRef<void()> meanwhile);

}  // namespace taskspec
