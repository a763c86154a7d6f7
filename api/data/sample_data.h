// SampleData: numbered samples of a training, as batches of inputs and labels.
//
//   const ImageData data({.paths = {"train"}});
//   Tensor images = data.inputs(0, 8), classes = data.labels(0, 8);
//
// A sample depends on its number and on the data, not on the mesh. Tensors are deferred: each rank
// reads the rows of its shards.
#pragma once

#include <cstdint>

#include "api/data/data_summary.h"
#include "api/tensor/tensor.h"

namespace phi::data {

class SampleData {
 public:
  virtual ~SampleData() = default;

  /// The batch of samples first, first + 1, .., counted from 0 over the whole job.
  /// Errors, when they are read: those of the files.
  virtual Tensor inputs(int64_t first, int64_t batch) const = 0;
  virtual Tensor labels(int64_t first, int64_t batch) const = 0;

  virtual DataSummary summary() const = 0;
  /// A hash of names and sizes of the files and of how they are read; ranks compare it.
  virtual uint64_t fingerprint() const = 0;
  /// fingerprint() combined with samples of the files' content. Errors: those of MappedFile.
  virtual uint64_t content_fingerprint() const = 0;
};

}  // namespace phi::data
