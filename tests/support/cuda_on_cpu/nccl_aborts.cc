// Aborts of the NCCL emulator. An abort takes effect on its own communicator at once. Then, with
// the rest of its group, it waits until the communicator's work has left its streams and no graph
// contains its calls.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/nccl_groups.h"

namespace cuda_on_cpu::nccl {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds patience() {
  return std::chrono::milliseconds(settings().patience_ms.load());
}

// Other communicators with work in this stream.
std::vector<std::string> others_in(const CUstream_st* stream) {
  const Lock lock(all().mutex);
  std::vector<std::string> others;
  for (const auto& comm : all().comms) {
    const bool has_work =
        std::any_of(comm->postings.begin(), comm->postings.end(),
                    [&](const auto& posting) { return posting->stream == stream; });
    if (has_work) others.push_back(described(*comm));
  }
  return others;
}

void wait_for_place(const ncclComm& comm, const std::shared_ptr<Mark>& end) {
  const auto until = Clock::now() + patience();
  while (!poll_mark(end)) {
    if (Clock::now() > until) {
      fail(
          fmt::format("NCCL: ncclCommAbort of {} waits for earlier work of its stream, of: {}. "
                      "Abort them in one group",
                      described(comm), fmt::join(others_in(end->stream), "; ")));
    }
    std::this_thread::yield();
  }
}

void wait_for_graphs(const ncclComm& comm) {
  Lock lock(all().mutex);
  const auto released = [&] { return comm.held_by_graphs == 0; };
  if (!all().changed.wait_for(lock, patience(), released)) fail_for_graphs("ncclCommAbort", comm);
}

}  // namespace

void wait_for_end(const Aborted& aborted) {
  {
    Lock lock(all().mutex);
    all().changed.wait(lock,
                       [&] { return !all().faults.hung_aborts.contains(aborted.comm->device); });
  }
  for (const auto& end : aborted.ends) wait_for_place(*aborted.comm, end);
  wait_for_graphs(*aborted.comm);
}

}  // namespace cuda_on_cpu::nccl

using namespace cuda_on_cpu;
using namespace cuda_on_cpu::nccl;

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  Aborted aborted{comm, {}};
  {
    const Lock lock(all().mutex);
    if (comm == nullptr || comm->gone()) return refused_handle("ncclCommAbort", comm);
    comm->state = ncclComm::State::kAborted;
    comm->pending = nullptr;
    aborted.ends = drop_postings(*comm);
  }
  wake_waiters();
  ncclGroupStart();
  add_to_group(std::move(aborted));
  return ncclGroupEnd();
}
