// CommAnnotation: annotates the calls of a thread with the tensor that they communicate, for
// messages to other ranks and for reports.
//
//   const CommAnnotation about(x.meta().dims, x.meta().dtype);
//   group.exchange(sends, recvs);   // "exchange #7 of group {0,1} (f32[64,32], 4096 bytes, ..)"
#pragma once

#include <cstdint>

#include "phi/common/dims.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

/// During its lifetime the calling thread's calls are annotated with a tensor of this global shape.
/// Every member of their groups must use the same annotation. The shape must outlive the scope.
class CommAnnotation {
 public:
  /// `number` distinguishes tensors of the same shape and dtype; it is the same on every member. 0
  /// inherits the number of the enclosing scope.
  CommAnnotation(const Dims& shape, DataType dtype, uint64_t number = 0)
      : shape_(&shape),
        dtype_(dtype),
        number_(number != 0 || current_ == nullptr ? number : current_->number_),
        outer_(current_) {
    current_ = this;
  }
  ~CommAnnotation() { current_ = outer_; }
  CommAnnotation(const CommAnnotation&) = delete;
  CommAnnotation& operator=(const CommAnnotation&) = delete;

  const Dims& shape() const { return *shape_; }
  DataType dtype() const { return dtype_; }
  uint64_t number() const { return number_; }
  /// The innermost scope of this thread, or null.
  static const CommAnnotation* current() { return current_; }

 private:
  const Dims* shape_;
  DataType dtype_;
  uint64_t number_;
  const CommAnnotation* outer_;
  static inline thread_local const CommAnnotation* current_ = nullptr;
};

}  // namespace phi::distributed
