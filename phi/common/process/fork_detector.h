// ForkDetector: identifies the process that constructed it. A copy in a child of fork() detects
// that it is in another process.
//
//   ForkDetector made_in;
//   if (!made_in.is_of_this_process()) return;  // a child: threads and sockets are the parent's
#pragma once

#include <cstdint>

namespace phi {

class ForkDetector {
 public:
  /// Marks the calling process. Errors: ResourceExhausted if the system has no memory for a fork
  /// handler.
  ForkDetector();
  /// Returns false in a forked child of the process that constructed the mark, from the return of
  /// fork() on.
  bool is_of_this_process() const;

 private:
  uint64_t forks_;
};

}  // namespace phi
