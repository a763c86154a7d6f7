// Options of image data: the files, their format, and how images become tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/dtype.h"

namespace phi::data {

enum class ImageFormat : uint8_t {
  kFolders,   // root/CLASS/IMAGE.png or .jpg
  kCifar10,   // binary files of CIFAR-10
  kCifar100,  // binary files of CIFAR-100; the class is the fine label
};

/// "folders", "cifar10", "cifar100".
std::string_view name_of(ImageFormat format);
/// The inverse of name_of. Errors: InvalidArgument with the known names.
ImageFormat parse_image_format(std::string_view name);
std::vector<std::string> image_format_names();

struct ImageOptions {
  ImageFormat format = ImageFormat::kFolders;
  std::vector<std::string> paths;  // root folders, or files of CIFAR
  std::string base{};              // second place where relative paths are resolved
  int64_t image_size = 32;         // height and width of the tensors
  int64_t channels = 3;            // 3: red, green, blue; 1: luma
  int64_t classes = 10;            // number of classes that the model has
  // (value / 255 - mean) / std, one number for all channels or one for each.
  std::vector<double> mean = {0.5};
  std::vector<double> std = {0.5};
  DataType dtype = DataType::FLOAT32;  // of the tensors: float32, bfloat16 or float16
  uint64_t seed = 1;                   // of the order
};

}  // namespace phi::data
