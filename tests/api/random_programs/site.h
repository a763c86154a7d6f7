// Site: what a case's function does beside calling operators. The same function runs on plain and
// on sharded tensors, eagerly and captured; and once more with its leaves moved a little, which
// tells what its gradients should be.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "case.h"

namespace phi::testing::programs {

class Differences;

/// The ways to ask for gradients. All but kGrad leave them in leaves, from where they are taken.
enum class Pass { kGrad, kBackward, kTwice, kDeferred };

class Site {
 public:
  using Meshes = std::vector<distributed::ProcessMesh>;

  /// Plain tensors on one rank, where tensors need not move.
  Site() = default;
  /// Sharded tensors on these meshes.
  explicit Site(const Meshes& meshes) : meshes_(&meshes) {}
  /// Plain tensors, compared with finite differences.
  explicit Site(Differences& differences) : differences_(&differences) {}

  bool is_distributed() const { return meshes_ != nullptr; }

  /// x as the layout says; on plain tensors a view of x.
  Tensor reshard(const Tensor& x, const Layout& layout) const;
  /// The same in two halves, which belong together by `number`.
  void start(int number, const Tensor& x, const Layout& layout);
  Tensor wait(int number);
  /// y with the placements of x.
  static Tensor like(const Tensor& y, const Tensor& x);

  /// d(sum of losses)/d(each of `of`); zeros where none arrives. With Pass::kTwice it is twice
  /// that. Of leaves only, for other passes than kGrad.
  TensorList gradients(const TensorList& losses, const TensorList& of, Pass pass = Pass::kGrad);
  /// The gradient needs a value that is gone. Errors: Internal if nobody notices.
  void expect_stale(const Tensor& loss, const TensorList& of) const;

  /// A plain tensor of the host's integers.
  static Tensor ids(const std::vector<int64_t>& values, const Dims& shape);
  /// Query and key [batch, sequence, head] rotated, one behind the other.
  static Tensor rope_pair(const Tensor& q, const Tensor& k);

  /// Steps of optimizers, under NoGrad; they give the parameter.
  static Tensor sgd(Tensor& parameter, const Tensor& gradient);
  static Tensor momentum(Tensor& parameter, Tensor& velocity, const Tensor& gradient);
  /// `moment2` is squared first, as it begins with any values.
  static Tensor adamw(Tensor& parameter, Tensor& moment1, Tensor& moment2, const Tensor& gradient);

  /// x without history.
  Tensor detached(const Tensor& x);
  /// What `f` gives, or writes to, without being recorded.
  template <typename F>
  Tensor without_grad(F&& f) {
    const NoGrad no_grad;
    return constant(f());
  }

 private:
  TensorList passed(const TensorList& losses, const TensorList& of, Pass pass) const;
  Tensor constant(const Tensor& x);

  const Meshes* meshes_ = nullptr;
  Differences* differences_ = nullptr;
  std::map<int, Tensor> arrived_;
  std::map<int, distributed::PendingTensor> under_way_;
};

}  // namespace phi::testing::programs
