// World: one rank's view of its job: rank and size, the context of the rank, the transport that
// connects it with the others, and the communicators of its arrays.
//
//   World& world = World::current();
//   world.everyone().broadcast(shape, 4, DataType::INT64, /*root=*/0);   // arrays in host memory
//   world.communicator(x.place()).group(ranks).barrier();                // arrays at a place
//
// A process under mpirun has one world (init_world). The local backend creates one for each thread
// (local/local_world.h). Any other process is rank 0 of 1.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/comm/communicator.h"
#include "distributed/comm/group.h"
#include "distributed/comm/transport.h"
#include "phi/common/place.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {

class ProcessMesh;

class World {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds kDefaultDeadline = Transport::kDefaultDeadline;
  static constexpr Milliseconds kDefaultStartDeadline{60'000};

  World(std::shared_ptr<RankContext> context, std::unique_ptr<Transport> transport);
  virtual ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int64_t rank() const { return transport_->rank(); }
  int64_t size() const { return transport_->size(); }
  RankContext& rank_context() { return *context_; }
  Transport& transport() { return *transport_; }
  const Transport& transport() const { return *transport_; }
  int64_t local_rank() const { return transport_->local_rank(); }
  std::string_view backend() const { return transport_->backend(); }
  bool transfers_data() const { return transport_->transfers_data(); }
  bool was_forked() const { return transport_->was_forked(); }
  /// Unique among all worlds of the process; for caches.
  uint64_t id() const { return communicator_->id(); }

  /// The communicator of arrays in host memory.
  Communicator& communicator() { return *communicator_; }
  /// The communicator of arrays at `place`: the device communicator if it is for that place,
  /// otherwise the host's. Arrays elsewhere are copied to its device first (ArrayAt).
  Communicator& communicator(const Place& place) {
    return device_communicator_ && device_communicator_->device().place() == place
               ? *device_communicator_
               : *communicator_;
  }
  /// The communicator between this rank's device and those of other ranks; null if there is none.
  Communicator* device_communicator() { return device_communicator_.get(); }
  /// Installs the device communicator (null: none) and returns the previous one. It must have been
  /// constructed for this world.
  std::unique_ptr<Communicator> set_device_communicator(
      std::unique_ptr<Communicator> device_communicator) {
    return std::exchange(device_communicator_, std::move(device_communicator));
  }

  /// Groups of the communicator of host memory.
  Group& group(std::span<const int64_t> ranks) { return communicator_->group(ranks); }
  Group& everyone() { return communicator_->everyone(); }
  Group& ring(int ring_id) { return communicator_->ring(ring_id); }

  /// Registers a group of ranks and returns its number, which communication operators use. Every
  /// rank of the world registers the same groups in the same order, whether it is a member or not.
  /// Ring 0 is everyone().
  int add_ring(std::span<const int64_t> ranks);
  /// The ranks of rings 1, 2, ...
  const std::vector<std::vector<int64_t>>& rings() const { return rings_; }

  /// How long a call waits for its peers before it throws.
  Milliseconds deadline() const { return transport_->deadline(); }
  void set_deadline(Milliseconds deadline) { transport_->set_deadline(deadline); }

  /// Whether the members of a group compare every call before it runs: its op, number, dtype,
  /// counts, shape and source. A difference is an InvalidArgument on all of them that names both.
  /// If false, only calls whose messages meet are compared, without their sources. Set it alike on
  /// all ranks. It costs a message of some hundred bytes between each pair of members, and calls
  /// that would only be started wait for all members.
  bool strict_collectives() const { return transport_->is_strict(); }
  void set_strict_collectives(bool strict) { transport_->set_strict(strict); }

  /// Starts logging every call of every communicator. Tests assert that the members of a group have
  /// the same log.
  void enable_call_log() { is_logging_ = true; }
  const std::vector<LoggedCall>& call_log() const { return call_log_; }
  /// For groups: adds a call, if the log is enabled.
  void log_call(const Group& group, const CollectiveCall& call);

  /// Communicator::transfers_in_flight and drain of all communicators; a job ends with a drain.
  size_t transfers_in_flight();
  void drain();

  /// This rank's default mesh, for calls without a mesh (set_mesh of distributed/api.h); null:
  /// none.
  const std::shared_ptr<const ProcessMesh>& default_mesh() const { return default_mesh_; }
  void set_default_mesh(std::shared_ptr<const ProcessMesh> mesh) {
    default_mesh_ = std::move(mesh);
  }

  /// The calling thread's world: that of the innermost Scope, or the process's.
  static World& current() { return current_ ? *current_ : process_world(); }

  /// Makes `world` and its rank context current in the calling thread during its lifetime.
  class Scope {
   public:
    explicit Scope(World& world) : outer_(current_), context_(*world.context_) {
      current_ = &world;
    }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    World* outer_;
    RankContext::Scope context_;
  };

 private:
  static World& process_world();

  std::shared_ptr<RankContext> context_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Communicator> device_communicator_;
  std::shared_ptr<const ProcessMesh> default_mesh_;
  std::vector<std::vector<int64_t>> rings_;  // from ring 1 on
  bool is_logging_ = false;
  std::vector<LoggedCall> call_log_;
  static inline thread_local World* current_ = nullptr;
};

/// Joins this process to its job: by the first backend of job_backends() (backends.h) that started
/// it, otherwise as rank 0 of 1. Call it once, in main's thread; afterwards the world is
/// World::current() of that thread.
///
/// `start_deadline` bounds the wait for the other ranks. 0 means the environment variable
/// AUTOPHI_START_DEADLINE_S, in seconds, or World::kDefaultStartDeadline if it is not set. When it
/// passes, the process prints which ranks are missing and ends with a non-zero status, because
/// nothing can be thrown out of MPI_Init.
World& init_world(int* argc, char*** argv,
                  World::Milliseconds start_deadline = World::Milliseconds(0));
/// Leaves the job. Does nothing without init_world, or in a child of the process that called it.
void finalize_world();

/// Prints `rank R: message` once and ends the whole job with a non-zero status; in a child of
/// fork() only that process. For main's handler of uncaught errors.
[[noreturn]] void abort_job(const std::string& message);

}  // namespace phi::distributed
