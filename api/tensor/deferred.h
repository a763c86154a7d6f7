// Deferred tensors: an initialiser, or where data lies, instead of bytes. First use, or
// shard_tensor, brings the bytes, and shard_tensor this rank's part only: the unsharded value is
// never on the device. Tensor::from makes them of the user's arrays.
//
//   Tensor w = shard_tensor(deferred_gaussian({1024, 4096}, 0.0f, 0.02f, 7), mesh, {Shard(1)});
#pragma once

#include <functional>
#include <memory>

#include "api/tensor/tensor.h"

namespace phi {

/// Fills `out`, the array of the given part of the whole tensor. Must depend on global indices
/// alone, so that every sharding sees parts of one value.
using BoxInitialiser = std::function<void(const ShardBox& part, DenseTensor* out)>;

/// shape: global; 0 bytes until used. Errors: InvalidArgument for negative extents.
Tensor deferred(const Dims& shape, DataType dtype, BoxInitialiser initialiser);

/// What the source gives (a checkpoint's tensor, say), read when it is used. Data that lies on a
/// tier is read here, whole, without deferred_transfer().
Tensor deferred(std::shared_ptr<const Storage::Source> source);

/// Normal values keyed by (seed, global element index): the bits of phi::gaussian with this seed.
Tensor deferred_gaussian(const Dims& shape, float mean, float std, uint64_t seed,
                         DataType dtype = DataType::FLOAT32);
/// Values in [min, max), the bits of phi::uniform with this seed.
Tensor deferred_uniform(const Dims& shape, double min, double max, uint64_t seed,
                        DataType dtype = DataType::FLOAT32);
Tensor deferred_full(const Dims& shape, const Scalar& value, DataType dtype = DataType::FLOAT32);

}  // namespace phi
