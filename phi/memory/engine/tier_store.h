// TierStore: the bytes behind a SwapPlan: the device arena, the host's copies, the swap file; and
// how a value gets from one to another. Knows no order: SwapEngine says when.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "phi/core/device/side_copies.h"
#include "phi/memory/engine/host_pool.h"
#include "phi/memory/engine/plan_arena.h"
#include "phi/memory/io/swap_file.h"
#include "phi/memory/plan/swap_plan.h"

namespace phi::memory {

class TierStore {
 public:
  /// `plan` must outlive this; `place` is where its steps compute. Errors: ResourceExhausted;
  /// those of SwapFile::create.
  TierStore(const SwapPlan& plan, const Place& place, const std::string& disk_folder,
            std::shared_ptr<IoEngine> io_engine);
  /// Waits for the copies that a device carries by itself.
  ~TierStore();
  TierStore(const TierStore&) = delete;
  TierStore& operator=(const TierStore&) = delete;

  std::byte* arena() const { return arena_.data(); }
  const Place& place() const { return arena_.device().place(); }
  /// Copies or drops. Those of different buffers may run at the same time, but of those with the
  /// disk only one. Where the device carries copies by itself it begins when all `behind` have
  /// come, and what is given back is the moment when the device has carried it out; without one it
  /// is done. Only copies from and to the disk wait. Errors: those of SwapFile.
  MomentPtr run(const SwapAction& action, std::span<const MomentPtr> behind = {});

  /// Writes bytes [offset, offset + out.size()) of a value to `out`.
  using Fill = std::function<void(int64_t offset, std::span<std::byte> out)>;
  /// Makes the value lie where `at` says. Not beside run().
  void put(BufferId buffer, const SwapResidence& at, const Fill& fill);
  void get(BufferId buffer, const SwapResidence& at, std::span<std::byte> out);
  /// Ends the copies below the device, if there are any.
  void forget(BufferId buffer);

  std::array<int64_t, kNumTiers> peak_bytes() const;

 private:
  size_t nbytes(BufferId buffer) const {
    return static_cast<size_t>(plan_.buffers[static_cast<size_t>(buffer)].nbytes);
  }
  std::span<std::byte> on_host(BufferId buffer) { return {block(buffer).data(), nbytes(buffer)}; }
  HostBlock& block(BufferId buffer) { return blocks_[static_cast<size_t>(buffer)]; }
  SwapFile::Extent& extent(BufferId buffer) { return extents_[static_cast<size_t>(buffer)]; }
  MomentPtr run_beside(const SwapAction& action, std::span<const MomentPtr> behind);
  void run_here(const SwapAction& action);
  // Pieces of values that pass through memory of the host: done when they return.
  void read_arena(int64_t offset, std::span<std::byte> out);
  void write_arena(int64_t offset, std::span<const std::byte> value);
  void take_block(BufferId buffer);
  // Of the copy on the host: one thread may read it for the disk while another lets the device.
  MomentPtr used_until(BufferId buffer);
  void set_used_until(BufferId buffer, const MomentPtr& moment);
  void wait_for_copies_of(BufferId buffer);
  void take_extent(BufferId buffer);
  void end_copy(BufferId buffer, Tier tier);
  void host_to_disk(BufferId buffer);
  void disk_to_host(BufferId buffer);
  // Through the staging memory, half of it at a time.
  void fill_disk(BufferId buffer, Tier from, const Fill& fill);
  using Take = std::function<void(int64_t offset, std::span<const std::byte> piece)>;
  void read_disk(BufferId buffer, Tier to, const Take& take);
  void put_below(BufferId buffer, const SwapResidence& at, const Fill& fill);

  const SwapPlan& plan_;
  PlanArena arena_;
  SideCopies* const beside_;  // null: whoever runs an action carries it
  HostPool host_;
  std::vector<HostBlock> blocks_;  // by buffer; empty: no copy on the host
  std::mutex uses_mutex_;
  std::shared_ptr<SwapFile> file_;         // null without a disk
  std::vector<SwapFile::Extent> extents_;  // by buffer; of 0 bytes: no copy on the disk
  HostBlock staging_;
};

}  // namespace phi::memory
