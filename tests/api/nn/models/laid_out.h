// A decoder on a mesh whose dims are named dp, pp and tp, as tests want it.
#pragma once

#include <memory>

#include "api/nn/layout/shard.h"
#include "api/nn/models/decoder.h"
#include "distributed/api.h"

namespace phi::nn::models {

inline std::unique_ptr<Decoder> laid_out(const ModelConfig& config,
                                         const distributed::ProcessMesh& mesh,
                                         const TransformerLayoutOptions& split = {},
                                         uint64_t seed = 1, DataType dtype = DataType::FLOAT32) {
  auto model = make(config);
  model->initialise(seed, dtype);
  shard(*model, mesh, transformer_layout(*model, mesh, split));
  return model;
}

/// One process.
inline const distributed::ProcessMesh& one() {
  static const distributed::ProcessMesh mesh({1}, {"dp"});
  return mesh;
}

}  // namespace phi::nn::models
