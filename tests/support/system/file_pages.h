// Which bytes of a file anybody has read: a page of a sparse file comes into memory when it is
// read, through a call or through a mapping, and not before. (A file that was written has its pages
// there.)
//
//   make_sparse(path, int64_t{1} << 40);
//   read_shard(path);
//   EXPECT_LT(bytes_in_memory(path, 0, int64_t{1} << 40), 70 << 20);
#pragma once

#include <cstdint>
#include <string>

namespace phi::testing {

/// Makes the file, or makes it longer, without writing to it: its bytes are zeros.
void make_sparse(const std::string& path, int64_t size);

/// Bytes of whole pages in [begin, end) that are in memory. `begin`: a multiple of 4096.
int64_t bytes_in_memory(const std::string& path, int64_t begin, int64_t end);

}  // namespace phi::testing
