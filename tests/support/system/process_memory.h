// Memory of a process as the system sees it.
//
//   EXPECT_LT(resident_growth([&] { shard_tensor(huge, mesh, {Shard(0)}); }), 100 << 20);
#pragma once

#include <cstdint>
#include <functional>

namespace phi::testing {

/// Runs `work` in a child process (a copy of this one, which has only the calling thread) and gives
/// the bytes by which its largest resident size (VmHWM) exceeds what was resident when it began.
/// Failures and exceptions of `work` are failures of the test.
int64_t resident_growth(const std::function<void()>& work);

}  // namespace phi::testing
