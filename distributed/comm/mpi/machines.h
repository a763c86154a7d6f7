// Machines: which ranks share one, as they find out for themselves; Open MPI goes by host names.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace phi::distributed {

/// By rank: whether it shares this rank's machine, told by the token of its board (board.h; 0: it
/// has none in common with anybody). Collective over all ranks.
/// Errors: Unavailable on all ranks, if two ranks call their machines by one name, and they are not
/// one machine: Open MPI would write to memory that they do not share.
std::vector<bool> ranks_of_this_machine(int64_t rank, int64_t size, uint64_t board_token);

}  // namespace phi::distributed
