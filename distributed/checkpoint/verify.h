// Checks that a checkpoint on disk is complete and unchanged since the save.
//
//   const Verification found = verify("ckpt");
//   for (const std::string& fault : found.faults) std::puts(fault.c_str());   // block by block
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::distributed::checkpoint {

struct Verification {
  std::vector<std::string> faults;       // each names the file, and the tensor and block
  int64_t tensors = 0;                   // number checked
  std::vector<std::string> unprotected;  // tensors without checksums: only their headers are
                                         // checked
  int64_t bytes = 0;                     // read and compared
};

/// Reads all bytes, or share `part` of `parts` if ranks verify together. `path` is that of open().
/// It does not throw for anything on disk: what cannot be read is a fault.
Verification verify(const std::string& path, int64_t part = 0, int64_t parts = 1);

}  // namespace phi::distributed::checkpoint
