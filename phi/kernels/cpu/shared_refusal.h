// An error of one rank's part, where the ranks wait for each other: all of them refuse.
#pragma once

#include <cstdint>
#include <exception>

#include "phi/common/errors.h"

namespace phi {

/// What the look at a rank's own part found wrong. It is kept until the ranks have combined their
/// counts, as one that threw before would let the others wait.
class SharedRefusal {
 public:
  /// Calls look(), which throws an Error where something is wrong.
  template <typename Look>
  explicit SharedRefusal(Look look) {
    try {
      look();
    } catch (const Error&) {
      error_ = std::current_exception();
    }
  }

  /// 1 or 0: this rank's share of what the ranks combine.
  int64_t count() const { return error_ != nullptr; }

  /// After that: the own error, or where only another rank has one throw_elsewhere(), which must
  /// throw.
  template <typename ThrowElsewhere>
  void raise(bool by_any_rank, ThrowElsewhere throw_elsewhere) const {
    if (error_) std::rethrow_exception(error_);
    if (by_any_rank) throw_elsewhere();
  }

 private:
  std::exception_ptr error_;
};

}  // namespace phi
