// Moves, gradients, and what is kept out of them.
#include "site.h"

#include <string_view>

#include "differences.h"

namespace phi::testing::programs {
namespace {

TensorList taken_from(const TensorList& leaves) {
  TensorList grads;
  for (Tensor leaf : leaves) {
    grads.push_back(leaf.grad());
    leaf.clear_grad();
  }
  return grads;
}

// The first half of the leaves at once, the others afterwards.
void pass_in_two(const TensorList& losses, const TensorList& leaves) {
  const TensorList now(leaves.begin(),
                       leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2));
  for (const Tensor& loss : losses) {
    DeferredGradients later;
    backward_deferring(loss, {}, now, &later);
    later.run();
  }
}

}  // namespace

Tensor Site::reshard(const Tensor& x, const Layout& layout) const {
  if (!is_distributed()) return phi::reshape(x, x.shape());
  const auto& mesh = meshes_->at(static_cast<size_t>(layout.mesh));
  return x.is_dist() ? distributed::reshard(x, mesh, layout.placements)
                     : distributed::shard_tensor(x, mesh, layout.placements);
}

void Site::start(int number, const Tensor& x, const Layout& layout) {
  if (!is_distributed() || !x.is_dist()) {
    arrived_[number] = reshard(x, layout);
    return;
  }
  const auto& mesh = meshes_->at(static_cast<size_t>(layout.mesh));
  under_way_[number] = distributed::start_reshard(x, mesh, layout.placements);
}

Tensor Site::wait(int number) {
  if (const auto here = arrived_.extract(number)) return here.mapped();
  return std::move(under_way_.extract(number).mapped()).wait();
}

Tensor Site::like(const Tensor& y, const Tensor& x) {
  if (!x.is_dist() || y.dist_attr() == x.dist_attr()) return y;
  return distributed::reshard(y, x.mesh(), x.placements());
}

TensorList Site::gradients(const TensorList& losses, const TensorList& of, Pass pass) {
  if (differences_) differences_->note(losses);
  TensorList grads = passed(losses, of, pass);
  const NoGrad no_grad;
  for (size_t i = 0; i < of.size(); ++i) {
    if (!grads[i].defined()) grads[i] = full_like(of[i], 0.0);
    grads[i] = constant(grads[i]);
  }
  return grads;
}

TensorList Site::passed(const TensorList& losses, const TensorList& of, Pass pass) const {
  if (pass == Pass::kGrad) return grad(losses, of);
  if (pass == Pass::kDeferred) {
    pass_in_two(losses, of);
    return taken_from(of);
  }
  // What two losses have in common is needed until the last of them.
  for (const bool again : {true, false}) {
    if (again && pass != Pass::kTwice) continue;
    for (size_t i = 0; i < losses.size(); ++i) {
      losses[i].backward({}, /*retain_graph=*/again || i + 1 < losses.size());
    }
  }
  return taken_from(of);
}

void Site::expect_stale(const Tensor& loss, const TensorList& of) const {
  try {
    grad({loss}, of, {}, /*retain_graph=*/true);  // other gradients of the loss may follow
  } catch (const Error& error) {
    const bool is_noticed =
        error.code() == ErrorCode::kPreconditionNotMet &&
        std::string_view(error.what()).find("has written to it since") != std::string_view::npos;
    if (is_noticed) return;
    throw;
  }
  throw errors::Internal("a gradient was computed from a value that had been overwritten.");
}

Tensor Site::ids(const std::vector<int64_t>& values, const Dims& shape) {
  return Tensor::from<int64_t>(values, shape);
}

Tensor Site::rope_pair(const Tensor& q, const Tensor& k) {
  const auto [rotated_q, rotated_k, none] = fused_rotary_position_embedding(
      unsqueeze(q, {2}), unsqueeze(k, {2}), std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  return squeeze(concat({rotated_q, rotated_k}, 3), {2});
}

Tensor Site::sgd(Tensor& parameter, const Tensor& gradient) {
  std::optional<Tensor> no_master;
  scaled_sgd_(parameter, gradient, no_master, full({1}, 0.125f), std::nullopt, 0.25f);
  return parameter;
}

Tensor Site::momentum(Tensor& parameter, Tensor& velocity, const Tensor& gradient) {
  std::optional<Tensor> no_master;
  scaled_momentum_(parameter, gradient, velocity, no_master, full({1}, 0.125f), full({1}, 0.5f));
  return parameter;
}

Tensor Site::adamw(Tensor& parameter, Tensor& moment1, Tensor& moment2, const Tensor& gradient) {
  std::optional<Tensor> no_master;
  square_(moment2);
  scaled_adamw_(parameter, gradient, moment1, moment2, no_master, full({1}, 0.125f),
                full({1}, 3, DataType::INT64));
  return parameter;
}

Tensor Site::detached(const Tensor& x) {
  if (!differences_) return x.detach();
  return constant(differences_->is_moved() ? Tensor(x.dense().clone()) : x.detach());
}

Tensor Site::constant(const Tensor& x) {
  if (!differences_ || !x.defined()) return x;
  if (x.requires_grad() && x.is_leaf()) {
    differences_->end();
    return x;
  }
  return differences_->fixed(x);
}

}  // namespace phi::testing::programs
