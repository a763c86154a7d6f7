// nn::shard: lays a model out on a mesh, as Paddle's shard_layer and PyTorch's parallelize_module.
//
//   Gpt model({.d_model = 512});
//   nn::shard(model, mesh, nn::transformer_layout(model, mesh, {.zero_stage = 1}));
#pragma once

#include <functional>
#include <string>

#include "api/nn/layout/layout.h"

namespace phi::nn {

/// Lays parameters, buffers and activations of a whole model out: bytes of deferred parameters
/// appear for this rank's shards only, others are resharded. With a pipeline the model is a
/// Sequential; a module is then on the mesh of its stage, a slice of `mesh`.
///
/// Ranks   Every rank of the job calls it.
/// Errors  InvalidArgument for a mesh dim that the mesh has not, for a placement that a parameter
///         cannot have (Shard(d) of a tensor without d, Partial), for fewer links than chunks, for
///         a pipeline of a model that is no Sequential; NotFound, with the nearest names, for a row
///         that meets nothing. Nothing is changed then.
void shard(Module& model, const distributed::ProcessMesh& mesh, const Layout& layout);

/// What a model is laid out by, after shard().
struct Sharding {
  distributed::ProcessMesh mesh;
  Layout::Zero zero;
  const distributed::TensorDistAttr* inputs;   // of the model's ids, on the first stage
  const distributed::TensorDistAttr* outputs;  // of labels, on the last
};

/// How a supplied layout splits a model of transformer blocks.
struct TransformerSplit {
  std::string dp = "dp";  // batches; ZeRO's states
  std::string tp = "tp";  // products, tables and heads
  std::string pp = "pp";  // the links that match `blocks`
  bool sequence_parallel = false;
  int zero_stage = 0;
  int64_t chunks = 1;
  std::string blocks = "layer*";
};

/// The layout of a model made of this library's layers, for those of the mesh dims that `mesh` has:
/// tensor parallelism as Shoeybi et al. 2019 (each layer says how it is split:
/// Module::add_tensor_parallel), sequence parallelism as Korthikanti et al. 2022. Other rows may be
/// added to it.
Layout transformer_layout(const Module& model, const distributed::ProcessMesh& mesh,
                          const TransformerSplit& split = {});

}  // namespace phi::nn
