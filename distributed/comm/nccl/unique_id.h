// The bytes by which the members of a new communicator find each other.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "distributed/comm/group.h"

namespace phi::distributed {

/// NCCL's.
using UniqueId = std::array<std::byte, 128>;

/// What `make` gives the first member of `control`, which is the only one that calls it, for every
/// member: a call of the group.
UniqueId share_unique_id(Group& control, const std::function<UniqueId()>& make);

}  // namespace phi::distributed
