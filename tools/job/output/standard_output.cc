// A stream buffer over descriptor 1.
#include "tools/job/output/standard_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "tools/job/output/write_all.h"

namespace phi::job {

StandardOutput::StandardOutput() {
  std::cout.flush();
  outer_ = std::cout.rdbuf(this);
}

StandardOutput::~StandardOutput() {
  std::cout.flush();
  std::cout.rdbuf(outer_);
}

std::string StandardOutput::fault() const {
  if (reason_ == 0 || reason_ == EPIPE) return "";
  return fmt::format("cannot write to standard output: {}.", std::strerror(reason_));
}

StandardOutput::int_type StandardOutput::overflow(int_type byte) {
  const char character = traits_type::to_char_type(byte);
  return xsputn(&character, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize StandardOutput::xsputn(const char* bytes, std::streamsize count) {
  if (reason_ != 0) return 0;
  waiting_.append(bytes, static_cast<size_t>(count));
  return count;
}

// Reports failure to std::cout, whose state then stops further output.
int StandardOutput::sync() {
  if (reason_ == 0) reason_ = write_all(STDOUT_FILENO, waiting_);
  waiting_.clear();
  if (reason_ == 0) return 0;
  if (std::cout.good()) {
    const char* words = reason_ == EPIPE ? "its reader has closed it" : std::strerror(reason_);
    fmt::print(stderr, "autophi run: standard output: {}; no more output is printed.\n", words);
  }
  return -1;
}

void prepare_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() returns the lowest free descriptor.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDWR);
  }
  signal(SIGXFSZ, SIG_IGN);
}

void ignore_sigpipe() { signal(SIGPIPE, SIG_IGN); }

}  // namespace phi::job
