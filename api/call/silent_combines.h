// SilentCombines: suppresses messages of kernels, so that one rank can run the kernels of several
// ranks and compare everything but their messages (api/capture/replay.h).
#pragma once

namespace phi {

/// During its lifetime, LaunchView::combine_over on the calling thread leaves the values unchanged
/// and sends no message.
class SilentCombines {
 public:
  SilentCombines() : outer_(lives_) { lives_ = true; }
  ~SilentCombines() { lives_ = outer_; }
  SilentCombines(const SilentCombines&) = delete;
  SilentCombines& operator=(const SilentCombines&) = delete;

  static bool lives() { return lives_; }

 private:
  const bool outer_;
  static inline thread_local bool lives_ = false;
};

}  // namespace phi
