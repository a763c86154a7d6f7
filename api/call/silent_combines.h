// SilentCombines: kernels are run for what else they do, as their messages are
// (api/capture/replay).
#pragma once

namespace phi {

/// While it lives, what kernels of the calling thread ask to be combined over ranks stays as it is,
/// and no message leaves.
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
