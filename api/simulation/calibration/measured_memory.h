// MeasuredMemory: what a process takes from the system besides its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/simulation/calibration/timing.h"
#include "distributed/simulator/machine.h"

namespace phi::simulation {

class MeasuredMemory {
 public:
  /// Calls `work` and notes the scratch memory of its kernels. Blocks of different kernels may be
  /// of different sizes and are all kept, so families are added up.
  void note_scratch(const std::string& family, const Work& work);
  /// Notes what the process has in memory besides blocks. Returns cached blocks to the system.
  void note_process();
  /// Sets scratch_MiB and process_MiB to the most that was noted on any rank of the current world.
  /// All ranks call it.
  void write(distributed::simulator::MachineModel* machine) const;

 private:
  std::map<std::string, int64_t> scratch_;  // bytes, by family
  int64_t process_ = 0;
};

}  // namespace phi::simulation
