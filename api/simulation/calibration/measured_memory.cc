// Compares what the block cache obtained with what tensors need, and the process with the cache.
#include "api/simulation/calibration/measured_memory.h"

#include <algorithm>

#include "distributed/comm/group.h"
#include "distributed/comm/world.h"
#include "phi/common/process/resident_memory.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::simulation {

using distributed::World;

void MeasuredMemory::note_scratch(const std::string& family, const Work& work) {
  MemoryAccount& account = *RankContext::current().memory();
  account.blocks().release();
  account.reset_peak(DeviceKind::CPU);
  const int64_t before = account.stats(DeviceKind::CPU).reserved;
  const MemoryLedger ledger(account);
  work();
  const int64_t obtained = account.stats(DeviceKind::CPU).peak_reserved - before;
  int64_t& most = scratch_[family];
  most = std::max(most, obtained - ledger.reserved());
}

void MeasuredMemory::note_process() {
  MemoryAccount& account = *RankContext::current().memory();
  account.blocks().release();
  process_ = std::max(process_, resident_memory().now - account.stats(DeviceKind::CPU).reserved);
}

void MeasuredMemory::write(distributed::simulator::MachineModel* machine) const {
  int64_t scratch = 0;
  for (const auto& [family, bytes] : scratch_) scratch += bytes;
  constexpr double kMiB = 1 << 20;
  double most[] = {static_cast<double>(scratch) / kMiB, static_cast<double>(process_) / kMiB};
  World::current().everyone().all_reduce(most, 2, DataType::FLOAT64, distributed::ReduceKind::kMax);
  machine->scratch_MiB = most[0];
  machine->process_MiB = most[1];
}

}  // namespace phi::simulation
