// Sequential: layers that run one after the other, and that a pipeline splits into stages.
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

  /// Constructs a layer L(*this, name, args...) and appends it as a link.
  template <typename L, typename... Args>
  L& add(const Name& name, Args&&... args) {
    auto link = std::make_shared<L>(*this, name, std::forward<Args>(args)...);
    L& made = *link;
    add_link(std::move(link));
    return made;
  }
  /// Appends links name0, name1, .. of equal shape. A captured program has one body for consecutive
  /// links on a stage that differ only in their parameters and buffers (phi::chain defines this; it
  /// calls each link more than once). Links that differ otherwise, for example in an attribute or
  /// in what is frozen, and links that write to buffers, such as batch norm, are captured one by
  /// one. Recompute::kFull recomputes each of these links in the backward pass.
  template <typename L, typename... Args>
  void repeat(const std::string& name, int64_t count, const Args&... args) {
    const size_t begin = num_links();
    for (int64_t i = 0; i < count; ++i) add<L>(Name(name + std::to_string(i)), args...);
    repeats_.push_back({begin, num_links()});
  }

  /// Appends a layer that was constructed as a model. Errors: as Module::add_module.
  void append(const Name& name, std::shared_ptr<Layer> link);
  /// repeat() for layers that were constructed as models.
  void append_repeated(const std::string& name, std::vector<std::shared_ptr<Layer>> links);

  bool has_repeats() const { return !repeats_.empty(); }
  size_t num_links() const { return links_.size(); }
  const Layer& link(size_t i) const { return *links_.at(i); }
  /// An error in a link gets a line that names the innermost link.
  Tensor forward(const Tensor& x) const override;

  // A pipeline stage has chunks of links. Without a mesh there is one chunk with all links.

  int num_stages() const { return num_stages_; }
  int num_chunks() const { return static_cast<int>(chunks_.size()) + (chunks_.empty() ? 1 : 0); }
  Tensor forward_chunk(int chunk, const Tensor& x) const;
  /// The links of a chunk.
  std::vector<const Layer*> chunk_links(int chunk) const;
  /// The placements in which a chunk accepts `x`, the output of the previous chunk.
  const distributed::TensorDistAttr* chunk_input_attr(int chunk, const Tensor& x) const;

  /// Whether a captured program has one body for equal repeated links (the default) or one body per
  /// link. Schedules that defer weight gradients need the second.
  void set_scan(bool scan) { scan_ = scan; }

 private:
  friend class Sharder;
  struct LinkRange {
    size_t begin;
    size_t end;
  };

  void add_link(std::shared_ptr<Layer> link);
  LinkRange chunk_range(int chunk) const;
  // Runs links [begin, end), which belong to one repeat.
  Tensor run_repeated(LinkRange links, Tensor x) const;
  Tensor run_link(size_t i, const Tensor& x, bool repeated) const;
  bool scans_now() const;
  // The end of the repeat that contains link i; i if there is none.
  size_t repeat_end(size_t i) const;

  std::vector<std::shared_ptr<Layer>> links_;
  std::vector<LinkRange> repeats_;
  std::vector<LinkRange> chunks_;  // set by nn::shard()
  int num_stages_ = 1;
  bool scan_ = true;
};

}  // namespace phi::nn
