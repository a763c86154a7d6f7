// Sequential: layers one after the other; what a pipeline cuts.
//
//   nn::Sequential net;
//   net.add<nn::Embedding>("embedding", 256, 64);
//   net.repeat<nn::TransformerBlock>("block", 6, options);      // block0 .. block5
//   net.add<nn::Head>("head", 64, 256);
//   Tensor logits = net(ids);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/nn/module.h"

namespace phi::nn {

class Sequential : public Layer {
 public:
  using Layer::Layer;

  /// A layer L(*this, name, args...) behind those there are: a link.
  template <typename L, typename... Args>
  L& add(const Name& name, Args&&... args) {
    auto link = std::make_shared<L>(*this, name, std::forward<Args>(args)...);
    L& made = *link;
    add_link(std::move(link));
    return made;
  }
  /// Links name0, name1, .. of equal shape. A captured program has one body for those that follow
  /// each other on a stage and do the same with their own parameters and buffers (phi::chain says
  /// what that is; it calls each more than once); those that differ in anything else, an attribute,
  /// what is frozen, or that write to buffers, as batch norm does, are captured one by one.
  /// Recompute::kFull computes each again in the backward pass.
  template <typename L, typename... Args>
  void repeat(const std::string& name, int64_t count, const Args&... args) {
    const size_t begin = num_links();
    for (int64_t i = 0; i < count; ++i) add<L>(Name(name + std::to_string(i)), args...);
    repeats_.push_back({begin, num_links()});
  }

  /// The same of a layer that was made before, a model of its own. Errors: as Module::adopt.
  void append(const Name& name, std::shared_ptr<Layer> link);
  /// repeat() of such layers.
  void append_repeated(const std::string& name, std::vector<std::shared_ptr<Layer>> links);

  bool has_repeats() const { return !repeats_.empty(); }
  size_t num_links() const { return links_.size(); }
  const Layer& link(size_t i) const { return *links_.at(i); }
  /// Errors of the links get a line that names the innermost one.
  Tensor forward(const Tensor& x) const override;

  // A pipeline stage has chunks of links; without a mesh there is one of all.

  int num_stages() const { return num_stages_; }
  int num_chunks() const { return static_cast<int>(chunks_.size()) + (chunks_.empty() ? 1 : 0); }
  Tensor forward_chunk(int chunk, const Tensor& x) const;
  /// How a chunk wants `x`, what the one before it gives.
  const distributed::TensorDistAttr* chunk_input_attr(int chunk, const Tensor& x) const;

  /// Whether a captured program gets one body for repeated links that do the same (the default), or
  /// one for each.
  /// Schedules that put gradients of weights off need the second.
  void set_scan(bool scan) { scan_ = scan; }

 private:
  friend class Sharder;
  struct Range {
    size_t begin;
    size_t end;
  };

  void add_link(std::shared_ptr<Layer> link);
  Range chunk_range(int chunk) const;
  // Links [begin, end) of one repeat.
  Tensor run_repeated(Range links, Tensor x) const;
  Tensor run_link(size_t i, const Tensor& x, bool repeated) const;
  bool scans_now() const;
  // The end of the repeat that link i is in, or i.
  size_t repeat_end(size_t i) const;

  std::vector<std::shared_ptr<Layer>> links_;
  std::vector<Range> repeats_;
  std::vector<Range> chunks_;  // by nn::shard()
  int num_stages_ = 1;
  bool scan_ = true;
};

}  // namespace phi::nn
