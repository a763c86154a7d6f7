// Machines: which ranks share a machine. Ranks detect this themselves; Open MPI compares host
// names.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace phi::distributed {

/// Returns, by rank, whether it shares this rank's machine: whether its rank table has the same
/// token (shared_rank_table.h; 0: the rank table is private). Collective over all ranks.
///
/// Errors   Unavailable on all ranks, if two ranks have the same host name but not the same
///          machine: Open MPI would write to memory that they do not share.
std::vector<bool> ranks_of_this_machine(int64_t rank, int64_t size, uint64_t rank_table_token);

}  // namespace phi::distributed
