// Batches as deferred tensors of a source that has no bytes.
#include "api/data/absent_samples.h"

#include <memory>
#include <utility>

#include "api/tensor/deferred.h"
#include "phi/common/errors.h"

namespace phi::data {
namespace {

class AbsentSource final : public Storage::Source {
 public:
  AbsentSource(TensorMeta meta, std::string reason)
      : meta_(std::move(meta)), reason_(std::move(reason)) {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  void read(const Box&, DenseTensor*) const override {
    throw errors::Unavailable("the data cannot be read: {}", reason_);
  }

 private:
  TensorMeta meta_;
  std::string reason_;
};

Tensor batch_of(TensorMeta sample, int64_t batch, const std::string& reason) {
  std::vector<int64_t> extents = {batch};
  for (const int64_t extent : sample.dims) extents.push_back(extent);
  sample.dims = Dims(extents);
  return deferred(std::make_shared<const AbsentSource>(std::move(sample), reason));
}

}  // namespace

AbsentSamples::AbsentSamples(TensorMeta input, TensorMeta label, std::string reason)
    : input_(std::move(input)), label_(std::move(label)), reason_(std::move(reason)) {}

Tensor AbsentSamples::inputs(int64_t, int64_t batch) const {
  return batch_of(input_, batch, reason_);
}
Tensor AbsentSamples::labels(int64_t, int64_t batch) const {
  return batch_of(label_, batch, reason_);
}

}  // namespace phi::data
