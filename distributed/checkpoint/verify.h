// Whether all of a checkpoint is on the disk as it was saved.
//
//   const Verification found = verify("ckpt");
//   if (!found.faults.empty()) ...                  // one line for each damaged block or file
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::distributed::checkpoint {

struct Verification {
  std::vector<std::string> faults;       // each names the file, and the tensor and block
  int64_t tensors = 0;                   // looked at
  std::vector<std::string> unprotected;  // tensors without checksums: only their headers were read
  int64_t bytes = 0;                     // that were read and compared
};

/// Reads all bytes, or the `part`-th of `parts` shares of the work (ranks that verify together).
/// `path`: as open(). It never throws for what is on the disk: what cannot be read is a fault.
Verification verify(const std::string& path, int64_t part = 0, int64_t parts = 1);

}  // namespace phi::distributed::checkpoint
