// BoxExchangeRun: one step of a reshard that moves boxes, on one rank. `start` posts its messages,
// `finish` completes the step.
#pragma once

#include <memory>
#include <vector>

#include "distributed/comm/transfer.h"
#include "distributed/reshard/rank_schedule.h"
#include "distributed/reshard/staging_buffer.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed {

/// Owns all arrays that its messages read and write, so the transfer keeps the run alive.
class BoxExchangeRun {
 public:
  /// Step number `step` of `schedule`, from `in`; `global` is the metadata of the whole tensor.
  /// This rank's result is stored in `out` if that is defined.
  BoxExchangeRun(Communicator& communicator, std::shared_ptr<const RankSchedule> schedule,
                 size_t step, const DenseTensor& in, const TensorMeta& global, const Place& place,
                 const DenseTensor& out);

  /// Posts the messages. A step that is exactly one collective runs to completion.
  static Transfer start(const std::shared_ptr<BoxExchangeRun>& run);
  /// Returns this rank's part after the step; call it when the transfer is done. Undefined on a
  /// rank that receives nothing.
  DenseTensor finish();

 private:
  bool passes_through() const;
  void open(bool only_sends);
  std::vector<Send> packed_sends();
  const void* piece_of_input(const BoxMessage& message);
  std::vector<Recv> recv_buffers();
  void* recv_buffer(const BoxMessage& message, bool reduces);
  void unpack();
  void reduce();
  /// Runs all copies in copies_ as one call.
  void copy_boxes();

  Communicator& communicator_;
  Device& device_;  // the device of the messages' arrays
  const std::shared_ptr<const RankSchedule> whole_;
  const StepSchedule& schedule_;
  const ReshardStep& step_;
  const DenseTensor in_;
  const size_t width_;
  const bool dry_;  // messages are counted; nothing is packed or stored
  DenseTensor out_;
  // Arrays that messages read and write, and from and to which this rank's own boxes are copied.
  ArrayAt from_;
  ArrayAt to_;
  StagingBuffer staging_;
  std::vector<BoxCopy> copies_;
  // Where box i is after the messages: in the output, in the staging memory, or, for one of this
  // rank's own boxes, in the input. Null for an own box that is copied.
  std::vector<const void*> arrived_;
};

}  // namespace phi::distributed
