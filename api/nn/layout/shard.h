// nn::shard: shards a model over a mesh, like Paddle's shard_layer and PyTorch's
// parallelize_module.
//
//   Gpt model({.d_model = 512});
//   nn::shard(model, mesh, nn::transformer_layout(model, mesh, {.zero_stage = 1}));
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/nn/layout/layout.h"

namespace phi::nn {

/// Shards parameters, buffers and activations of a model. Deferred parameters are materialised as
/// this rank's shards only; others are resharded. With a pipeline, the model must be a Sequential,
/// and each module is on the mesh of its stage, a slice of `mesh`.
///
/// Ranks   Every rank of the job calls it.
/// Errors  InvalidArgument for a mesh dim that the mesh lacks, a placement that a parameter or a
///         cache cannot have (Shard(d) of a tensor without dim d, Partial), fewer links than
///         chunks, a cut that does not fit them, or a pipeline of a model that is not a Sequential;
///         NotFound, with the nearest names, for a row that matches nothing. Nothing is changed
///         then.
void shard(Module& model, const distributed::ProcessMesh& mesh, const Layout& layout);

/// The result of shard().
struct Sharding {
  distributed::ProcessMesh mesh;
  Layout::Zero zero;
  const distributed::TensorDistAttr* inputs;   // of the model's ids, on the first stage
  const distributed::TensorDistAttr* outputs;  // of labels, on the last
};

/// Options of transformer_layout().
struct TransformerLayoutOptions {
  std::string dp = "dp";  // batches; ZeRO's states
  std::string tp = "tp";  // matmuls, tables and heads
  std::string pp = "pp";  // the links that match `blocks`
  bool sequence_parallel = false;
  int zero_stage = 0;
  int64_t chunks = 1;
  std::vector<int64_t> cut = {};  // links of each chunk; empty: evenly
  std::string blocks = "layer*";
};

/// A layout for models made of this library's layers, along those of the mesh dims that `mesh` has:
/// tensor parallelism by Shoeybi et al. 2019 (each layer defines its split in
/// Module::add_tensor_parallel), sequence parallelism by Korthikanti et al. 2022. You may add rows.
Layout transformer_layout(const Module& model, const distributed::ProcessMesh& mesh,
                          const TransformerLayoutOptions& split = {});

}  // namespace phi::nn
