// Layouts for single kinds of parallelism.
#include "api/nn/layout/parallelism.h"

namespace phi::nn {

Layout data_parallel(const std::string& mesh_dim, int zero_stage) {
  return Layout().batches({{mesh_dim, distributed::Shard(0)}}).zero(zero_stage, mesh_dim);
}

Layout tensor_parallel(const std::string& mesh_dim, bool sequence_parallel) {
  return Layout().tensor_parallel(mesh_dim, sequence_parallel);
}

Layout stages(const std::string& mesh_dim, const std::string& pattern, int64_t chunks,
              const std::vector<int64_t>& cut) {
  return Layout().pipeline(mesh_dim, pattern, chunks, cut);
}

}  // namespace phi::nn
