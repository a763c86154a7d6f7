// --device_limit: a hard limit of the bytes of tensors that each rank holds on its device.
#pragma once

#include <gflags/gflags_declare.h>

#include <cstdint>
#include <optional>

DECLARE_string(device_limit);

namespace phi::job {

/// The limit of a rank in bytes; nothing without the flag. Errors: UsageError if the flag is
/// neither one number nor one for each of `world_size` ranks.
std::optional<int64_t> device_limit_of(int64_t rank, int64_t world_size);

}  // namespace phi::job
