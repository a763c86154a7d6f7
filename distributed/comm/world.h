// World: one rank's view of the job: rank and size, its context, and the groups that it is a member
// of.
//
//   World& world = World::current();
//   world.everyone().broadcast(shape, 4, DataType::INT64, /*root=*/0);
//   world.group(mesh.sub_ranks(world.rank(), 1)).barrier();
//
// A backend is a subclass that moves messages between ranks (messages.h); all collectives are built
// on messages. A process under mpirun has one world (init_world). The local backend creates one for
// each thread (local/local_world.h). Any other process is rank 0 of 1.
//
// Groups work on arrays in host memory. A library that moves arrays directly between devices is a
// device communicator: a World of the same ranks, next to the host's world.
//
//   Group& group = world.device_communicator(x.place()).group(ranks);
//
// A child of fork() is not a rank. It has a copy of the world of the thread that forked, which
// reports that rank and size; its calls throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/reduce.h"
#include "distributed/comm/transfer.h"
#include "phi/common/dims.h"
#include "phi/common/process/fork_detector.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {

class ProcessMesh;
struct RankStatus;

/// One collective call of one rank, for messages and for the call log.
struct CollectiveCall {
  const Group* group = nullptr;
  uint64_t sequence = 0;  // 1 for the group's first call
  CommOp op = CommOp::kExchange;
  int64_t bytes = 0;            // of this rank's arrays in the call
  const char* scope = nullptr;  // the operator of this thread, or null
  // All members have equal values of the following, if the call sets them.
  DataType dtype = DataType::UNDEFINED;
  int64_t count = -1;                  // total elements of all members' arrays
  int64_t root = -1;                   // a position in the group
  std::optional<ReduceKind> reduce{};  // reductions only
  std::optional<Dims> shape{};         // of the tensor that is communicated (comm_annotation.h)
  uint64_t tensor = 0;  // distinguishes tensors of the same shape and dtype; 0: unnumbered
  // State of the rank's generator (phi/core/generator.h); 0 in a barrier, which moves no values.
  uint64_t seed = 0;
  uint64_t draws = 0;

  /// "all_reduce #418 of group {4,5} (sum of float32[64,64], 16384 bytes, from matmul_grad)"
  std::string to_string() const;
};

/// A rank's progress in a call.
enum class CallState : int32_t { kFinished = 0, kWaiting, kStarted };

/// An entry of the call log.
struct LoggedCall {
  std::vector<int64_t> group;
  uint64_t sequence;
  CommOp op;
  friend bool operator==(const LoggedCall&, const LoggedCall&) = default;
};

class World {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds kDefaultDeadline{60'000};
  static constexpr Milliseconds kDefaultStartDeadline{60'000};

  virtual ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int64_t rank() const { return context_->rank(); }
  int64_t size() const { return context_->world_size(); }
  RankContext& rank_context() { return *context_; }
  /// The number of lower ranks on this rank's machine. If ranks are threads of one process, rank().
  virtual int64_t local_rank() const { return rank(); }
  /// "mpi", "local", "dry".
  virtual std::string_view backend() const = 0;
  /// False if messages are counted but not transferred (dry); received values are then meaningless.
  virtual bool transfers_data() const { return true; }
  /// Whether this is a copy in a child of fork(): rank and size are the parent's, and calls throw.
  /// Always false for worlds without peers (no job, or dry).
  bool was_forked() const { return has_peers_ && !creating_process_.is_of_this_process(); }
  /// Errors: PreconditionNotMet if was_forked(); the message contains `what`.
  void check_not_forked(std::string_view what) const;
  /// Unique among all worlds of the process; for caches.
  uint64_t id() const { return id_; }

  /// Returns the group of these ranks, in this order; created on first use, without communication.
  /// Errors: InvalidArgument if this rank is not in it, or if a rank repeats or is not in the
  /// world.
  Group& group(std::span<const int64_t> ranks);
  /// The group of all ranks.
  Group& everyone();

  /// Registers a group of ranks and returns its number, which communication operators use. Every
  /// rank of the world registers the same groups in the same order, whether it is a member or not.
  /// Ring 0 is everyone().
  int add_ring(std::span<const int64_t> ranks);
  /// Errors: InvalidArgument for an unregistered number, and those of group().
  Group& ring(int ring_id);

  /// The device in whose memory the arrays of its groups' calls are.
  virtual Device& device() { return Device::of(CPUPlace()); }
  /// Returns the device communicator if it is for arrays at `place`, otherwise this world. Arrays
  /// at other places are copied to its device first (ArrayAt).
  World& device_communicator(const Place& place) {
    return device_communicator_ && device_communicator_->device().place() == place
               ? *device_communicator_
               : *this;
  }
  /// Installs the device communicator (null: none) and returns the previous one. It must have been
  /// constructed from this world.
  std::unique_ptr<World> set_device_communicator(std::unique_ptr<World> device_communicator) {
    return std::exchange(device_communicator_, std::move(device_communicator));
  }

  /// The same as reduce_arrays (reduce.h) for arrays of device(), ordered before later work on it.
  virtual void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                      ReduceKind kind) {
    reduce_arrays(inputs, out, count, dtype, kind);
  }

  /// Whether a captured sequence of device()'s launches may contain calls of its groups
  /// (Device::record).
  virtual bool records_calls() const { return false; }
  /// The same as Device::record of device(), except that `body` may also call groups of this world.
  /// It is a collective call of the ranks of `who`. All of them capture calls that match, and
  /// launch the captured sequences equally often and in the same order. A launch is a call with the
  /// usual checks and deadline. The result must not outlive the world, and is never null.
  ///
  /// Errors   Unimplemented if the world cannot capture calls. PreconditionNotMet if the device
  ///          captures nothing, or the body does something that cannot be captured. Those of the
  ///          body.
  virtual std::unique_ptr<LaunchGraph> record(Group& who, const std::function<void()>& body);

  /// How long a call waits for its peers before it throws.
  Milliseconds deadline() const { return settings_->deadline; }
  void set_deadline(Milliseconds deadline) { settings_->deadline = deadline; }

  /// Whether the members of a group compare every call before it runs: its op, number, dtype,
  /// counts, shape and source. A difference is an InvalidArgument on all of them that names both.
  /// If false, only calls whose messages meet are compared, without their sources. Set it alike on
  /// all ranks. It costs a message of some hundred bytes between each pair of members, and calls
  /// that would only be started wait for all members.
  bool strict_collectives() const { return settings_->strict; }
  void set_strict_collectives(bool strict) { settings_->strict = strict; }

  /// Starts logging every call, including those of a device communicator. Tests assert that the
  /// members of a group have the same log.
  void enable_call_log() { settings_->logging = true; }
  const std::vector<LoggedCall>& call_log() const { return settings_->call_log; }

  /// Polls all transfers, completes those that are done, releases their buffers, and returns how
  /// many are still in flight. Every call of a group polls some. Errors: those of transfers without
  /// a handle. A failed transfer counts until its error has been reported.
  size_t transfers_in_flight();
  /// Waits for all transfers in flight; called at the end of a job. Errors: those of the transfers.
  void drain();

  /// This rank's default mesh, for calls without a mesh (set_mesh of distributed/api.h); null:
  /// none.
  const std::shared_ptr<const ProcessMesh>& default_mesh() const { return default_mesh_; }
  void set_default_mesh(std::shared_ptr<const ProcessMesh> mesh) {
    default_mesh_ = std::move(mesh);
  }

  /// Notifies all other ranks that this one failed: their calls throw (local), or the job ends
  /// (mpi).
  virtual void fail(const std::string& message) = 0;

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

 protected:
  /// Whether other threads or processes share the resources behind its messages.
  enum class Peers : uint8_t { kNone, kOthers };
  explicit World(std::shared_ptr<RankContext> context, Peers peers = Peers::kNone);
  /// A device communicator of `host`, which must outlive it. It shares host's rank, context,
  /// settings and rings.
  explicit World(World& host);

  virtual std::unique_ptr<Messages> new_messages() = 0;
  /// Creates a group. A backend with a library of collectives returns its own subclass; these
  /// groups are built on messages.
  virtual std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                            uint64_t hash);
  /// Stores this rank's current call, for reports by other ranks.
  virtual void note(const CollectiveCall& call, CallState state) = 0;
  /// What this process can observe of another rank, for reports. Callable from any of its threads.
  virtual RankStatus rank_status(int64_t rank) const;
  /// The error message of another rank that failed. Empty if none has, or if the job then ends by
  /// itself. For watchdog threads.
  virtual std::string failure() const { return {}; }

  /// Memory of device() for received data, valid until the next call of scratch().
  virtual std::byte* scratch(size_t bytes);
  /// Slice size of a reduction: a slice is reduced while the next one is in flight.
  virtual int64_t slice_bytes() const { return 1 << 20; }

  // Access for a device communicator to its host's world.
  static std::unique_ptr<Messages> acquire_messages_of(World& host) {
    return host.acquire_messages();
  }
  static void release_messages(World& host, std::unique_ptr<Messages> messages) {
    host.spare_.push_back(std::move(messages));
  }
  static void note_in(World& host, const CollectiveCall& call, CallState state) {
    host.note(call, state);
  }
  static RankStatus rank_status_in(const World& host, int64_t rank);
  static std::string failure_in(const World& host) { return host.failure(); }
  static void wait_in(World& host, const CollectiveCall& call, Messages& messages) {
    host.wait_and_progress(call, messages);
  }
  static void exchange_messages_in(World& host, const CollectiveCall& call,
                                   std::span<const Send> sends, std::span<const Recv> recvs) {
    host.exchange_messages(call, sends, recvs);
  }

  /// For a device communicator: continues its pending host-side work without waiting. Returns
  /// whether any is left.
  virtual bool make_progress() { return false; }
  /// Withdraws all transfers in flight. For destructors of backends whose messages need them. In a
  /// child of fork() it withdraws and frees nothing, because the messages are the parent's.
  void abandon_transfers() noexcept;

 private:
  friend class Group;
  friend class Transfer;
  // Shared by a world and its device communicator.
  struct Settings {
    Milliseconds deadline = kDefaultDeadline;
    bool logging = false;
    bool strict = false;
    std::vector<LoggedCall> call_log;
    std::vector<std::vector<int64_t>> rings;  // from ring 1 on
  };
  static World& process_world();

  std::unique_ptr<Messages> acquire_messages();
  void exchange_messages(const CollectiveCall& call, std::span<const Send> sends,
                         std::span<const Recv> recvs);
  /// The two halves of exchange_messages; other messages of the call may be posted in between.
  std::unique_ptr<Messages> post(const CollectiveCall& call, std::span<const Send> sends,
                                 std::span<const Recv> recvs);
  void finish(const CollectiveCall& call, std::unique_ptr<Messages> messages);
  void wait_and_progress(const CollectiveCall& call, Messages& messages);
  Transfer start(const CollectiveCall& call, std::span<const Send> sends,
                 std::span<const Recv> recvs, std::shared_ptr<const void> buffers);
  bool test(Transfer::State& transfer) noexcept;
  void wait_for(Transfer::State& transfer);
  void poll(size_t most);
  void end(Transfer::State& transfer);
  void end_failed(Transfer::State& transfer);
  void show_flight(const Transfer::State& transfer, Trace& trace);

  std::shared_ptr<RankContext> context_;
  const uint64_t id_;
  const bool has_peers_;
  const ForkDetector creating_process_;
  std::shared_ptr<Settings> settings_;
  std::unique_ptr<World> device_communicator_;
  std::shared_ptr<const ProcessMesh> default_mesh_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Group>> groups_;  // by hash of the rank list
  Group* everyone_ = nullptr;
  std::vector<std::unique_ptr<Messages>> spare_;  // free to be posted again
  std::vector<std::shared_ptr<Transfer::State>> transfers_;
  size_t next_polled_ = 0;
  // Buffers and messages of failed transfers: a backend may be unable to withdraw all that it has
  // started.
  std::vector<std::pair<std::shared_ptr<const void>, std::unique_ptr<Messages>>> failed_;
  static inline thread_local World* current_ = nullptr;
};

/// Joins this process to its job: by MPI if mpirun started it, otherwise as rank 0 of 1. Call it
/// once, in main's thread; afterwards the world is World::current() of that thread.
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
