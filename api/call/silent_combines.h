// SilentCombines: kernels of several ranks run on one alone, to see what else they do than send and
// receive (api/capture/replay.h).
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
