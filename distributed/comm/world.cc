// Groups, the calling thread's world, and joining and leaving a job.
#include "distributed/comm/world.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "distributed/comm/call_header.h"
#include "distributed/comm/hang_report.h"
#include "distributed/comm/mpi/mpi_world.h"
#include "distributed/comm/with_rank.h"
#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/device/launch_graph.h"

namespace phi::distributed {
namespace {

// The world of a process without a job.
class SingleWorld final : public World {
 public:
  explicit SingleWorld(std::shared_ptr<RankContext> context) : World(std::move(context)) {}
  std::string_view backend() const override { return "local"; }
  void fail(const std::string& /*message*/) override {}

 protected:
  std::unique_ptr<Messages> new_messages() override { return std::make_unique<NoMessages>(); }
  void note(const CollectiveCall&, CallState) override {}

 private:
  class NoMessages final : public Messages {
    void post(const CollectiveCall& call, std::span<const Send>, std::span<const Recv>) override {
      throw errors::PreconditionNotMet(
          "{} has peers, but this process joined no job; call init_world, or run_ranks in a test.",
          call.to_string());
    }
    bool done(const CollectiveCall&) override { return true; }
    void wait(const CollectiveCall&) override {}
  };
};

// The world of init_world, and the scope that makes it current in the main thread.
struct JoinedJob {
  std::unique_ptr<World> world;
  std::unique_ptr<World::Scope> scope;
};
JoinedJob& joined_job() {
  static auto& instance = *new JoinedJob;
  return instance;
}

uint64_t hash_of(std::span<const int64_t> ranks) {
  uint64_t h = ranks.size();
  for (int64_t rank : ranks) {
    h ^= static_cast<uint64_t>(rank) + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  }
  return h;
}

std::atomic<uint64_t> next_world_id{1};

// Every step of a job allocates and frees large arrays. By default the allocator returns freed
// memory to the kernel, and the first touch of fresh pages can cost more than the computation on
// them. These settings make it keep freed memory.
void keep_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace

std::string CollectiveCall::to_string() const {
  return CallHeader::of(*this).to_string(group->name());
}

World::World(std::shared_ptr<RankContext> context, Peers peers)
    : context_(std::move(context)),
      id_(next_world_id.fetch_add(1)),
      has_peers_(peers == Peers::kOthers),
      settings_(std::make_shared<Settings>()) {
  // A seed that was set before the world existed stays in effect.
  context_->generator() = RankContext::current().generator();
}

World::World(World& host)
    : context_(host.context_),
      id_(next_world_id.fetch_add(1)),
      has_peers_(host.has_peers_),
      settings_(host.settings_) {}

World::~World() { abandon_transfers(); }

RankStatus World::rank_status(int64_t /*rank*/) const { return {}; }
RankStatus World::rank_status_in(const World& host, int64_t rank) { return host.rank_status(rank); }

std::unique_ptr<LaunchGraph> World::record(Group& /*who*/, const std::function<void()>& /*body*/) {
  throw errors::Unimplemented("the calls of world '{}' cannot be captured by a device.", backend());
}

// Uninitialised and reused, because the first touch of fresh pages costs more than the reduction.
std::byte* World::scratch(size_t bytes) {
  struct Buffer {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
  };
  thread_local Buffer buffer;
  if (buffer.size < bytes) {
    buffer.memory = nullptr;
    buffer.memory.reset(new std::byte[bytes]);
    buffer.size = bytes;
  }
  return buffer.memory.get();
}

void World::check_not_forked(std::string_view what) const {
  if (!was_forked()) [[likely]]
    return;
  throw errors::PreconditionNotMet(
      "{} cannot be done here: this process was forked by rank {} of {} and is not a rank itself. "
      "Plain tensors work in it. Fork before the job is joined, or start the process without fork "
      "(in Python's multiprocessing: the start method 'spawn').",
      what, rank(), size());
}

Group& World::group(std::span<const int64_t> ranks) {
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

std::unique_ptr<Group> World::make_group(std::vector<int64_t> ranks, int64_t position,
                                         uint64_t hash) {
  return std::unique_ptr<Group>(new Group(*this, std::move(ranks), position, hash));
}

Group& World::everyone() {
  if (everyone_ == nullptr) {
    std::vector<int64_t> ranks(static_cast<size_t>(size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    everyone_ = &group(ranks);
  }
  return *everyone_;
}

int World::add_ring(std::span<const int64_t> ranks) {
  settings_->rings.emplace_back(ranks.begin(), ranks.end());
  return static_cast<int>(settings_->rings.size());
}

Group& World::ring(int ring_id) {
  const auto& rings = settings_->rings;
  const auto known = static_cast<int>(rings.size());
  PHI_CHECK(
      ring_id >= 0 && ring_id <= known,
      errors::InvalidArgument(
          "ring_id is {}, but this rank has rings 0 to {}; register the group with add_ring first.",
          ring_id, known));
  return ring_id == 0 ? everyone() : group(rings[static_cast<size_t>(ring_id - 1)]);
}

World& World::process_world() {
  if (joined_job().world) return *joined_job().world;
  // One per thread, because a world is used by one thread only, with the thread's current rank
  // context.
  thread_local std::unique_ptr<SingleWorld> single;
  RankContext& context = RankContext::current();
  if (!single || &single->rank_context() != &context) {
    single.reset(new SingleWorld(std::shared_ptr<RankContext>(std::shared_ptr<void>(), &context)));
  }
  return *single;
}

World& init_world(int* argc, char*** argv, World::Milliseconds start_deadline) {
  keep_freed_memory();
  if (joined_job().world) joined_job().world->check_not_forked("joining a job");
  PHI_CHECK(!joined_job().world, errors::PreconditionNotMet("init_world is called twice."));
  joined_job().world = join_mpi_job(argc, argv, start_deadline);
  if (!joined_job().world)
    joined_job().world.reset(new SingleWorld(std::make_shared<RankContext>()));
  joined_job().scope = std::make_unique<World::Scope>(*joined_job().world);
  return *joined_job().world;
}

void finalize_world() {
  if (!joined_job().world || joined_job().world->was_forked()) return;
  try {
    joined_job().world->drain();
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  joined_job().scope.reset();
  joined_job().world.reset();
}

void abort_job(const std::string& message) {
  World& world = World::current();
  const bool is_child = world.was_forked();
  if (!is_child) world.fail(message);
  fmt::print(stderr, "{}{}\n", is_child ? "a child of " : "", with_rank(world.rank(), message));
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace phi::distributed
