// LaunchArgs: the shapes and attributes of a launch, from which its work is estimated.
#pragma once

#include <any>
#include <span>
#include <vector>

#include "phi/common/dims.h"

namespace phi {

class LaunchArgs {
 public:
  /// `num_tensors`: the op's inputs and outputs. `attributes`: those that the kernel receives, in
  /// its order; they must outlive this object.
  LaunchArgs(size_t num_tensors, std::span<const std::any> attributes)
      : shapes_(num_tensors), attributes_(attributes) {}
  /// Adds the local shape of an array of input or output number `tensor`.
  void add(size_t tensor, const Dims& shape) { shapes_[tensor].push_back(shape); }

  /// The shape of a single tensor. [0] if the kernel does not receive it.
  Dims shape(size_t tensor) const {
    return shapes_[tensor].empty() ? Dims{0} : shapes_[tensor].front();
  }
  /// The shapes of the tensors of a list that are present.
  std::span<const Dims> list(size_t tensor) const { return shapes_[tensor]; }
  /// Attribute number `i` of the kernel. T: its type in the kernel's signature, by value.
  template <typename T>
  const T& attr(size_t i) const {
    return *std::any_cast<T>(&attributes_[i]);
  }

 private:
  std::vector<std::vector<Dims>> shapes_;
  std::span<const std::any> attributes_;
};

}  // namespace phi
