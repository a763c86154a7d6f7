// Parts of layouts by the kinds of parallelism, to be put together.
//
//   const nn::Layout layout =
//       nn::data_parallel("dp", 1) + nn::tensor_parallel("tp") + nn::stages("pp", "block*");
//   nn::shard(net, mesh, layout);
//
// Other rows may be added; layout.only_along(mesh) leaves out kinds whose mesh dim a mesh has not.
#pragma once

#include <cstdint>
#include <string>

#include "api/nn/layout/layout.h"

namespace phi::nn {

/// Batches are split by rows along `mesh_dim`, model states as ZeRO's stage says.
Layout data_parallel(const std::string& mesh_dim = "dp", int zero_stage = 0);
/// Each module as it says of itself (Module::add_tensor_parallel): those of this library as Shoeybi
/// et al. 2019, with `sequence_parallel` as Korthikanti et al. 2022.
Layout tensor_parallel(const std::string& mesh_dim = "tp", bool sequence_parallel = false);
/// A pipeline of a Sequential's links that match, `chunks` to each stage.
Layout stages(const std::string& mesh_dim, const std::string& pattern, int64_t chunks = 1);

}  // namespace phi::nn
