// Handles partial writes and interrupted system calls.
#include "tools/job/output/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace phi::job {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {  // the descriptor may be non-blocking
      pollfd until_there_is_room{fd, POLLOUT, 0};
      ::poll(&until_there_is_room, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int close_checked(int fd) { return ::close(fd) == 0 || errno == EINTR ? 0 : errno; }

}  // namespace phi::job
