// Writing to descriptors that may be anything: files, pipes, terminals, devices.
#pragma once

#include <string_view>

namespace phi::job {

/// Writes all of it, in as many calls as it takes. Gives 0, or the reason why it could not.
int write_all(int fd, std::string_view text);

/// Closes it. Gives 0, or the reason: some file systems tell here of what they could not write.
int close_checked(int fd);

}  // namespace phi::job
