// TierStore: the memory of a SwapPlan (device arena, host copies, swap file) and the copies between
// its tiers. SwapEngine determines their order.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "phi/core/device/copy_queues.h"
#include "phi/memory/engine/host_pool.h"
#include "phi/memory/engine/plan_arena.h"
#include "phi/memory/io/swap_file.h"
#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

class TierStore {
 public:
  /// `plan` must outlive this object. `place` is the place on which its steps compute. Errors:
  /// ResourceExhausted; those of SwapFile::create.
  TierStore(const SwapPlan& plan, const Place& place, const std::string& disk_folder,
            std::shared_ptr<IoEngine> io_engine);
  /// Waits for the copies by CopyQueues.
  ~TierStore();
  TierStore(const TierStore&) = delete;
  TierStore& operator=(const TierStore&) = delete;

  std::byte* arena() const { return arena_.data(); }
  const Place& place() const { return arena_.device().place(); }
  /// Runs a copy or a drop. Threads may run actions of different buffers at the same time, but only
  /// one that uses the disk. A copy begins when all events of `dependencies` are reached. With
  /// CopyQueues, a copy that does not use the disk is enqueued, and its end is returned. Otherwise
  /// the action is complete on return, and the result is null. Errors: those of SwapFile.
  QueueEventPtr run(const SwapAction& action, std::span<const QueueEventPtr> dependencies = {});

  /// Writes bytes [offset, offset + out.size()) of a value to `out`.
  using FillFunction = std::function<void(int64_t offset, std::span<std::byte> out)>;
  /// Stores a value on all tiers of `at`. Must not run concurrently with run().
  void put(SwapBufferId buffer, const SwapResidence& at, const FillFunction& fill);
  void get(SwapBufferId buffer, const SwapResidence& at, std::span<std::byte> out);
  /// Drops the copies on lower tiers, if there are any.
  void forget(SwapBufferId buffer);

  std::array<int64_t, kNumTiers> peak_bytes() const;

 private:
  size_t nbytes(SwapBufferId buffer) const {
    return static_cast<size_t>(plan_.buffers[static_cast<size_t>(buffer)].nbytes);
  }
  std::span<std::byte> on_host(SwapBufferId buffer) {
    return {block(buffer).data(), nbytes(buffer)};
  }
  HostBlock& block(SwapBufferId buffer) { return blocks_[static_cast<size_t>(buffer)]; }
  SwapFile::FileExtent& extent(SwapBufferId buffer) {
    return extents_[static_cast<size_t>(buffer)];
  }
  QueueEventPtr run_on_queues(const SwapAction& action,
                              std::span<const QueueEventPtr> dependencies);
  void run_here(const SwapAction& action);
  // Copy pieces of values through host memory; complete on return.
  void read_arena(int64_t offset, std::span<std::byte> out);
  void write_arena(int64_t offset, std::span<const std::byte> value);
  void take_block(SwapBufferId buffer);
  // The last use of the copy on the host. Locked, because one thread may read the copy for the disk
  // while another enqueues a device copy from it.
  QueueEventPtr used_until(SwapBufferId buffer);
  void set_used_until(SwapBufferId buffer, const QueueEventPtr& event);
  void wait_for_copies_of(SwapBufferId buffer);
  void take_extent(SwapBufferId buffer);
  void end_copy(SwapBufferId buffer, Tier tier);
  void host_to_disk(SwapBufferId buffer);
  void disk_to_host(SwapBufferId buffer);
  // Use the staging memory, one half at a time.
  void fill_disk(SwapBufferId buffer, Tier from, const FillFunction& fill);
  using PieceConsumer = std::function<void(int64_t offset, std::span<const std::byte> piece)>;
  void read_disk(SwapBufferId buffer, Tier to, const PieceConsumer& take);
  void put_below(SwapBufferId buffer, const SwapResidence& at, const FillFunction& fill);

  const SwapPlan& plan_;
  PlanArena arena_;
  CopyQueues* const copy_queues_;  // null: the thread that runs an action copies
  HostPool host_;
  std::vector<HostBlock> blocks_;  // by buffer; empty: no copy on the host
  std::mutex uses_mutex_;
  std::shared_ptr<SwapFile> file_;             // null without a disk
  std::vector<SwapFile::FileExtent> extents_;  // by buffer; 0 bytes: no copy on the disk
  HostBlock staging_;
};

}  // namespace phi::memory
