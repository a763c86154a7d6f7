// SuppressCombines: suppresses messages of kernels, so that one rank can run the kernels of several
// ranks and compare everything but their messages (api/capture/execution/replay.h).
#pragma once

namespace phi {

/// During its lifetime, LaunchView::combine_over on the calling thread leaves the values unchanged
/// and sends no message.
class SuppressCombines {
 public:
  SuppressCombines() : outer_(active_) { active_ = true; }
  ~SuppressCombines() { active_ = outer_; }
  SuppressCombines(const SuppressCombines&) = delete;
  SuppressCombines& operator=(const SuppressCombines&) = delete;

  static bool is_active() { return active_; }

 private:
  const bool outer_;
  static inline thread_local bool active_ = false;
};

}  // namespace phi
