// Writes to descriptors of any kind: files, pipes, terminals, devices.
#pragma once

#include <string_view>

namespace phi::job {

/// Writes all of `text`, in as many calls as necessary. Returns 0 or errno.
int write_all(int fd, std::string_view text);

/// Closes the descriptor. Returns 0 or errno: some file systems report failed writes here.
int close_checked(int fd);

}  // namespace phi::job
