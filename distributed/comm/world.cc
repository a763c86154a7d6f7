// The calling thread's world, and joining and leaving a job.
#include "distributed/comm/world.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "distributed/comm/job_backends.h"
#include "distributed/comm/report/with_rank.h"
#include "distributed/comm/single/single_transport.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

// The world of init_world, and the scope that makes it current in the main thread.
struct JoinedJob {
  std::unique_ptr<World> world;
  std::unique_ptr<World::Scope> scope;
};
JoinedJob& joined_job() {
  static auto& instance = *new JoinedJob;
  return instance;
}

// Every step of a job allocates and frees large arrays. By default the allocator returns freed
// memory to the kernel, and the first touch of fresh pages can cost more than the computation on
// them. These settings make it keep freed memory.
void keep_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

std::unique_ptr<World> join_job(int* argc, char*** argv, World::Milliseconds start_deadline) {
  for (const JobBackend& backend : job_backends()) {
    if (backend.started_this_process()) return backend.join(argc, argv, start_deadline);
  }
  return std::make_unique<World>(std::make_shared<RankContext>(),
                                 std::make_unique<SingleTransport>(0, 1));
}

}  // namespace

World::World(std::shared_ptr<RankContext> context, std::unique_ptr<Transport> transport)
    : context_(std::move(context)),
      transport_(std::move(transport)),
      communicator_(std::make_unique<Communicator>(*this)) {
  // A seed that was set before the world existed stays in effect.
  context_->generator() = RankContext::current().generator();
}

World::~World() {
  if (was_forked()) {
    // Freeing the messages would withdraw them from peers, which communicate with the parent.
    std::ignore = new auto(std::tuple(std::move(device_communicator_), std::move(communicator_),
                                      std::move(transport_)));
    return;
  }
  device_communicator_ = nullptr;  // first: it uses the host's messages until it is destroyed
  communicator_ = nullptr;
}

int World::add_ring(std::span<const int64_t> ranks) {
  rings_.emplace_back(ranks.begin(), ranks.end());
  return static_cast<int>(rings_.size());
}

void World::log_call(const Group& group, const CollectiveCall& call) {
  if (!is_logging_) return;
  call_log_.push_back({{group.ranks().begin(), group.ranks().end()}, call.sequence, call.op});
}

size_t World::transfers_in_flight() {
  return communicator_->transfers_in_flight() +
         (device_communicator_ ? device_communicator_->transfers_in_flight() : 0);
}

void World::drain() {
  if (device_communicator_) device_communicator_->drain();
  communicator_->drain();
}

World& World::process_world() {
  if (joined_job().world) return *joined_job().world;
  // One per thread, because a world is used by one thread only, with the thread's current rank
  // context.
  thread_local std::unique_ptr<World> single;
  RankContext& context = RankContext::current();
  // Another context may be at the address of one that has ended.
  if (!single || &single->rank_context() != &context || single->rank() != context.rank() ||
      single->size() != context.world_size()) {
    single = std::make_unique<World>(
        std::shared_ptr<RankContext>(std::shared_ptr<void>(), &context),
        std::make_unique<SingleTransport>(context.rank(), context.world_size()));
  }
  return *single;
}

World& init_world(int* argc, char*** argv, World::Milliseconds start_deadline) {
  keep_freed_memory();
  if (joined_job().world) joined_job().world->transport().check_not_forked("joining a job");
  PHI_CHECK(!joined_job().world, errors::PreconditionNotMet("init_world is called twice."));
  joined_job().world = join_job(argc, argv, start_deadline);
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
  if (!is_child) world.transport().fail(message);
  fmt::print(stderr, "{}{}\n", is_child ? "a child of " : "", with_rank(world.rank(), message));
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace phi::distributed
