// Groups of calls of the NCCL emulator, one open per thread, and their launch into streams.
#include "support/cuda_on_cpu/nccl_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/cuda_on_cpu/gpu.h"

namespace cuda_on_cpu::nccl {
namespace {

constexpr uint64_t kMostPolls = 4;

struct OpenGroup {
  int depth = 0;
  ncclResult_t error = ncclSuccess;  // error of the first rejected call
  std::vector<Launch::Part> parts;
  std::vector<Aborted> aborted;
};
thread_local OpenGroup open_group;

// Orders later work on `after` after the current work of `before`, also in a capture.
cudaError_t order(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(event, before);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(after, event, 0);
  cudaEventDestroy(event);
  return error;
}

// A group is one piece of work on the first of its streams, ordered between the earlier and later
// work of the others.
cudaError_t launch(const Launch::Part& part) {
  const cudaStream_t first = part.streams.front();
  cudaError_t error = cudaSuccess;
  const auto then = [&](cudaError_t next) { error = error == cudaSuccess ? next : error; };
  for (const cudaStream_t other : part.streams) {
    if (other != first) then(order(other, first));
  }
  then(enqueue(first, work_of(part)));
  for (const cudaStream_t other : part.streams) {
    if (other != first) then(order(first, other));
  }
  return error;
}

// Whether a rank's messages to itself have both sides in the group.
bool meets_itself(const Launch::Part& part) {
  std::vector<const Call*> sides[2];
  for (const Call& call : part.calls) {
    if (call.collective() || call.other != part.comm->rank) continue;
    sides[call.kind == Kind::kSend ? 0 : 1].push_back(&call);
  }
  return std::equal(
      sides[0].begin(), sides[0].end(), sides[1].begin(), sides[1].end(),
      [](const Call* a, const Call* b) { return a->count == b->count && a->type == b->type; });
}

ncclResult_t check(const std::vector<Launch::Part>& parts) {
  for (const Launch::Part& part : parts) {
    if (part.comm->blocking != parts.front().comm->blocking) {
      return refused(ncclInvalidArgument,
                     "ncclGroupEnd: a group has blocking and non-blocking communicators");
    }
    if (!meets_itself(part)) {
      return refused(ncclInvalidUsage,
                     "ncclGroupEnd: a rank sends to itself what it does not receive in the same "
                     "group: " +
                         described(*part.comm));
    }
  }
  return ncclSuccess;
}

ncclResult_t run(Launch group) {
  if (group.parts.empty()) return ncclSuccess;
  const ncclResult_t checked = check(group.parts);
  if (checked != ncclSuccess) return checked;
  const ncclComm& first = *group.parts.front().comm;
  Lock lock(all().mutex);
  all().changed.wait(lock, [&] { return !all().faults.hung_calls.contains(first.device); });
  if (first.blocking) {
    lock.unlock();
    return launch(group);
  }
  group.polls = drawn_polls();
  const auto pending = std::make_shared<Launch>(std::move(group));
  for (const Launch::Part& part : pending->parts) part.comm->pending = pending;
  return ncclInProgress;
}

}  // namespace

bool in_group() { return open_group.depth > 0; }

void refuse_group(ncclResult_t error) {
  if (open_group.error == ncclSuccess) open_group.error = error;
}

void add_to_group(ncclComm& comm, cudaStream_t stream, const Call& call) {
  auto& parts = open_group.parts;
  auto part =
      std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.comm == &comm; });
  if (part == parts.end()) part = parts.insert(part, Launch::Part{&comm, {}, {}});
  auto& streams = part->streams;
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  part->calls.push_back(call);
}

void add_to_group(Aborted aborted) { open_group.aborted.push_back(std::move(aborted)); }

uint64_t drawn_polls() {
  return all().faults.polls > 0 ? all().faults.polls : 1 + all().draw.number(kMostPolls);
}

ncclResult_t launch(const Launch& group) {
  const int before = current_device();
  cudaError_t error = cudaSuccess;
  for (const Launch::Part& part : group.parts) {
    set_current_device(part.comm->device);  // may run on another thread
    if (error == cudaSuccess) error = launch(part);
  }
  set_current_device(before);
  if (error == cudaSuccess) return ncclSuccess;
  return refused(ncclUnhandledCudaError,
                 std::string("a group could not be launched: ") + cudaGetErrorString(error));
}

}  // namespace cuda_on_cpu::nccl

using namespace cuda_on_cpu::nccl;

ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (open_group.depth == 0) return refused(ncclInvalidUsage, "ncclGroupEnd: no group is open");
  if (--open_group.depth > 0) return ncclSuccess;
  OpenGroup ended = std::exchange(open_group, {});
  for (const Aborted& aborted : ended.aborted) wait_for_end(aborted);
  if (ended.error != ncclSuccess) return ended.error;  // launches nothing
  return run({.parts = std::move(ended.parts)});
}
