// Transport: moves bytes in host memory between the ranks of a job, enforces the deadline of every
// wait, and observes which ranks are alive. Each backend that connects ranks is a subclass.
//
// A child of fork() is not a rank. It has a copy of the transport of the thread that forked, which
// reports that rank and size; its messages throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/messages.h"
#include "distributed/comm/report/rank_status.h"
#include "phi/common/process/fork_detector.h"

namespace phi::distributed {

class Transport {
 public:
  static constexpr std::chrono::milliseconds kDefaultDeadline{60'000};

  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  /// The number of lower ranks on this rank's machine. If ranks are threads of one process, rank().
  virtual int64_t local_rank() const { return rank_; }
  /// "mpi", "local", "dry".
  virtual std::string_view backend() const = 0;
  /// False if messages are counted but not transferred (dry); received values are then meaningless.
  virtual bool transfers_data() const { return true; }

  virtual std::unique_ptr<Messages> new_messages() = 0;

  /// Stores this rank's current call, for reports by other ranks.
  virtual void note(const CollectiveCall& call, CallState state) = 0;
  /// What this process can observe of another rank, for reports. Callable from any of its threads.
  virtual RankStatus rank_status(int64_t rank) const;
  /// The error message of another rank that failed. Empty if none has, or if the job then ends by
  /// itself. For watchdog threads.
  virtual std::string failure() const { return {}; }
  /// Notifies all other ranks that this one failed: their calls throw (local), or the job ends
  /// (mpi).
  virtual void fail(const std::string& message) = 0;

  /// How long a call waits for its peers before it throws.
  std::chrono::milliseconds deadline() const { return deadline_; }
  void set_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }
  /// Whether messages of calls with different sources are a mismatch
  /// (World::set_strict_collectives).
  bool is_strict() const { return strict_; }
  void set_strict(bool strict) { strict_ = strict; }

  /// Whether this is a copy in a child of fork(): rank and size are the parent's, and messages
  /// throw. Always false without peers (no job, or dry).
  bool was_forked() const { return has_peers_ && !creating_process_.is_of_this_process(); }
  /// Errors: PreconditionNotMet if was_forked(); the message contains `what`.
  void check_not_forked(std::string_view what) const;

 protected:
  /// Whether other threads or processes share the resources behind its messages.
  enum class Peers : uint8_t { kNone, kOthers };
  Transport(int64_t rank, int64_t size, Peers peers)
      : rank_(rank), size_(size), has_peers_(peers == Peers::kOthers) {}

 private:
  const int64_t rank_;
  const int64_t size_;
  const bool has_peers_;
  const ForkDetector creating_process_;
  std::chrono::milliseconds deadline_ = kDefaultDeadline;
  bool strict_ = false;
};

}  // namespace phi::distributed
