// HostSource: an array in host memory. Only the boxes that are needed are transferred to the
// device, when they are needed.
//
//   std::vector<float> values = read_table();
//   auto source = HostSource::keep(std::move(values), {1024, 512});     // no copy
//   auto storage = Storage::from_source(CPUPlace(), std::move(source));
//
// Its bytes count as host memory of the rank that made it, memory_stats(Tier::kHost), until every
// tensor that may still need them is on the device or destroyed.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "phi/core/dense_tensor.h"

namespace phi {

class HostSource final : public Storage::Source {
 public:
  /// Shares `bytes`: meta.nbytes() bytes, row-major. They must not change during the lifetime of
  /// this object. Errors: InvalidArgument for negative extents.
  HostSource(const TensorMeta& meta, std::shared_ptr<const void> bytes);
  ~HostSource() override;
  HostSource(const HostSource&) = delete;
  HostSource& operator=(const HostSource&) = delete;

  /// Copies meta.nbytes() bytes from `bytes`.
  static std::shared_ptr<const HostSource> copy(const TensorMeta& meta, const void* bytes);
  /// Takes over the vector without a copy. Errors: InvalidArgument if it does not have dims.numel()
  /// elements.
  template <typename T>
  static std::shared_ptr<const HostSource> keep(std::vector<T> values, const Dims& dims) {
    DenseTensor::check_count(values.size(), dims);
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    return std::make_shared<const HostSource>(TensorMeta{dims, dtype_of<T>()},
                                              std::shared_ptr<const void>(owner, owner->data()));
  }

  const TensorMeta& meta() const override { return meta_; }
  void read(const Box& box, DenseTensor* out) const override;
  std::optional<Tier> tier() const override { return Tier::kHost; }
  /// The whole array.
  const void* data() const { return bytes_.get(); }

 private:
  TensorMeta meta_;
  std::shared_ptr<const void> bytes_;
  IntrusivePtr<MemoryAccount> account_;
};

}  // namespace phi
