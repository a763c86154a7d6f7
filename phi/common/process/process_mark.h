// ProcessMark: remembers which process made it, so that its copy in a child of fork() can tell that
// it is a copy.
//
//   ProcessMark made_in;
//   if (!made_in.is_of_this_process()) return;  // a child: threads and sockets are the parent's
#pragma once

#include <cstdint>

namespace phi {

class ProcessMark {
 public:
  /// Of the calling process.
  ProcessMark();
  /// False from the moment on at which fork() returns in a child of the process that made it.
  bool is_of_this_process() const;

 private:
  uint64_t forks_;
};

}  // namespace phi
