// MemoryLedger: names what a rank's bytes are used for, now and at the peak.
//
//   const MemoryLedger ledger(*rank.memory());
//   {
//     const MemoryUseScope use(MemoryUse::kWeights);
//     build_model();
//   }
//   train();
//   for (const MemoryHolder& holder : ledger.at_peak()) ...   // "weights", 1048576
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "phi/core/storage/block_tally.h"
#include "phi/core/storage/planned_scratch.h"
#include "phi/core/storage/pool_tally.h"

namespace phi {

class MemoryAccount;
class Storage;

/// kActivations: what the passes of a model compute, gradients of activations included.
enum class MemoryUse : uint8_t {
  kActivations,
  kWeights,
  kStates,     // of the optimizer
  kGradients,  // of parameters
  kMessages,   // what is packed, received or kept for messages
  kWorkspace,  // of kernels
  kData,       // inputs of a step
  kProgram,    // the arena of a captured program
};

/// States what the calling thread allocates for, for the lifetime of this object.
class MemoryUseScope {
 public:
  /// `layer`: the layer of the model, -1: none.
  explicit MemoryUseScope(MemoryUse use, int layer = -1)
      : outer_(std::exchange(current_, {use, layer})) {}
  ~MemoryUseScope() { current_ = outer_; }
  MemoryUseScope(const MemoryUseScope&) = delete;
  MemoryUseScope& operator=(const MemoryUseScope&) = delete;

  using Key = std::pair<MemoryUse, int>;  // use, and layer
  /// Of the innermost scope of the calling thread; kActivations of no layer without one.
  static const Key& current() { return current_; }

 private:
  static inline thread_local Key current_{MemoryUse::kActivations, -1};
  Key outer_;
};

/// Bytes of one use: "weights", "activations of layer 3".
struct MemoryHolder {
  std::string name;
  int64_t bytes = 0;

  friend bool operator==(const MemoryHolder&, const MemoryHolder&) = default;
};

using MemoryHolders = std::vector<MemoryHolder>;

/// Thread-safe. Counts storages that are allocated, or planned in a dry run, during its lifetime.
class MemoryLedger {
 public:
  /// At most one per account at a time; the account must outlive it.
  explicit MemoryLedger(const MemoryAccount& account);
  ~MemoryLedger();
  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// The holders, largest first, when the bytes of all together were the most, and now.
  MemoryHolders at_peak() const;
  MemoryHolders now() const;
  /// Most bytes that MemoryAccount::blocks() obtains for the holders and for scratch(), and the
  /// arenas of programs, which are not its blocks.
  int64_t reserved() const;
  /// Most bytes that the pool of a GPU provides for the holders, if they are on a GPU.
  int64_t pooled() const;
  /// Scratch memory that kernels state. It is not held by tensors.
  PlannedScratch& scratch() { return scratch_; }

  // The account's storages report their bytes. `holder` identifies a block of bytes.

  /// `block`: what is requested for the bytes, with an object in front of them.
  static void added(const MemoryAccount& account, const void* holder, int64_t bytes, size_t block) {
    if (any()) [[unlikely]]
      find_and_add(account, holder, bytes, block);
  }
  static void removed(const MemoryAccount& account, const void* holder) {
    if (any()) [[unlikely]]
      find_and_remove(account, holder);
  }
  /// The bytes of `from` are those of `to` from now on.
  static void moved(const MemoryAccount& account, const void* from, const void* to) {
    if (any()) [[unlikely]]
      find_and_move(account, from, to);
  }
  /// The bytes of a holder have another use than they were allocated for.
  static void assign(const MemoryAccount& account, const void* holder, MemoryUse use) {
    if (any()) [[unlikely]]
      find_and_assign(account, holder, use);
  }
  /// "weights 3.2 MiB, messages 1.0 MiB" of the account's ledger; empty if it has none.
  static std::string describe(const MemoryAccount& account);
  /// scratch() of the account's ledger; null if it has none.
  static PlannedScratch* scratch_of(const MemoryAccount& account);

 private:
  using Key = MemoryUseScope::Key;
  struct Entry {
    Key key;
    int64_t bytes;
    size_t block;
  };
  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }
  static void find_and_add(const MemoryAccount& account, const void* holder, int64_t bytes,
                           size_t block);
  static void find_and_remove(const MemoryAccount& account, const void* holder);
  static void find_and_move(const MemoryAccount& account, const void* from, const void* to);
  static void find_and_assign(const MemoryAccount& account, const void* holder, MemoryUse use);
  void add(const Key& key, int64_t bytes);
  void reserve(const Entry& entry);
  void unreserve(const Entry& entry);
  static MemoryHolders sorted(const std::map<Key, int64_t>& totals);

  const MemoryAccount& account_;
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Entry> entries_;
  std::map<Key, int64_t> totals_;
  std::map<Key, int64_t> peak_;  // the totals at the peak
  int64_t current_ = 0;
  int64_t most_ = 0;
  BlockTally blocks_;
  PoolTally pool_;
  PlannedScratch scratch_{blocks_, mutex_};
  int64_t arenas_ = 0;  // bytes of the arenas of programs
  int64_t most_arenas_ = 0;
  static inline std::atomic<int> count_{0};  // ledgers in this process
};

}  // namespace phi
