// MoveRun: one step that moves boxes, on one rank: started, and finished when its messages are
// done.
#pragma once

#include <memory>
#include <vector>

#include "distributed/comm/transfer.h"
#include "distributed/reshard/schedule.h"
#include "distributed/reshard/staging.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed {

/// Holds all that its messages read and write, so that the transfer keeps a run.
class MoveRun {
 public:
  /// Step number `step` of a schedule of `world`, from `in`; `global` is the whole tensor's meta.
  /// What this rank gets is put into `out` where that is defined.
  MoveRun(World& world, std::shared_ptr<const Schedule> schedule, size_t step,
          const DenseTensor& in, const TensorMeta& global, const Place& place,
          const DenseTensor& out);

  /// Puts the messages under way. A step that is exactly one collective is run to its end.
  static Transfer start(const std::shared_ptr<MoveRun>& run);
  /// What this rank has after the step, when the transfer is done. Undefined where it gets nothing.
  DenseTensor finish();

 private:
  bool passes_through() const;
  void open(bool only_sends);
  std::vector<Send> packed_sends();
  const void* piece_of_input(const Leg& leg);
  std::vector<Recv> landing_places();
  void* landing_place(const Leg& leg, bool reduces);
  void unpack();
  void reduce();
  /// Those that have been found, at once.
  void copy_boxes();

  World& world_;
  Device& device_;  // where its messages lie
  const std::shared_ptr<const Schedule> whole_;
  const MoveSchedule& schedule_;
  const ReshardStep& step_;
  const DenseTensor in_;
  const size_t width_;
  const bool dry_;  // messages are counted, and nothing is packed or placed
  DenseTensor out_;
  // Where messages read and write, and own boxes are taken from and put.
  ArrayAt from_;
  ArrayAt to_;
  Staging staging_;
  std::vector<BoxCopy> copies_;
  // Where the i-th box will be: in the output, in the staging memory, or (one of this rank's own)
  // in the input; null for an own box that is copied.
  std::vector<const void*> arrived_;
};

}  // namespace phi::distributed
