// Lengths and labels of a batch of padded sequences.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"

namespace phi {

/// Returns the lengths of a batch's sequences, which are int32 or int64; `most` for all if
/// `lengths` is null.
///
/// Errors   InvalidArgument if a length is not in [0, most]; names `argument`, the sample and its
///          length.
inline std::vector<int64_t> sequence_lengths(const DenseTensor* lengths, int64_t batch,
                                             int64_t most, std::string_view argument) {
  std::vector<int64_t> result(static_cast<size_t>(batch), most);
  if (!lengths) return result;
  if (lengths->dtype() == DataType::INT32) {
    convert(lengths->data<int32_t>(), result.data(), batch);
  } else {
    convert(lengths->data<int64_t>(), result.data(), batch);
  }
  for (size_t b = 0; b < result.size(); ++b) {
    PHI_CHECK(result[b] >= 0 && result[b] <= most,
              errors::InvalidArgument("{} of sample {} is {}, but the sequences have {} steps.",
                                      argument, b, result[b], most));
  }
  return result;
}

/// Returns the first `count` labels of sample b of `label`, int32 or int64 [batch, most].
///
/// Errors   InvalidArgument if a label is not a class of the tensor named `of`.
inline std::vector<int64_t> labels_of(const DenseTensor& label, int64_t b, int64_t count,
                                      int64_t classes, std::string_view of) {
  std::vector<int64_t> labels(static_cast<size_t>(count));
  const int64_t first = b * label.dims()[1];
  if (label.dtype() == DataType::INT32) {
    convert(label.data<int32_t>() + first, labels.data(), count);
  } else {
    convert(label.data<int64_t>() + first, labels.data(), count);
  }
  for (int64_t value : labels) {
    PHI_CHECK(value >= 0 && value < classes,
              errors::InvalidArgument("label of sample {} holds {}, but {} has {} classes.", b,
                                      value, of, classes));
  }
  return labels;
}

}  // namespace phi
