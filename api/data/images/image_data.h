// ImageData: shuffled images and their classes as samples.
//
//   const ImageData data({.paths = {"train"}, .classes = 10});
//   Tensor images = shard_tensor(data.inputs(0, 8), mesh, {Shard(0)});   // decodes own rows only
#pragma once

#include <memory>

#include "api/data/images/epoch_order.h"
#include "api/data/images/image_files.h"
#include "api/data/sample_data.h"

namespace phi::data {

class ImageData final : public SampleData {
 public:
  /// Errors: as ImageFiles::open; InvalidArgument for options that describe no tensor.
  explicit ImageData(const ImageOptions& options);

  /// [batch, channels, image_size, image_size] of the options' dtype.
  Tensor inputs(int64_t first, int64_t batch) const override;
  /// int64 [batch, 1]
  Tensor labels(int64_t first, int64_t batch) const override;

  DataSummary summary() const override;
  uint64_t fingerprint() const override { return files_->fingerprint(); }
  /// Hashes samples of at most 512 files, which are evenly distributed over all of them.
  uint64_t content_fingerprint() const override;
  const ImageFiles& files() const { return *files_; }

 private:
  class PixelSource;
  class LabelSource;

  ImageOptions options_;
  std::shared_ptr<const ImageFiles> files_;
  std::shared_ptr<const EpochOrder> order_;
};

}  // namespace phi::data
