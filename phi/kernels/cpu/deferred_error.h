// DeferredError: delays an error of one rank until the ranks have combined their counts, so that
// all of them raise it.
#pragma once

#include <cstdint>
#include <exception>

#include "phi/common/errors.h"

namespace phi {

/// The error that this rank found in its own part, if any. A rank that threw at once would leave
/// the other ranks waiting in the collective.
class DeferredError {
 public:
  /// Calls look() and keeps the Error that it throws.
  template <typename Look>
  explicit DeferredError(Look look) {
    try {
      look();
    } catch (const Error&) {
      error_ = std::current_exception();
    }
  }

  /// Returns 1 if this rank has an error, else 0: its contribution to the combined count.
  int64_t count() const { return error_ != nullptr; }

  /// Call this after the ranks have combined their counts. Rethrows this rank's error. If only
  /// another rank has one (`by_any_rank`), calls throw_elsewhere(), which must throw.
  template <typename ThrowElsewhere>
  void raise(bool by_any_rank, ThrowElsewhere throw_elsewhere) const {
    if (error_) std::rethrow_exception(error_);
    if (by_any_rank) throw_elsewhere();
  }

 private:
  std::exception_ptr error_;
};

}  // namespace phi
