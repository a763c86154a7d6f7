// Parts that the architectures share, and the choice of one.
#include "tools/job/model/architecture.h"

#include <cmath>
#include <optional>
#include <tuple>

#include "phi/api.h"
#include "tools/job/model/gpt.h"
#include "tools/job/model/llama.h"

namespace phi::job {

Tensor Architecture::add_into(Tensor x, const Tensor& y) {
  add_(x, y);
  return x;
}

double Architecture::into_residual_std() const {
  return kWeightStd / std::sqrt(2.0 * static_cast<double>(model_.layers));
}

Tensor Architecture::attend(const Tensor& q, const Tensor& k, const Tensor& v, const Past* past) {
  if (past) {
    auto& [keys, values] = past->cache;
    return std::get<0>(flash_attention_with_kvcache_(q, k, v, keys, values, past->lengths));
  }
  return std::get<0>(flash_attention(q, k, v, std::nullopt, std::nullopt, /*dropout=*/0.0f,
                                     /*causal=*/true, /*return_softmax=*/false, /*is_test=*/true));
}

Tensor Architecture::attention_core(std::function<Tensor(const TensorList&)> f,
                                    const TensorList& inputs, const Past* past) const {
  if (recompute_ != Recompute::kSelective || past) return f(inputs);
  return recompute(std::move(f), inputs);
}

std::unique_ptr<Architecture> make_architecture(const ModelConfig& model, const RunConfig& run) {
  if (model.kind == "llama") return std::make_unique<Llama>(model, run);
  return std::make_unique<Gpt>(model, run);
}

}  // namespace phi::job
