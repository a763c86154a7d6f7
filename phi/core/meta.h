// TensorMeta: shape, dtype and layout of a tensor, without its bytes.
#pragma once

#include <string>

#include "phi/common/dims.h"
#include "phi/common/dtype.h"
#include "phi/common/layout.h"

namespace phi {

struct TensorMeta {
  Dims dims;
  DataType dtype = DataType::UNDEFINED;
  DataLayout layout = DataLayout::NCHW;

  int64_t numel() const { return dims.numel(); }
  /// Errors: those of Dims::nbytes.
  size_t nbytes() const { return dims.nbytes(size_of(dtype)); }
  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
  /// "f32[64,32]"
  std::string to_string() const { return std::string(short_name_of(dtype)) + dims.to_string(); }
};

}  // namespace phi
