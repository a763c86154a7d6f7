// Communicators of the NCCL emulator: ranks join by a unique id, poll progress, and destroy them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/nccl_groups.h"

namespace cuda_on_cpu::nccl {
namespace {

// Contents of a unique id.
struct Id {
  uint64_t magic;
  int number;
};
constexpr uint64_t kIdMagic = 0x6e63636c6f6e6370;
constexpr unsigned kConfigMagic = 0xcafebeef;

// Whether another rank has left early or has reported an error.
bool has_bad_peer(const ncclComm& comm) {
  const auto& members = comm.clique->members;
  return std::any_of(members.begin(), members.end(), [&](const ncclComm* member) {
    if (member == nullptr || member == &comm) return false;
    return member->state == ncclComm::State::kAborted || member->error != ncclSuccess;
  });
}

void fail_clique(Clique& clique, const std::string& text) {
  clique.error = ncclInvalidUsage;
  clique.error_text = text;
}

// Why two ranks cannot be in one communicator; empty if they can.
std::string mismatch(const ncclComm& a, const ncclComm& b) {
  if (a.device == b.device) {
    return fmt::format("Duplicate GPU detected: rank {} and rank {} both have GPU {}", a.rank,
                       b.rank, a.device);
  }
  if (a.version != b.version) {
    return fmt::format("Mismatched NCCL version detected: rank {} has {}, rank {} has {}", a.rank,
                       a.version, b.rank, b.version);
  }
  return "";
}

// Adds the rank to its communicator.
void join(ncclComm& comm, int ranks) {
  Clique& clique = *comm.clique;
  ncclComm*& own = clique.members[static_cast<size_t>(std::min(comm.rank, clique.ranks - 1))];
  if (ranks != clique.ranks) {
    fail_clique(clique,
                fmt::format("ranks of one communicator pass different numbers of ranks: {} and {}",
                            clique.ranks, ranks));
  } else if (own != nullptr) {
    fail_clique(clique, fmt::format("rank {} of {} has joined twice", comm.rank, ranks));
  } else {
    for (const ncclComm* member : clique.members) {
      const std::string text = member == nullptr ? "" : mismatch(*member, comm);
      if (!text.empty()) fail_clique(clique, text);
    }
    own = &comm;
  }
  all().changed.notify_all();
}

// Waits for the other ranks, up to the time limit.
ncclResult_t wait_for_ranks(Lock& lock, const ncclComm& comm) {
  const Clique& clique = *comm.clique;
  const auto come = [&] { return clique.error != ncclSuccess || clique.complete(); };
  const std::chrono::milliseconds patience(settings().patience_ms.load());
  if (!all().changed.wait_for(lock, patience, come)) {
    std::vector<int> missing;
    for (int rank = 0; rank < clique.ranks; ++rank) {
      if (clique.members[static_cast<size_t>(rank)] == nullptr) missing.push_back(rank);
    }
    fail(fmt::format("no stream can make progress: ncclCommInitRankConfig, {}, waits for rank {}",
                     described(comm), fmt::join(missing, ", ")));
  }
  return clique.error == ncclSuccess ? ncclSuccess : refused(clique.error, clique.error_text);
}

std::shared_ptr<Clique> clique_of(int id, int ranks, const std::string& name) {
  auto& clique = all().cliques[id];
  if (!clique) {
    clique = std::make_shared<Clique>(
        Clique{.number = ++all().cliques_made, .ranks = ranks, .name = name, .members = {}});
    clique->members.resize(static_cast<size_t>(ranks));
  }
  return clique;
}

ncclResult_t make(ncclComm_t* made, int ranks, int id, int rank, bool blocking,
                  const std::string& name) {
  Lock lock(all().mutex);
  const auto clique = clique_of(id, ranks, name);
  if (clique->complete()) {
    return refused(ncclInvalidUsage,
                   "ncclCommInitRankConfig: the unique id has made a communicator before");
  }
  ncclComm& comm = *all().comms.emplace_back(std::make_unique<ncclComm>());
  comm.clique = clique;
  comm.rank = rank;
  comm.device = current_device();
  comm.version = all().faults.version_of(comm.device);
  comm.blocking = blocking;
  join(comm, ranks);
  *made = &comm;
  if (!blocking) {
    comm.polls = drawn_polls();
    return ncclInProgress;
  }
  const ncclResult_t result = wait_for_ranks(lock, comm);
  if (result == ncclSuccess) return result;
  comm.state = ncclComm::State::kDestroyed;
  *made = nullptr;
  return result;
}

ncclResult_t check_new(int ranks, const Id& id, int rank, const ncclConfig_t& config) {
  if (state_of_runtime() != cudaSuccess) {
    return refused(ncclUnhandledCudaError, "ncclCommInitRankConfig: no GPU is available");
  }
  if (in_group()) {
    return refused(ncclInvalidUsage,
                   "ncclCommInitRankConfig: the emulator does not support it in a group");
  }
  if (rank < 0 || rank >= ranks) {
    return refused(ncclInvalidArgument,
                   fmt::format("ncclCommInitRankConfig: rank {} of {}", rank, ranks));
  }
  const bool known =
      config.blocking == 0 || config.blocking == 1 || config.blocking == NCCL_CONFIG_UNDEF_INT;
  if (config.magic != kConfigMagic || !known) {
    return refused(ncclInvalidArgument,
                   "ncclCommInitRankConfig: a configuration that does not begin as "
                   "NCCL_CONFIG_INITIALIZER, or blocking other than 0 and 1");
  }
  const Lock lock(all().mutex);
  if (id.magic == kIdMagic && id.number <= all().ids) return ncclSuccess;
  return refused(ncclInvalidArgument,
                 "ncclCommInitRankConfig: the unique id was not made by ncclGetUniqueId");
}

// The stream of the first unfinished posting; null if there is none.
CUstream_st* stream_of_rest(const ncclComm& comm) {
  const Lock lock(all().mutex);
  return comm.postings.empty() ? nullptr : comm.postings.front()->stream;
}

void wait_for_rest(const ncclComm& comm) {
  while (CUstream_st* stream = stream_of_rest(comm)) wait_for_stream(stream);
}

// Polls a call in progress. The polling thread executes work that is due.
void look_again(Lock& lock, ncclComm& comm) {
  if (!comm.clique->complete()) return;
  if (comm.polls > 0) {
    --comm.polls;
  } else if (const auto group = comm.pending) {
    if (group->taken || --group->polls > 0) return;
    group->taken = true;
    lock.unlock();
    const ncclResult_t result = launch(*group);
    lock.lock();
    group->done = true;
    for (const Launch::Part& part : group->parts) {
      part.comm->pending = nullptr;
      if (result != ncclSuccess) part.comm->error = result;
    }
  } else if (!comm.postings.empty()) {  // ends when the postings have
    CUstream_st* stream = comm.postings.front()->stream;
    lock.unlock();
    poll_stream(stream);
    lock.lock();
  }
}

// NCCL waits until no graph contains calls of a communicator that is destroyed. If this thread owns
// such a graph, that would be a deadlock. Requires the lock.
void check_no_graph_holds(const char* call, const ncclComm& comm) {
  if (comm.held_by_graphs > 0) fail_for_graphs(call, comm);
}

// The environment overrides the configuration, as in NCCL.
bool blocks(const ncclConfig_t& config) {
  const char* const set = std::getenv("NCCL_COMM_BLOCKING");
  const int64_t wanted = set == nullptr ? NCCL_CONFIG_UNDEF_INT : std::strtoll(set, nullptr, 0);
  return wanted == 0 || wanted == 1 ? wanted == 1 : config.blocking != 0;
}

template <class T>
ncclResult_t tell(const char* call, ncclComm_t comm, T* to, T (*what)(const ncclComm&)) {
  const Lock lock(all().mutex);
  const ncclResult_t ready = check_ready(comm, call);
  if (ready == ncclSuccess) *to = what(*comm);
  return ready;
}

}  // namespace

All& all() {
  static All& made = *new All;  // never freed: threads may wait at process exit
  return made;
}

bool Clique::complete() const {
  return error == ncclSuccess &&
         std::find(members.begin(), members.end(), nullptr) == members.end();
}

ncclResult_t refused_handle(const char* call, ncclComm_t comm) {
  return refused(
      ncclInvalidArgument,
      comm == nullptr
          ? fmt::format("{}: no communicator", call)
          : fmt::format("{}: the communicator has been {}: {}", call,
                        comm->state == ncclComm::State::kAborted ? "aborted" : "destroyed",
                        described(*comm)));
}

void fail_for_graphs(const char* call, const ncclComm& comm) {
  fail(fmt::format("NCCL: {} waits for the end of graphs, which hold {} groups of calls of {}",
                   call, comm.held_by_graphs, described(comm)));
}

ncclResult_t state_of(const ncclComm& comm, std::string* text) {
  const Clique& clique = *comm.clique;
  *text = clique.error_text;
  if (clique.error != ncclSuccess) return clique.error;
  *text = "an asynchronous error of " + described(comm);
  if (comm.error != ncclSuccess) return comm.error;
  *text = "another rank of the communicator has ended: " + described(comm);
  if (all().faults.of_peers != ncclSuccess && has_bad_peer(comm)) return all().faults.of_peers;
  *text = "";
  const bool ends = comm.state == ncclComm::State::kFinalized && !comm.postings.empty();
  const bool under_way = comm.pending && !comm.pending->done;
  return !clique.complete() || comm.polls > 0 || under_way || ends ? ncclInProgress : ncclSuccess;
}

ncclResult_t check_ready(ncclComm_t comm, const char* call) {
  if (comm == nullptr || comm->gone()) return refused_handle(call, comm);
  std::string text;
  const ncclResult_t state = state_of(*comm, &text);
  if (state == ncclInProgress) {
    return refused(ncclInvalidArgument,
                   fmt::format("{}: what the communicator did before is still in progress: {}",
                               call, described(*comm)));
  }
  if (state != ncclSuccess) return refused(state, text);
  if (comm->state == ncclComm::State::kInUse) return ncclSuccess;
  return refused(ncclInvalidUsage, fmt::format("{}: the communicator has been finalized: {}", call,
                                               described(*comm)));
}

}  // namespace cuda_on_cpu::nccl

using namespace cuda_on_cpu;
using namespace cuda_on_cpu::nccl;

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return refused(ncclInvalidArgument, "ncclGetVersion: no place for it");
  const Lock lock(all().mutex);
  *version = all().faults.version_of(current_device());
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return refused(ncclInvalidArgument, "ncclGetUniqueId: no place for it");
  const Lock lock(all().mutex);
  const Id made{.magic = kIdMagic, .number = ++all().ids};
  *id = {};
  std::memcpy(id->internal, &made, sizeof made);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId unique_id, int rank,
                                    ncclConfig_t* config) {
  const ncclConfig_t plain = NCCL_CONFIG_INITIALIZER;
  const ncclConfig_t& chosen = config == nullptr ? plain : *config;
  Id id{};
  std::memcpy(&id, unique_id.internal, sizeof id);
  *comm = nullptr;
  const ncclResult_t checked = check_new(ranks, id, rank, chosen);
  if (checked != ncclSuccess) return checked;
  const std::string name = chosen.commName == nullptr ? "" : chosen.commName;
  return make(comm, ranks, id.number, rank, blocks(chosen), name);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  Lock lock(all().mutex);
  if (comm == nullptr || comm->gone()) return refused_handle("ncclCommGetAsyncError", comm);
  std::string text;
  *error = state_of(*comm, &text);
  if (*error == ncclInProgress) {
    look_again(lock, *comm);
    *error = state_of(*comm, &text);
  }
  if (*error != ncclSuccess && *error != ncclInProgress) refused(*error, text);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  {
    Lock lock(all().mutex);
    const ncclResult_t ready = check_ready(comm, "ncclCommFinalize");
    if (ready != ncclSuccess) return ready;
    check_no_graph_holds("ncclCommFinalize", *comm);
    all().changed.wait(lock, [&] { return !all().faults.hung_ends.contains(comm->device); });
    comm->state = ncclComm::State::kFinalized;
  }
  if (!comm->blocking) return ncclInProgress;
  wait_for_rest(*comm);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  {
    const Lock lock(all().mutex);
    if (comm->gone()) return refused_handle("ncclCommDestroy", comm);
    check_no_graph_holds("ncclCommDestroy", *comm);
    if (comm->state == ncclComm::State::kInUse) {
      const ncclResult_t ready = check_ready(comm, "ncclCommDestroy");
      if (ready != ncclSuccess) return ready;
    }
  }
  wait_for_rest(*comm);
  const Lock lock(all().mutex);
  comm->state = ncclComm::State::kDestroyed;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return tell<int>("ncclCommCount", comm, count, [](const ncclComm& c) { return c.clique->ranks; });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return tell<int>("ncclCommCuDevice", comm, device, [](const ncclComm& c) { return c.device; });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return tell<int>("ncclCommUserRank", comm, rank, [](const ncclComm& c) { return c.rank; });
}
