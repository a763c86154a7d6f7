// ReplayRanks: the ranks that run one program, for what its replays do alike on all of them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "phi/common/place.h"
#include "phi/core/device/launch_record.h"

namespace phi {

namespace distributed {
class World;
}
namespace ir {
class Recording;
}

class ReplayRanks {
 public:
  /// Those that have a part of any value of the program, if this rank is one of several and the
  /// world of arrays of this place writes messages down; else null. The same on all of them.
  static std::unique_ptr<ReplayRanks> of(const ir::Recording& recording, const Place& place);

  /// The least of what they all give: a call of all of them, over the host. Errors: those of every
  /// collective.
  int64_t least(int64_t own) const;
  /// World::record. Errors: its own.
  std::unique_ptr<LaunchRecord> record(const std::function<void()>& body) const;
  /// The world that writes messages down is still that of the beginning. The same on all.
  bool are_connected() const;

 private:
  ReplayRanks(std::vector<int64_t> ranks, const Place& place, uint64_t carrier)
      : ranks_(std::move(ranks)), place_(place), carrier_(carrier) {}

  std::vector<int64_t> ranks_;  // in order
  Place place_;
  uint64_t carrier_;  // World::id
};

}  // namespace phi
