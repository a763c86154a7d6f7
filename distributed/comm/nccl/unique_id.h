// NCCL's unique id, by which the members of a new communicator connect.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "distributed/comm/group.h"

namespace phi::distributed {

/// The contents of ncclUniqueId.
using UniqueId = std::array<std::byte, 128>;

/// Broadcasts an id over `control`, a collective call. Only the first member calls `make`.
UniqueId share_unique_id(Group& control, const std::function<UniqueId()>& make);

}  // namespace phi::distributed
