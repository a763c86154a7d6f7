// Contractions: arrays whose dims have letters are multiplied and summed over letters, as sums and
// matrix products of two at a time.
//
//   std::vector<Labelled<float>> operands{labelled("ij", x, {2, 3}), labelled("jk", y, {3, 4})};
//   const Labelled<float> out = contract(std::move(operands), "ik");   // strided
//   scatter(out, "ik", {2, 4}, Dims{2, 4}.strides(), target);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phi/common/dims.h"

namespace phi {

/// An array seen by letters, each once; of a tensor or of its own.
template <typename T>
struct Labelled {
  std::string letters;
  const T* data = nullptr;
  Dims dims;
  Dims strides;
  std::vector<T> own;

  int find(char letter) const {
    const size_t at = letters.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }
};

/// A row-major array, of which letters that are there twice take the diagonal.
template <typename T>
Labelled<T> labelled(const std::string& letters, const T* data, const Dims& dims);
/// The strides of an array of these letters, each by what all its dims of a letter step together.
Dims diagonal_strides(const std::string& letters, const Dims& dims, const std::string& wanted);

/// The product of all operands summed over the letters that `wanted` lacks. Letters of `wanted`
/// that no operand has are not there in the result either. T: the types of batched_product.
template <typename T>
Labelled<T> contract(std::vector<Labelled<T>> operands, const std::string& wanted);

/// target[strides of letters] = x, which is repeated along letters that it lacks; `dims` and
/// `strides` are by `letters`.
template <typename T>
void scatter(const Labelled<T>& x, const std::string& letters, const Dims& dims,
             const Dims& strides, T* target);

}  // namespace phi
