// World: one rank's view of the job: who it is, its context, and the groups that it belongs to.
//
//   World& world = World::current();
//   world.everyone().broadcast(shape, 4, DataType::INT64, /*root=*/0);
//   world.group(mesh.sub_ranks(world.rank(), 1)).barrier();
//
// A backend is a subclass that can move messages between ranks (messages.h); all collectives are
// built on that. A process under mpirun has one world (init_world); the local backend gives each
// thread its own (local/local_world.h); a process that did neither is rank 0 of 1.
//
// Groups take arrays of the host's memory. Where a library moves arrays from device to device as
// they lie there, it is a world of its own, of the same ranks: the carrier of the host's world.
//
//   Group& group = world.carrier(x.place()).group(ranks);
//
// A child of fork() is no rank: it has a copy of the world of the thread that forked, which says
// who that was, and whose calls are errors.
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
#include "phi/common/process/process_mark.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {

class ProcessMesh;
struct SeenRank;

/// One collective call of one rank, as messages and the call log name it.
struct Call {
  const Group* group = nullptr;
  uint64_t sequence = 0;  // 1 for the group's first call
  CommOp op = CommOp::kExchange;
  int64_t bytes = 0;            // of the arrays that it is about on this rank
  const char* scope = nullptr;  // the op that this thread is in, or null
  // On what follows all members agree, where the call has it.
  DataType dtype = DataType::UNDEFINED;
  int64_t count = -1;                  // elements of all members' arrays together
  int64_t root = -1;                   // a position in the group
  std::optional<ReduceKind> reduce{};  // of a reduction
  std::optional<Dims> shape{};         // of the tensor that it is about (subject.h)
  uint64_t tensor = 0;                 // which one, where that has a number
  // Of the rank's generator (phi/core/generator.h); 0 in a barrier, which moves no values.
  uint64_t seed = 0;
  uint64_t draws = 0;

  /// "all_reduce #418 of group {4,5} (sum of float32[64,64], 16384 bytes, from matmul_grad)"
  std::string to_string() const;
};

/// What a rank does in a call.
enum class CallState : int32_t { kFinished = 0, kWaiting, kStarted };

/// A line of the call log.
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
  /// How many ranks of lower number are on this rank's machine; threads of one process: rank().
  virtual int64_t number_on_machine() const { return rank(); }
  /// "mpi", "local", "dry".
  virtual std::string_view backend() const = 0;
  /// False where messages are counted and not carried (dry): received values mean nothing then.
  virtual bool carries() const { return true; }
  /// This is a copy in a child of fork(): the place among the ranks is the parent's, and calls
  /// throw. Never of worlds without peers (a process that joined no job; dry).
  bool was_left_by_fork() const { return has_peers_ && !made_in_.is_of_this_process(); }
  /// Errors: PreconditionNotMet if was_left_by_fork(); `what` was to be done.
  void check_not_left(std::string_view what) const;
  /// Differs between any two worlds of the process; for caches.
  uint64_t id() const { return id_; }

  /// The group of these ranks, in this order; made on first use, without communication.
  /// Errors: InvalidArgument if this rank is not in it, or a rank is repeated or not in the world.
  Group& group(std::span<const int64_t> ranks);
  /// The group of all ranks.
  Group& everyone();

  /// A number for the group of these ranks, by which communication operators know it. Every rank of
  /// the world numbers the same groups in the same order, members or not; ring 0 is everyone().
  int add_ring(std::span<const int64_t> ranks);
  /// Errors: InvalidArgument for a number that was not given, and those of group().
  Group& ring(int ring_id);

  /// The device in whose memory the arrays of its groups' calls lie.
  virtual Device& device() { return Device::of(CPUPlace()); }
  /// The world whose groups take arrays of this place as they lie: the carrier, if it is of that
  /// place, else this world. Arrays of other places than its device's come to that first (ArrayAt).
  World& carrier(const Place& place) {
    return carrier_ && carrier_->device().place() == place ? *carrier_ : *this;
  }
  /// From now on; a world of the same ranks that was made of this one (the constructor says how),
  /// or null. Gives back the one before.
  std::unique_ptr<World> set_carrier(std::unique_ptr<World> carrier) {
    return std::exchange(carrier_, std::move(carrier));
  }

  /// As reduce_arrays (reduce.h), of arrays of device(), for what is done with them afterwards.
  virtual void reduce(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                      ReduceKind kind) {
    reduce_arrays(inputs, out, count, dtype, kind);
  }

  /// Whether calls of its groups can be part of what its device writes down (Device::record).
  virtual bool records_calls() const { return false; }
  /// As Device::record of device(), where `body` may call groups of this world as well: a call of
  /// the ranks of `who`, all of which write down the calls that belong together, and launch what
  /// they have written down equally often and in the same order. A launch is a call that is looked
  /// after as all are. Records serve as long as the world. Never null.
  ///
  /// Errors: Unimplemented if the world records no calls; PreconditionNotMet if the device writes
  /// nothing down or the body does what cannot be; those of the body.
  virtual std::unique_ptr<LaunchRecord> record(Group& who, const std::function<void()>& body);

  /// How long one call waits for its peers before it throws.
  Milliseconds deadline() const { return settings_->deadline; }
  void set_deadline(Milliseconds deadline) { settings_->deadline = deadline; }

  /// Whether the members of a group compare every call before it runs: its op, number, dtype,
  /// counts, shape and source. A difference is an InvalidArgument on all of them that names both.
  /// Without it only calls whose messages meet are compared, and not their sources. All ranks set
  /// the same. Costs a message of some hundred bytes between any two members, and calls that would
  /// only be started wait for all members.
  bool strict_collectives() const { return settings_->strict; }
  void set_strict_collectives(bool strict) { settings_->strict = strict; }

  /// From now on every call is logged, a carrier's among them; tests assert that the members of a
  /// group agree.
  void enable_call_log() { settings_->logging = true; }
  const std::vector<LoggedCall>& call_log() const { return settings_->call_log; }

  /// How many transfers are still under way, after a look at all of them: those that are done are
  /// over and their buffers released. Every call of a group looks at some. Errors: those of
  /// transfers that nobody holds a handle of; one that failed counts until somebody is told.
  size_t transfers_under_way();
  /// Waits for all transfers that are under way; the end of a job calls it. Errors: theirs.
  void drain();

  /// The mesh that this rank's program means where it names none (set_mesh of distributed/api.h);
  /// null: none.
  const std::shared_ptr<const ProcessMesh>& default_mesh() const { return default_mesh_; }
  void set_default_mesh(std::shared_ptr<const ProcessMesh> mesh) {
    default_mesh_ = std::move(mesh);
  }

  /// Tells all other ranks that this one failed: their calls throw (local) or the job ends (mpi).
  virtual void fail(const std::string& message) = 0;

  /// The calling thread's world: the innermost Scope's, else the process's.
  static World& current() { return current_ ? *current_ : process_world(); }

  /// Makes `world`, and its rank context, the calling thread's while it lives.
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
  /// Whether other threads or processes hold the other ends of what its messages go through.
  enum class Peers : uint8_t { kNone, kOthers };
  explicit World(std::shared_ptr<RankContext> context, Peers peers = Peers::kNone);
  /// A carrier of `host`, which outlives it: rank, context, settings and rings are the host's.
  explicit World(World& host);

  virtual std::unique_ptr<Messages> new_messages() = 0;
  /// A backend that has a library of collectives gives a group of its own; this one's are made of
  /// messages.
  virtual std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                            uint64_t hash);
  /// What this rank does now: kept for the reports of other ranks.
  virtual void note(const Call& call, CallState state) = 0;
  /// What this process can see of other ranks, for reports; good for any thread of it.
  virtual SeenRank see(int64_t rank) const;
  /// Of another rank that failed, what it said; empty: none has, or the job ends then by itself.
  /// For threads that watch.
  virtual std::string failure() const { return {}; }

  /// Memory of device() for what has arrived, until the next call of it.
  virtual std::byte* scratch(size_t bytes);
  /// A reduction goes through arrays in slices of this size: what arrives is reduced while the next
  /// slice is on its way.
  virtual int64_t slice_bytes() const { return 1 << 20; }

  // What a carrier asks of its host's world.
  static std::unique_ptr<Messages> messages_of(World& host) { return host.free_messages(); }
  static void give_back(World& host, std::unique_ptr<Messages> messages) {
    host.spare_.push_back(std::move(messages));
  }
  static void note_in(World& host, const Call& call, CallState state) { host.note(call, state); }
  static SeenRank seen_by(const World& host, int64_t rank);
  static std::string failure_in(const World& host) { return host.failure(); }
  static void wait_in(World& host, const Call& call, Messages& messages) {
    host.wait_beside_carrier(call, messages);
  }
  static void carry_in(World& host, const Call& call, std::span<const Send> sends,
                       std::span<const Recv> recvs) {
    host.carry(call, sends, recvs);
  }

  /// Of a carrier: carries on with what it has to do on the host, without waiting; whether
  /// something is left to be done there.
  virtual bool make_progress() { return false; }
  /// Withdraws all that is under way. For the destructors of backends whose messages need them. In
  /// a child of fork() nothing is withdrawn and nothing freed: it is the parent's.
  void abandon_transfers() noexcept;

 private:
  friend class Group;
  friend class Transfer;
  // Of a world and its carrier.
  struct Settings {
    Milliseconds deadline = kDefaultDeadline;
    bool logging = false;
    bool strict = false;
    std::vector<LoggedCall> call_log;
    std::vector<std::vector<int64_t>> rings;  // from ring 1 on
  };
  static World& process_world();

  std::unique_ptr<Messages> free_messages();
  void carry(const Call& call, std::span<const Send> sends, std::span<const Recv> recvs);
  /// The two halves of it; other messages of the call may be posted in between.
  std::unique_ptr<Messages> post(const Call& call, std::span<const Send> sends,
                                 std::span<const Recv> recvs);
  void finish(const Call& call, std::unique_ptr<Messages> messages);
  void wait_beside_carrier(const Call& call, Messages& messages);
  Transfer start(const Call& call, std::span<const Send> sends, std::span<const Recv> recvs,
                 std::shared_ptr<const void> buffers);
  bool test(Transfer::State& transfer) noexcept;
  void wait_for(Transfer::State& transfer);
  void poll(size_t most);
  void end(Transfer::State& transfer);
  void end_failed(Transfer::State& transfer);
  void show_flight(const Transfer::State& transfer, Trace& trace);

  std::shared_ptr<RankContext> context_;
  const uint64_t id_;
  const bool has_peers_;
  const ProcessMark made_in_;
  std::shared_ptr<Settings> settings_;
  std::unique_ptr<World> carrier_;
  std::shared_ptr<const ProcessMesh> default_mesh_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Group>> groups_;  // by hash of the rank list
  Group* everyone_ = nullptr;
  std::vector<std::unique_ptr<Messages>> spare_;  // free to be posted again
  std::vector<std::shared_ptr<Transfer::State>> under_way_;
  size_t next_polled_ = 0;
  // Of transfers that failed, buffers and messages: a backend may not be able to take back all that
  // it has begun.
  std::vector<std::pair<std::shared_ptr<const void>, std::unique_ptr<Messages>>> failed_;
  static inline thread_local World* current_ = nullptr;
};

/// The process joins its job: MPI where it was started by mpirun, else rank 0 of 1. Call once, in
/// main's thread; the world is World::current() of that thread from then on.
///
/// `start_deadline`: how long to wait for the other ranks; 0: the seconds that the environment's
/// AUTOPHI_START_DEADLINE_S gives, else World::kDefaultStartDeadline. Past it the process says who
/// is missing and ends with a non-zero status, as nothing can be thrown out of MPI_Init.
World& init_world(int* argc, char*** argv,
                  World::Milliseconds start_deadline = World::Milliseconds(0));
/// Leaves the job; nothing happens without init_world, and in a child of the process that called
/// it.
void finalize_world();

/// Prints `rank R: message` once and ends the whole job with a non-zero status; in a child of
/// fork() that process alone. For main's handler of errors that nobody caught.
[[noreturn]] void abort_job(const std::string& message);

}  // namespace phi::distributed
