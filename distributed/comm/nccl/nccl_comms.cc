// Creates, polls and destroys NCCL communicators.
#include "distributed/comm/nccl/nccl_comms.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "distributed/comm/nccl/timed_abort.h"
#include "phi/common/errors.h"
#include "phi/common/process/interruption.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Time limit for ending communicators, after which they are aborted.
constexpr auto kEndPatience = 5s;
constexpr auto kPollInterval = 50us;
// Yield instead of sleeping at first: NCCL mostly needs less than the shortest sleep.
constexpr auto kSleepless = 100us;

void pause(Clock::time_point begun) {
  if (Clock::now() - begun < kSleepless) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kPollInterval);
  }
}

UniqueId new_unique_id() {
  ncclUniqueId made{};
  const ncclResult_t status = nccl().ncclGetUniqueId(&made);
  PHI_CHECK(status == ncclSuccess,
            errors::Unavailable("ncclGetUniqueId failed with {}.", describe(status)));
  UniqueId id;
  static_assert(sizeof(made) == sizeof(id));
  std::memcpy(id.data(), &made, sizeof(made));
  return id;
}

bool is_in_progress(ncclComm_t comm) {
  ncclResult_t state = ncclSuccess;
  return nccl().ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclInProgress;
}

// One NCCL group, so that all aborts begin before NCCL waits for any: a communicator's work may be
// queued in the stream after another's. NCCL waits for a communicator that is in progress at once,
// so those come last.
void abort_all(std::vector<ncclComm_t> comms) {
  if (comms.empty()) return;
  std::ranges::partition(comms, [](ncclComm_t comm) { return !is_in_progress(comm); });
  (void)nccl().ncclGroupStart();
  for (const ncclComm_t comm : comms) (void)nccl().ncclCommAbort(comm);
  (void)nccl().ncclGroupEnd();
}

bool is_finalized(ncclComm_t comm, Clock::time_point until) {
  const auto begun = Clock::now();
  ncclResult_t state = nccl().ncclCommFinalize(comm);
  while (state == ncclInProgress && Clock::now() < until) {
    pause(begun);
    if (nccl().ncclCommGetAsyncError(comm, &state) != ncclSuccess) return false;
  }
  return state == ncclSuccess;
}

// All members call this when their work is done. A member that does not is not waited for.
void end_all(const std::vector<ncclComm_t>& comms) {
  const auto until = Clock::now() + kEndPatience;
  std::vector<ncclComm_t> late;
  for (const ncclComm_t comm : comms) {
    if (is_finalized(comm, until)) {
      (void)nccl().ncclCommDestroy(comm);
    } else {
      late.push_back(comm);
    }
  }
  abort_all(std::move(late));
}

}  // namespace

void NcclComms::check(ncclResult_t status, ncclComm_t comm, const char* what) const {
  if (status == ncclSuccess || status == ncclInProgress) [[likely]]
    return;
  throw errors::Unavailable("{} failed with {}.", what, describe(status, comm));
}

void NcclComms::check_not_aborted() const {
  if (aborted_for_) std::rethrow_exception(aborted_for_);
}

ncclComm_t NcclComms::of(const Group& group, const std::function<Group&()>& control) {
  const WaitDescription what = [&] {
    return fmt::format("the communicator of group {}", group.name());
  };
  ncclComm_t comm = known(group);
  if (!comm) comm = make(group, share_unique_id(control(), new_unique_id), what);
  // Safe to wait: all members have shared the id, so they create the communicator too.
  wait_until_settled(comm, what);
  return comm;
}

ncclComm_t NcclComms::known(const Group& group) {
  const std::lock_guard lock(inside_);
  const auto found = comms_.find(group.hash());
  return found != comms_.end() ? found->second : nullptr;
}

ncclComm_t NcclComms::make(const Group& group, const UniqueId& shared,
                           const WaitDescription& what) {
  ncclUniqueId id;
  std::memcpy(&id, shared.data(), sizeof(id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const InFlightCollectives::NcclWaitScope asking(in_flight_, what);
  const std::lock_guard lock(inside_);
  check_not_aborted();
  check(nccl().ncclCommInitRankConfig(&comm, static_cast<int>(group.size()), id,
                                      static_cast<int>(group.position()), &config),
        comm, "ncclCommInitRankConfig");
  comms_.emplace(group.hash(), comm);
  return comm;
}

void NcclComms::call(ncclComm_t comm, const WaitDescription& what,
                     const std::function<ncclResult_t()>& calls) {
  wait_until_settled(comm, what);
  const InFlightCollectives::NcclWaitScope asking(in_flight_, what);
  const std::lock_guard lock(inside_);
  check_not_aborted();
  check(nccl().ncclGroupStart(), nullptr, "ncclGroupStart");
  const ncclResult_t status = calls();
  const ncclResult_t ended = nccl().ncclGroupEnd();
  check(status, comm, "a call of NCCL");
  check(ended, comm, "ncclGroupEnd");
}

bool NcclComms::settled(ncclComm_t comm) {
  const std::lock_guard lock(inside_);
  check_not_aborted();
  ncclResult_t state = ncclSuccess;
  check(nccl().ncclCommGetAsyncError(comm, &state), comm, "ncclCommGetAsyncError");
  check(state, comm, "NCCL's work");
  return state == ncclSuccess;
}

void NcclComms::wait_until_settled(ncclComm_t comm, const WaitDescription& what) {
  if (settled(comm)) return;
  const InFlightCollectives::NcclWaitScope asking(in_flight_, what);
  const auto begun = Clock::now();
  while (!settled(comm)) {
    poll_interruption();
    pause(begun);
  }
}

std::string NcclComms::fault() {
  const std::unique_lock lock(inside_, std::try_to_lock);
  if (!lock || aborted_for_) return {};
  for (const auto& [hash, comm] : comms_) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t status = nccl().ncclCommGetAsyncError(comm, &state);
    for (const ncclResult_t found : {status, state}) {
      if (found != ncclSuccess && found != ncclInProgress) return describe(found, comm);
    }
  }
  return {};
}

std::vector<ncclComm_t> NcclComms::take_all() {
  std::vector<ncclComm_t> comms;
  for (const auto& [hash, comm] : std::exchange(comms_, {})) comms.push_back(comm);
  return comms;
}

void NcclComms::abort(std::exception_ptr why) {
  std::vector<ncclComm_t> comms;
  {
    const std::lock_guard lock(inside_);
    if (aborted_for_) return;
    aborted_for_ = std::move(why);
    comms = take_all();
  }
  // If the rank's thread is capturing a graph, it gets the error meanwhile and ends the capture,
  // for which the abort waits.
  abort_all(std::move(comms));
}

void NcclComms::end() {
  std::vector<ncclComm_t> comms;
  {
    const std::lock_guard lock(inside_);
    comms = take_all();
  }
  if (comms.empty()) return;
  run_with_timeout_or_exit(kEndPatience + kAbortTimeout,
                           fmt::format("rank {} leaves the job.", rank_), [&] { end_all(comms); });
}

}  // namespace phi::distributed
