// Sources of deferred tensors.
#include "api/tensor/deferred.h"

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/infermeta/dtype_range.h"
#include "phi/kernels/random_fill.h"

namespace phi {
namespace {

class InitialiserSource final : public Storage::Source {
 public:
  InitialiserSource(const TensorMeta& meta, BoxInitialiser initialiser)
      : meta_(meta), initialiser_(std::move(initialiser)) {}
  const TensorMeta& meta() const override { return meta_; }
  void read(const Box& box, DenseTensor* out) const override {
    initialiser_({meta_.dims, box}, out);
  }

 private:
  TensorMeta meta_;
  BoxInitialiser initialiser_;
};

}  // namespace

Tensor deferred(const Dims& shape, DataType dtype, BoxInitialiser initialiser) {
  PHI_CHECK(shape.known(),
            errors::InvalidArgument("a deferred tensor needs extents of 0 or more, got {}.",
                                    shape.to_string()));
  const TensorMeta meta{shape, dtype};
  return deferred(std::make_shared<const InitialiserSource>(meta, std::move(initialiser)));
}

Tensor deferred(std::shared_ptr<const Storage::Source> source) {
  const TensorMeta meta = source->meta();
  const bool crosses_now = source->tier() && !deferred_transfer();
  auto storage = Storage::from_source(RankContext::current().place(), std::move(source));
  if (crosses_now) storage->materialise();
  return Tensor(DenseTensor(meta, std::move(storage)));
}

Tensor deferred_gaussian(const Dims& shape, float mean, float std, uint64_t seed, DataType dtype) {
  return deferred(shape, dtype, [=](const ShardBox& part, DenseTensor* out) {
    fill_gaussian(part, mean, std, seed, out);
  });
}

Tensor deferred_uniform(const Dims& shape, double min, double max, uint64_t seed, DataType dtype) {
  return deferred(shape, dtype, [=](const ShardBox& part, DenseTensor* out) {
    fill_uniform(part, min, max, seed, out);
  });
}

Tensor deferred_full(const Dims& shape, const Scalar& value, DataType dtype) {
  check_held(value, dtype, "value");
  return deferred(shape, dtype, [value](const ShardBox&, DenseTensor* out) {
    visit_any_dtype(out->dtype(), [&]<typename T>() {
      T* data = out->mutable_data<T>();
      std::fill(data, data + out->numel(), value.to<T>());
    });
  });
}

}  // namespace phi
