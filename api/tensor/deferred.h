// Deferred tensors: tensors with an initialiser or a data source instead of bytes. The first use
// materialises all bytes. shard_tensor materialises this rank's part only, so the unsharded value
// is never on the device. Tensor::from makes deferred tensors of the user's arrays.
//
//   Tensor w = shard_tensor(deferred_gaussian({1024, 4096}, 0.0f, 0.02f, 7), mesh, {Shard(1)});
#pragma once

#include <functional>
#include <memory>

#include "api/tensor/tensor.h"

namespace phi {

/// Fills `out`, the array of `part` of the whole tensor. Its values must depend on global indices
/// only, so that every sharding contains parts of the same value.
using BoxInitialiser = std::function<void(const ShardBox& part, DenseTensor* out)>;

/// Returns a tensor of global shape `shape` that is initialised at first use; 0 bytes until then.
/// Errors: InvalidArgument for negative extents.
Tensor deferred(const Dims& shape, DataType dtype, BoxInitialiser initialiser);

/// Returns a tensor that reads `source` (a checkpoint's tensor, for example) at first use. If
/// deferred_transfer() is off, a source that is stored on a tier is read in this call, whole.
Tensor deferred(std::shared_ptr<const Storage::Source> source);

/// Normal values keyed by (seed, global element index). The bits equal those of phi::gaussian with
/// this seed.
Tensor deferred_gaussian(const Dims& shape, float mean, float std, uint64_t seed,
                         DataType dtype = DataType::FLOAT32);
/// Uniform values in [min, max). The bits equal those of phi::uniform with this seed.
Tensor deferred_uniform(const Dims& shape, double min, double max, uint64_t seed,
                        DataType dtype = DataType::FLOAT32);
/// Every element is `value`. Errors: InvalidArgument if the dtype cannot represent it.
Tensor deferred_full(const Dims& shape, const Scalar& value, DataType dtype = DataType::FLOAT32);

}  // namespace phi
