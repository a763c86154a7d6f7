// shard_layer: Paddle's name for nn::shard.
//
//   distributed::shard_layer(model, mesh, nn::transformer_layout(model, mesh));
#pragma once

#include "api/nn/layout/shard.h"

namespace phi::distributed {

/// Calls nn::shard(layer, mesh, layout). Paddle accepts a function that shards each sublayer
/// instead of a layout.
inline void shard_layer(nn::Module& layer, const ProcessMesh& mesh, const nn::Layout& layout) {
  nn::shard(layer, mesh, layout);
}

}  // namespace phi::distributed
