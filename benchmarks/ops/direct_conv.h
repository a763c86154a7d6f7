// DirectConv: a 2-D convolution by oneDNN itself, without us: the primitive is made once, and a
// call brings plain arrays into its layouts, runs it and brings the result back.
#pragma once

#include <cstdint>
#include <memory>

#include "phi/common/dims.h"

namespace bench {

class DirectConv {
 public:
  /// float32 in NCHW, strides 1; `filter` is [channels out, channels in / groups, height, width].
  DirectConv(const phi::Dims& image, const phi::Dims& filter, int64_t padding, int64_t groups);
  ~DirectConv();

  void run();

 private:
  struct Primitive;
  std::unique_ptr<Primitive> primitive_;
};

}  // namespace bench
