// Trial: the operations of one link of a chain, recorded by calling it on placeholders, forward and
// backward.
#pragma once

#include <memory>
#include <string>

#include "api/capture/chain.h"
#include "api/capture/recording.h"

namespace phi::ir {

class LinkCapture {
 public:
  /// Reads only x's metadata and placements, and whether x requires a gradient.
  LinkCapture(const ChainLink& link, const Tensor& x);

  /// The reason why a captured scan cannot repeat the link; empty if it can. The same on every
  /// rank.
  const std::string& obstacle() const { return obstacle_; }
  /// Whether one body can serve both links: the same operators with the same attributes on the same
  /// tensors, except for the links' own. The same on every rank.
  bool matches(const LinkCapture& other) const;
  /// Whether another trial of the same link has recorded the same operators.
  bool is_repeated_by(const LinkCapture& again) const;

 private:
  TensorList call(const ChainLink& link, const Tensor& x, const TensorList& inputs, uint64_t begin);
  std::string obstacle_of_result(const Tensor& y, const Tensor& x, const TensorList& inputs,
                                 uint64_t begin) const;
  std::string obstacle_of_recording() const;

  TensorList own_;
  bool is_tracked_;
  const void* result_ = nullptr;  // the storage of the link's result
  std::string obstacle_;
  std::shared_ptr<Recording> recording_;
};

}  // namespace phi::ir
