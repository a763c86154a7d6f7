// What the targets share: an input as a text or as a file, and which errors are answers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "phi/common/errors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace phi::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

struct NoOther {};

/// Runs `parse`. An Error, or `Other` that the parser's header names, is an answer; all else ends
/// the process, and the fuzzer keeps the input.
template <typename Other = NoOther, typename F>
void expect_result_or_error(const F& parse) {
  try {
    parse();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();  // a fault of ours
  } catch (const Other&) {
  }
}

/// A file with these bytes that nobody else sees, while it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0 || write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace phi::fuzz
