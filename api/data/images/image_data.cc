// Batches of images as sources of deferred tensors.
#include "api/data/images/image_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "api/data/images/resize_image.h"
#include "api/tensor/deferred.h"
#include "phi/common/errors.h"
#include "phi/common/sampled_hash.h"
#include "phi/common/split_mix.h"

namespace phi::data {
namespace {

constexpr double kLargest = 255.0;
constexpr size_t kHashedFiles = 512;  // of which ranks compare samples

double of_channel(const std::vector<double>& values, int64_t channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void check_numbers(const char* name, const std::vector<double>& values, int64_t channels) {
  PHI_CHECK(values.size() == 1 || std::ssize(values) == channels,
            errors::InvalidArgument("{} is [{}]; it must be one number, or one for each of {} "
                                    "channels.",
                                    name, fmt::join(values, ", "), channels));
}

void check_options(const ImageOptions& options) {
  PHI_CHECK(options.channels == 1 || options.channels == 3,
            errors::InvalidArgument("images have 1 channel (luma) or 3 (red, green, blue), not {}.",
                                    options.channels));
  PHI_CHECK(options.image_size >= 1,
            errors::InvalidArgument("image_size is {}; use 1 or more.", options.image_size));
  check_numbers("mean", options.mean, options.channels);
  check_numbers("std", options.std, options.channels);
  PHI_CHECK(std::ranges::all_of(options.std, [](double value) { return value > 0.0; }),
            errors::InvalidArgument("std is [{}]; it must be more than 0.",
                                    fmt::join(options.std, ", ")));
}

// The value of a pixel's channel, 0 to 255. Luma is that of ITU-R 601.
double value_of(const uint8_t* pixel, int64_t channels, int64_t channel) {
  if (channels == Image::kChannels) return pixel[channel];
  return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

}  // namespace

// Reads and decodes images row by row of the batch.
class ImageData::PixelSource final : public Storage::Source {
 public:
  PixelSource(const ImageData& data, int64_t first, int64_t batch)
      : options_(data.options_), files_(data.files_), order_(data.order_), first_(first) {
    const int64_t size = options_.image_size;
    meta_ = {Dims{batch, options_.channels, size, size}, options_.dtype};
  }

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override {
    int64_t bytes = 0;
    for (int64_t row = 0; row < box.size[0]; ++row) {
      bytes += files_->stored_bytes(order_->sample_at(first_ + box.offset[0] + row));
    }
    return bytes;
  }

  void read(const Box& box, DenseTensor* out) const override {
    switch (options_.dtype) {
      case DataType::BFLOAT16:
        return write(box, out->mutable_data<bfloat16>());
      case DataType::FLOAT16:
        return write(box, out->mutable_data<float16>());
      default:
        return write(box, out->mutable_data<float>());
    }
  }

 private:
  template <typename T>
  void write(const Box& box, T* to) const {
    for (int64_t row = 0; row < box.size[0]; ++row) {
      const int64_t index = order_->sample_at(first_ + box.offset[0] + row);
      const Image image = resize_and_crop(files_->read(index), options_.image_size);
      for (int64_t c = box.offset[1]; c < box.offset[1] + box.size[1]; ++c) {
        to = write_channel(image, box, c, to);
      }
    }
  }

  template <typename T>
  T* write_channel(const Image& image, const Box& box, int64_t channel, T* to) const {
    const double mean = of_channel(options_.mean, channel);
    const double std = of_channel(options_.std, channel);
    for (int64_t y = box.offset[2]; y < box.offset[2] + box.size[2]; ++y) {
      const uint8_t* pixel = image.pixels.data() + y * image.row_bytes();
      for (int64_t x = box.offset[3]; x < box.offset[3] + box.size[3]; ++x) {
        const double value = value_of(pixel + x * Image::kChannels, options_.channels, channel);
        *to++ = static_cast<T>(static_cast<float>((value / kLargest - mean) / std));
      }
    }
    return to;
  }

  const ImageOptions options_;
  const std::shared_ptr<const ImageFiles> files_;
  const std::shared_ptr<const EpochOrder> order_;
  const int64_t first_;
  TensorMeta meta_;
};

class ImageData::LabelSource final : public Storage::Source {
 public:
  LabelSource(const ImageData& data, int64_t first, int64_t batch)
      : files_(data.files_),
        order_(data.order_),
        first_(first),
        meta_{Dims{batch, 1}, DataType::INT64} {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override { return box.numel(); }
  void read(const Box& box, DenseTensor* out) const override {
    int64_t* to = out->mutable_data<int64_t>();
    if (box.size[1] == 0) return;
    for (int64_t row = 0; row < box.size[0]; ++row) {
      *to++ = files_->label(order_->sample_at(first_ + box.offset[0] + row));
    }
  }

 private:
  const std::shared_ptr<const ImageFiles> files_;
  const std::shared_ptr<const EpochOrder> order_;
  const int64_t first_;
  const TensorMeta meta_;
};

ImageData::ImageData(const ImageOptions& options) : options_(options) {
  check_options(options);
  files_ = ImageFiles::open(options);
  order_ = std::make_shared<const EpochOrder>(files_->count(), options.seed);
}

Tensor ImageData::inputs(int64_t first, int64_t batch) const {
  return deferred(std::make_shared<const PixelSource>(*this, first, batch));
}

Tensor ImageData::labels(int64_t first, int64_t batch) const {
  return deferred(std::make_shared<const LabelSource>(*this, first, batch));
}

DataSummary ImageData::summary() const {
  return {.kind = DataKind::kImages,
          .num_files = std::ssize(files_->files()),
          .num_bytes = files_->num_bytes(),
          .num_images = files_->count(),
          .num_classes = options_.classes,
          .files_left_out = files_->files_left_out()};
}

uint64_t ImageData::content_fingerprint() const {
  const std::vector<std::string>& all = files_->files();
  const size_t stride = (all.size() + kHashedFiles - 1) / kHashedFiles;
  std::vector<std::string> hashed;
  for (size_t i = 0; i < all.size(); i += stride) hashed.push_back(all[i]);
  return split_mix(files_->fingerprint() ^ sampled_hash_of(hashed));
}

}  // namespace phi::data
