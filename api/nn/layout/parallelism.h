// Layouts for each kind of parallelism, to be added to one layout.
//
//   const nn::Layout layout =
//       nn::data_parallel("dp", 1) + nn::tensor_parallel("tp") + nn::stages("pp", "block*");
//   nn::shard(net, mesh, layout);
//
// You may add other rows. layout.only_along(mesh) drops the kinds whose mesh dim the mesh lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/nn/layout/layout.h"

namespace phi::nn {

/// Splits batches by rows along `mesh_dim`, and model states by ZeRO stage.
Layout data_parallel(const std::string& mesh_dim = "dp", int zero_stage = 0);
/// Splits each module by its Module::add_tensor_parallel. The modules of this library follow
/// Shoeybi et al. 2019, and with `sequence_parallel` Korthikanti et al. 2022.
Layout tensor_parallel(const std::string& mesh_dim = "tp", bool sequence_parallel = false);
/// A pipeline over the links of a Sequential that match, with `chunks` chunks per stage. `cut`: the
/// number of links of each chunk, in the order of the model; empty: evenly.
Layout stages(const std::string& mesh_dim, const std::string& pattern, int64_t chunks = 1,
              const std::vector<int64_t>& cut = {});

}  // namespace phi::nn
