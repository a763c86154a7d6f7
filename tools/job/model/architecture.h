// Architecture: what one kind of decoder has and another has not: its norms, its layer, how it
// knows of positions. What all share is the Decoder.
//
// A layer is a function of its parameters (a list in an order of the architecture's own), x and a
// seed. On a mesh its products into heads and into the MLP are split along tp by columns, those out
// of them by rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "api/tensor/tensor.h"
#include "tools/job/config.h"
#include "tools/job/model/key_value_cache.h"
#include "tools/job/model/parameters.h"
#include "tools/job/model/sequence_layout.h"

namespace phi::job {

using TensorSpan = std::span<const Tensor>;

class Architecture {
 public:
  /// Of the weights when nothing is known better, as GPT-2 (Radford et al. 2019).
  static constexpr double kWeightStd = 0.02;
  /// Seeds that a layer may use: those from the one it is given on.
  static constexpr uint64_t kSeedsPerLayer = 2;

  Architecture(const ModelConfig& model, const RunConfig& run)
      : model_(model), recompute_(run.recompute), sequence_(run.sequence_parallel) {}
  virtual ~Architecture() = default;
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;

  // Declared parameters; `name` is put in front of theirs.
  virtual TensorList make_layer(const std::string& name, const Stage& stage,
                                Parameters* parameters) const = 0;
  virtual TensorList make_norm(const std::string& name, const Stage& stage,
                               Parameters* parameters) const = 0;
  /// What add_positions() takes, on the first stage.
  virtual TensorList make_positions(const Stage& first, Parameters* parameters) const = 0;

  /// Tokens [B,S,d_model] become a layer's x; the first is at position `first`, i64[1], or 0 where
  /// that is undefined.
  virtual Tensor add_positions(TensorSpan parameters, const Tensor& tokens, const Tensor& first,
                               uint64_t noise) const = 0;
  /// x [B,S,d_model] to the same. With `past` x are positions that follow those, and no gradient is
  /// asked for.
  virtual Tensor layer(TensorSpan parameters, const Tensor& x, uint64_t noise,
                       const Past* past) const = 0;
  virtual Tensor normalize(TensorSpan norm, const Tensor& x) const = 0;
  /// How many heads of keys and values a layer has.
  virtual int64_t kv_heads() const = 0;

 protected:
  /// x + y in the bytes of x, which nobody else needs.
  static Tensor add_into(Tensor x, const Tensor& y);
  /// Each layer adds twice to the residual; GPT-2 keeps the sum's variance by scaling these two.
  double into_residual_std() const;
  /// Causal attention of q [B,S,heads,head size] over k and v, and over the positions before.
  static Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Past* past);
  /// f(inputs), computed again in the backward pass if the job wants that of attention's core.
  Tensor attention_core(std::function<Tensor(const TensorList&)> f, const TensorList& inputs,
                        const Past* past) const;

  ModelConfig model_;
  Recompute recompute_;
  SequenceLayout sequence_;
};

/// The architecture that model.kind names.
std::unique_ptr<Architecture> make_architecture(const ModelConfig& model, const RunConfig& run);

}  // namespace phi::job
