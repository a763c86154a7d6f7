// ReplayRanks: the ranks that run one program, for the decisions that its replays make jointly.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "phi/common/place.h"
#include "phi/core/device/launch_graph.h"

namespace phi {

namespace ir {
class Recording;
}

class ReplayRanks {
 public:
  /// Returns the ranks that have a part of any value of the program. Null if this rank is not one
  /// of at least two, or if the communicator for arrays of this place cannot capture messages. The
  /// result is the same on all of these ranks.
  static std::unique_ptr<ReplayRanks> of(const ir::Recording& recording, const Place& place);

  /// Returns the minimum of all ranks' arguments. Collective, over the host. Errors: those of every
  /// collective.
  int64_t least(int64_t own) const;
  /// Captures `body` by Communicator::record over these ranks. Errors: those of
  /// Communicator::record.
  std::unique_ptr<LaunchGraph> record(const std::function<void()>& body) const;
  /// Whether the device communicator is still that of the construction. Same result on all ranks.
  bool are_connected() const;

 private:
  ReplayRanks(std::vector<int64_t> ranks, const Place& place, uint64_t device_communicator)
      : ranks_(std::move(ranks)), place_(place), device_communicator_(device_communicator) {}

  std::vector<int64_t> ranks_;  // in order
  Place place_;
  uint64_t device_communicator_;  // Communicator::id
};

}  // namespace phi
