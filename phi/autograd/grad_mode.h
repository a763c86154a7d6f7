// Grad mode: whether operations of the calling thread (one rank) are tracked for a backward pass.
#pragma once

namespace phi::autograd {

inline bool& grad_enabled_flag() {
  thread_local bool enabled = true;
  return enabled;
}
inline bool grad_enabled() { return grad_enabled_flag(); }

/// Sets the grad mode for the lifetime of this object.
class GradMode {
 public:
  explicit GradMode(bool enabled) : outer_(grad_enabled_flag()) { grad_enabled_flag() = enabled; }
  ~GradMode() { grad_enabled_flag() = outer_; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool outer_;
};

}  // namespace phi::autograd
