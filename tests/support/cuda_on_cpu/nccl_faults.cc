// Fault injection of the NCCL emulator.
#include "support/cuda_on_cpu/nccl_faults.h"

#include "support/cuda_on_cpu/nccl_on_cpu.h"
#include "support/cuda_on_cpu/nccl_types.h"
#include "support/cuda_on_cpu/settings.h"

namespace cuda_on_cpu {
namespace nccl {
namespace {

void forget() {
  const Lock lock(all().mutex);
  all().faults = {};
  all().changed.notify_all();
}

// Constructs all() before there are threads: ThreadSanitizer does not see synchronisation of its
// construction here.
const bool begun = (all(), at_reset(forget), true);

}  // namespace

int Faults::version_of(int gpu) const {
  const auto own = versions.find(gpu);
  return own != versions.end() ? own->second : version;
}

std::optional<ncclResult_t> Faults::count_call(int gpu) {
  const auto stop = stops.find(gpu);
  if (stop == stops.end()) return std::nullopt;
  if (stop->second.calls > 0) {
    --stop->second.calls;
    return std::nullopt;
  }
  return stop->second.error;
}

}  // namespace nccl

using namespace nccl;

void set_nccl_version(int version) {
  const Lock lock(all().mutex);
  all().faults.version = version;
}

void set_nccl_version(int gpu, int version) {
  const Lock lock(all().mutex);
  all().faults.versions[gpu] = version;
}

void stop_nccl_rank(int gpu, int calls, ncclResult_t error) {
  const Lock lock(all().mutex);
  all().faults.stops[gpu] = {calls, error};
}

void hang_nccl_abort(int gpu) {
  const Lock lock(all().mutex);
  all().faults.hung_aborts.insert(gpu);
}

void hang_nccl_calls(int gpu) {
  const Lock lock(all().mutex);
  all().faults.hung_calls.insert(gpu);
}

void hang_nccl_finalize(int gpu) {
  const Lock lock(all().mutex);
  all().faults.hung_ends.insert(gpu);
}

void delay_nccl(uint64_t polls) {
  const Lock lock(all().mutex);
  all().faults.polls = polls;
}

void set_nccl_error_of_peers(ncclResult_t error) {
  const Lock lock(all().mutex);
  all().faults.of_peers = error;
}

}  // namespace cuda_on_cpu
