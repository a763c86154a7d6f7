// Groups of a communicator, and messages below them.
#include "distributed/comm/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "distributed/comm/report/hang_report.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/process/interruption.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/device/launch_graph.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::distributed {
namespace {

uint64_t hash_of(std::span<const int64_t> ranks) {
  uint64_t h = ranks.size();
  for (int64_t rank : ranks) {
    h ^= static_cast<uint64_t>(rank) + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h;
}

std::atomic<uint64_t> next_communicator_id{1};

}  // namespace

Communicator::Communicator(World& world) : world_(world), id_(next_communicator_id.fetch_add(1)) {}

Communicator::~Communicator() { abandon_transfers(); }

int64_t Communicator::rank() const { return world_.rank(); }
int64_t Communicator::size() const { return world_.size(); }
std::string_view Communicator::backend() const { return world_.backend(); }
RankContext& Communicator::rank_context() { return world_.rank_context(); }
Transport& Communicator::transport() { return world_.transport(); }

Group& Communicator::group(std::span<const int64_t> ranks) {
  const uint64_t hash = hash_of(ranks);
  const auto [begin, end] = groups_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (std::ranges::equal(it->second->ranks(), ranks)) return *it->second;
  }
  const auto own = std::ranges::find(ranks, rank());
  PHI_CHECK(own != ranks.end(),
            errors::InvalidArgument(
                "rank {} requests a group of {} ranks that it is not in; only members may call.",
                rank(), ranks.size()));
  std::vector<int64_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  PHI_CHECK(std::ranges::adjacent_find(sorted) == sorted.end(),
            errors::InvalidArgument("a rank is repeated in the rank list of a group of {} ranks.",
                                    ranks.size()));
  PHI_CHECK(sorted.front() >= 0 && sorted.back() < size(),
            errors::InvalidArgument("a group needs ranks {} to {}, but the job has {} ranks; start "
                                    "more processes or use a smaller mesh.",
                                    sorted.front(), sorted.back(), size()));
  yield_point("world.group.not_found");
  auto made = make_group({ranks.begin(), ranks.end()}, own - ranks.begin(), hash);
  return *groups_.emplace(hash, std::move(made))->second;
}

std::unique_ptr<Group> Communicator::make_group(std::vector<int64_t> ranks, int64_t position,
                                                uint64_t hash) {
  return std::unique_ptr<Group>(new Group(*this, std::move(ranks), position, hash));
}

Group& Communicator::everyone() {
  if (everyone_ == nullptr) {
    std::vector<int64_t> ranks(static_cast<size_t>(size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    everyone_ = &group(ranks);
  }
  return *everyone_;
}

Group& Communicator::ring(int ring_id) {
  const auto& rings = world_.rings();
  const auto known = static_cast<int>(rings.size());
  PHI_CHECK(
      ring_id >= 0 && ring_id <= known,
      errors::InvalidArgument(
          "ring_id is {}, but this rank has rings 0 to {}; register the group with add_ring first.",
          ring_id, known));
  return ring_id == 0 ? everyone() : group(rings[static_cast<size_t>(ring_id - 1)]);
}

std::unique_ptr<LaunchGraph> Communicator::record(Group& /*who*/,
                                                  const std::function<void()>& /*body*/) {
  throw errors::Unimplemented("the calls of backend '{}' cannot be captured by a device.",
                              backend());
}

// The rank's block cache reuses the memory, because the first touch of fresh pages costs more than
// the reduction.
DeviceMemory Communicator::scratch(size_t bytes) {
  const MemoryUseScope use(MemoryUse::kMessages);
  return {device(), bytes};
}

std::unique_ptr<Messages> Communicator::new_messages() { return transport().new_messages(); }

std::unique_ptr<Messages> Communicator::acquire_messages() {
  if (spare_.empty()) return new_messages();
  auto messages = std::move(spare_.back());
  spare_.pop_back();
  return messages;
}

void Communicator::exchange_messages(const CollectiveCall& call, std::span<const Send> sends,
                                     std::span<const Recv> recvs) {
  finish(call, post(call, sends, recvs));
}

std::unique_ptr<Messages> Communicator::post(const CollectiveCall& call,
                                             std::span<const Send> sends,
                                             std::span<const Recv> recvs) {
  auto messages = acquire_messages();
  messages->post(call, sends, recvs);
  yield_point("world.exchange.posted");
  return messages;
}

void Communicator::finish(const CollectiveCall& call, std::unique_ptr<Messages> messages) {
  wait_for_messages(call, *messages);
  spare_.push_back(std::move(messages));
}

void Communicator::wait_for_messages(const CollectiveCall& call, Messages& messages) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kBetweenLooks = std::chrono::microseconds(20);
  const auto deadline = transport().deadline();
  const auto until = Clock::now() + deadline;
  Communicator* const device = world_.device_communicator();
  while (device && device != this && device->make_progress()) {
    poll_interruption();
    if (messages.done(call)) return;
    PHI_CHECK(Clock::now() < until,
              errors::ExecutionTimeout("{}", late_report(call, deadline, [this](int64_t other) {
                                         return transport().rank_status(other);
                                       })));
    std::this_thread::sleep_for(kBetweenLooks);
  }
  messages.wait(call);
}

}  // namespace phi::distributed
