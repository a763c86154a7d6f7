// The collective part of a save: the preparation, the progress of all ranks, and the reaction to a
// failed rank. It implements PendingSave (save.h), which documents the calls.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distributed/checkpoint/save.h"
#include "distributed/checkpoint/saving/save_attempt.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {

class CollectiveSave {
 public:
  enum class Mode { kForeground, kBackground };
  CollectiveSave(const std::string& folder, std::span<const NamedTensor> tensors,
                 const SaveOptions& options, Mode mode);

  bool done() const;
  bool poll();
  void wait();
  const std::string& folder() const { return folder_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Progress;

  void prepare(std::span<const NamedTensor> tensors);
  bool take_snapshot();
  void prepare_folder();
  void check_consistency(std::span<const NamedTensor> tensors);
  void start();
  std::vector<Progress> gather();
  void fail(const std::vector<Progress>& all);
  void go_to_fallback(const Error& fault);
  std::string describe(const std::vector<Progress>& all) const;

  World& world_;
  std::string folder_;
  SaveOptions options_;
  std::shared_ptr<SaveWork> work_;
  bool any_streams_ = false;  // whether a rank has no copy of its values
  SaveTarget target_;
  std::optional<SaveAttempt> attempt_;  // until it has ended
  Clock::time_point began_;
  Clock::time_point logged_;
};

}  // namespace phi::distributed::checkpoint
