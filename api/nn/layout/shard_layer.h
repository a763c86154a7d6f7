// shard_layer: Paddle's word for nn::shard.
//
//   distributed::shard_layer(model, mesh, nn::transformer_layout(model, mesh));
#pragma once

#include "api/nn/layout/shard.h"

namespace phi::distributed {

/// nn::shard(layer, mesh, layout). Where Paddle takes a function that shards each sublayer, a
/// layout says it by names.
inline void shard_layer(nn::Module& layer, const ProcessMesh& mesh, const nn::Layout& layout) {
  nn::shard(layer, mesh, layout);
}

}  // namespace phi::distributed
