// Making, asking and ending communicators.
#include "distributed/comm/nccl/communicators.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/interruption.h"

namespace phi::distributed {
namespace {

using namespace std::chrono_literals;

// How long the end of a communicator may take before it is aborted.
constexpr auto kEndPatience = 5s;
constexpr auto kBetweenLooks = 50us;

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

// All members come here when their work is done. One that does not is not waited for.
void end_one(ncclComm_t comm) {
  const auto until = std::chrono::steady_clock::now() + kEndPatience;
  ncclResult_t state = nccl().ncclCommFinalize(comm);
  while (state == ncclInProgress && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kBetweenLooks);
    if (nccl().ncclCommGetAsyncError(comm, &state) != ncclSuccess) break;
  }
  (void)(state == ncclSuccess ? nccl().ncclCommDestroy(comm) : nccl().ncclCommAbort(comm));
}

}  // namespace

void Communicators::check(ncclResult_t status, ncclComm_t comm, const char* what) const {
  if (status == ncclSuccess || status == ncclInProgress) [[likely]]
    return;
  throw errors::Unavailable("{} failed with {}.", what, describe(status, comm));
}

void Communicators::check_not_aborted() const {
  if (aborted_for_) std::rethrow_exception(aborted_for_);
}

ncclComm_t Communicators::of(const Group& group, const std::function<Group&()>& control) {
  {
    const std::lock_guard lock(inside_);
    if (const auto known = comms_.find(group.hash()); known != comms_.end()) return known->second;
  }
  const UniqueId shared = share_unique_id(control(), new_unique_id);
  ncclUniqueId id;
  std::memcpy(&id, shared.data(), sizeof(id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  {
    const std::lock_guard lock(inside_);
    check_not_aborted();
    check(nccl().ncclCommInitRankConfig(&comm, static_cast<int>(group.size()), id,
                                        static_cast<int>(group.position()), &config),
          comm, "ncclCommInitRankConfig");
    comms_.emplace(group.hash(), comm);
  }
  // Others are there, or on their way here: they have shared the id.
  wait_until_settled(comm, fmt::format("the communicator of group {}", group.name()));
  return comm;
}

void Communicators::call(ncclComm_t comm, const std::function<ncclResult_t()>& calls) {
  const std::lock_guard lock(inside_);
  check_not_aborted();
  check(nccl().ncclGroupStart(), nullptr, "ncclGroupStart");
  const ncclResult_t status = calls();
  const ncclResult_t ended = nccl().ncclGroupEnd();
  check(status, comm, "a call of NCCL");
  check(ended, comm, "ncclGroupEnd");
}

bool Communicators::settled(ncclComm_t comm) {
  const std::lock_guard lock(inside_);
  check_not_aborted();
  ncclResult_t state = ncclSuccess;
  check(nccl().ncclCommGetAsyncError(comm, &state), comm, "ncclCommGetAsyncError");
  check(state, comm, "NCCL's work");
  return state == ncclSuccess;
}

void Communicators::wait_until_settled(ncclComm_t comm, const std::string& what) {
  if (settled(comm)) return;
  const InFlight::Asking asking(in_flight_, what);
  while (!settled(comm)) {
    poll_interruption();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::string Communicators::fault() {
  const std::lock_guard lock(inside_);
  if (aborted_for_) return {};
  for (const auto& [hash, comm] : comms_) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t status = nccl().ncclCommGetAsyncError(comm, &state);
    for (const ncclResult_t found : {status, state}) {
      if (found != ncclSuccess && found != ncclInProgress) return describe(found, comm);
    }
  }
  return {};
}

void Communicators::abort(std::exception_ptr why) {
  const std::lock_guard lock(inside_);
  if (aborted_for_) return;
  aborted_for_ = std::move(why);
  for (const auto& [hash, comm] : comms_) (void)nccl().ncclCommAbort(comm);
  comms_.clear();
}

void Communicators::end() {
  const std::lock_guard lock(inside_);
  for (const auto& [hash, comm] : comms_) end_one(comm);
  comms_.clear();
}

}  // namespace phi::distributed
