// AbsentSamples: stands for the data of a dry run whose files are not here. Its batches have shapes
// and dtypes; reading their elements is an error.
//
//   const AbsentSamples data({{512}, DataType::INT64}, {{512, 1}, DataType::INT64}, "no corpus");
#pragma once

#include <string>

#include "api/data/sample_data.h"
#include "phi/core/meta.h"

namespace phi::data {

class AbsentSamples final : public SampleData {
 public:
  /// `input` and `label` are those of one sample; `reason` is in the error of reading.
  AbsentSamples(TensorMeta input, TensorMeta label, std::string reason);

  /// Errors when they are read: Unavailable with the reason.
  Tensor inputs(int64_t first, int64_t batch) const override;
  Tensor labels(int64_t first, int64_t batch) const override;

  DataSummary summary() const override { return {}; }
  uint64_t fingerprint() const override { return 0; }
  uint64_t content_fingerprint() const override { return 0; }

 private:
  TensorMeta input_;
  TensorMeta label_;
  std::string reason_;
};

}  // namespace phi::data
