// How long NCCL's collectives take, as its own tuning model estimates them
// (github.com/NVIDIA/nccl, src/graph/tuning.cc; the bytes are those of
// github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md).
//
// n ranks, S bytes of the whole array, B bytes per second of the slowest level that the group uses
// (GroupLinks::ring_bytes_per_second):
//
// | ring | all_reduce                 | 2 (n-1)/n S/B + 2 L |
// | ring | all_gather, reduce_scatter | (n-1)/n S/B + L     |
// | ring | broadcast                  | S/B + L             |
// | tree | all_reduce                 | 2 S/B + 2 T         |
//
// L: the latencies of a ring's edges, without the fastest one: a value passes n-1 of them. T: of a
// chain through the members in one unit of the innermost level, and of a binary tree (floor(log2
// units)) over the units of each other level. An all-reduce takes the faster algorithm, and a
// barrier is one of no bytes. Reductions are part of the transfer.
//
// Not in the model: the protocols LL and LL128, and the number of channels. Put measured points
// into the machine file where they matter.
#pragma once

#include <string_view>

#include "distributed/simulator/collectives/group_links.h"

namespace phi::distributed::simulator {

struct NcclTransfer {
  double latency = 0;  // seconds before the first byte
  double bytes = 0;    // that pass through each unit of a level, shared out to its members

  /// If the ranks that share the group's links all use them at once.
  double seconds(const GroupLinks& links) const {
    return latency + bytes / links.ring_bytes_per_second();
  }
};

/// A collective of this name, which has a row above, with the links of its group of two or more
/// ranks. `bytes` is GroupCall::bytes. Errors: InvalidArgument for another name.
NcclTransfer nccl_transfer(const GroupLinks& links, std::string_view op, double bytes);

}  // namespace phi::distributed::simulator
