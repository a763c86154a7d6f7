// What the calls of a thread are about, for their messages to others and for reports: the shape of
// a tensor and its dtype, as far as who makes the calls knows them.
//
//   const SubjectScope about(x.meta().dims, x.meta().dtype);
//   group.exchange(sends, recvs);   // "exchange #7 of group {0,1} (f32[64,32], 4096 bytes, ..)"
#pragma once

#include <cstdint>

#include "phi/common/dims.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

/// While it lives, the calling thread's calls are about a tensor of this global shape, which every
/// member of their groups must give alike. What is given must live as long.
class SubjectScope {
 public:
  /// `number`: which tensor it is, among those that shape and dtype do not tell apart; alike on
  /// every member. 0: that of the scope around this one.
  SubjectScope(const Dims& shape, DataType dtype, uint64_t number = 0)
      : shape_(&shape),
        dtype_(dtype),
        number_(number != 0 || current_ == nullptr ? number : current_->number_),
        outer_(current_) {
    current_ = this;
  }
  ~SubjectScope() { current_ = outer_; }
  SubjectScope(const SubjectScope&) = delete;
  SubjectScope& operator=(const SubjectScope&) = delete;

  const Dims& shape() const { return *shape_; }
  DataType dtype() const { return dtype_; }
  uint64_t number() const { return number_; }
  /// The innermost one of this thread, or null.
  static const SubjectScope* current() { return current_; }

 private:
  const Dims* shape_;
  DataType dtype_;
  uint64_t number_;
  const SubjectScope* outer_;
  static inline thread_local const SubjectScope* current_ = nullptr;
};

}  // namespace phi::distributed
