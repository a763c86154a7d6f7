// Trial: what one link of a chain does, found by calling it on placeholders, forward and backward.
#pragma once

#include <memory>
#include <string>

#include "api/capture/chain.h"
#include "api/capture/recording.h"

namespace phi::ir {

class Trial {
 public:
  /// `x` is not looked at but for its meta, placements, and whether it requires a gradient.
  Trial(const ChainLink& link, const Tensor& x);

  /// Why a captured scan cannot repeat the link; empty if it can. Alike on every rank.
  const std::string& obstacle() const { return obstacle_; }
  /// The same operators with the same attributes on the same tensors, but for the links' own, so
  /// that one body serves both. Alike on every rank.
  bool does_as(const Trial& other) const;
  /// Another trial of the same link has found the same operators.
  bool is_repeated_by(const Trial& again) const;

 private:
  TensorList call(const ChainLink& link, const Tensor& x, const TensorList& inputs, uint64_t begin);
  std::string obstacle_of_result(const Tensor& y, const Tensor& x, const TensorList& inputs,
                                 uint64_t begin) const;
  std::string obstacle_of_recording() const;

  TensorList own_;
  bool is_tracked_;
  const void* result_ = nullptr;  // the storage of what the link gives
  std::string obstacle_;
  std::shared_ptr<Recording> recording_;
};

}  // namespace phi::ir
