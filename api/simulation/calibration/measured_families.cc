// Operators and their inputs.
#include "api/simulation/calibration/measured_families.h"

#include <optional>

#include "api/generated/ops/add.h"
#include "api/generated/ops/assign.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/embedding.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/fused_rotary_position_embedding.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/reduce_as.h"
#include "api/generated/ops/scaled_adamw_.h"
#include "api/generated/ops/split_with_num.h"
#include "api/generated/ops/squared_l2_norm.h"
#include "api/generated/ops/swiglu.h"
#include "api/generated/ops/uniform.h"

namespace phi::simulation {
namespace {

using distributed::simulator::kBytesFamily;
using distributed::simulator::kMatmulFamily;
using distributed::simulator::WorkUnit;

Tensor random_array(const IntArray& shape, DataType dtype) {
  return cast(uniform(shape, DataType::FLOAT32, -1.0, 1.0, /*seed=*/1), dtype);
}

Work matmuls(DataType dtype, int64_t n) {
  return
      [x = random_array({2 * n, n}, dtype), y = random_array({n, 4 * n}, dtype)] { matmul(x, y); };
}
Work matmul_grads(DataType dtype, int64_t n) {
  return [x = random_array({2 * n, n}, dtype), y = random_array({n, 4 * n}, dtype),
          grad = random_array({2 * n, 4 * n}, dtype)] { matmul_grad(x, y, grad, false, false); };
}

// Causal, 2 sequences of n positions, 4 heads of 64.
Work attentions(DataType dtype, int64_t n) {
  return [q = random_array({2, n, 4, 64}, dtype)] {
    flash_attention(q, q, q, std::nullopt, std::nullopt, 0.0f, /*causal=*/true,
                    /*return_softmax=*/false, /*is_test=*/true);
  };
}
Work attention_grads(DataType dtype, int64_t n) {
  const Tensor q = random_array({2, n, 4, 64}, dtype);
  const auto [out, softmax, lse, seed] = intermediate::flash_attention(
      q, q, q, std::nullopt, std::nullopt, 0.0f, /*causal=*/true, /*return_softmax=*/false,
      /*is_test=*/true);
  return [q, out = out, lse = lse] {
    flash_attention_grad(q, q, q, out, lse, std::nullopt, std::nullopt, q, 0.0f, /*causal=*/true,
                         /*is_test=*/true);
  };
}

Work additions(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), y = random_array({n}, dtype)] { add(x, y); };
}
Work copies(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype)] { assign(x); };
}
Work gelus(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype)] { gelu(x); };
}
Work gelu_grads(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), grad = random_array({n}, dtype)] {
    gelu_grad(x, grad, false);
  };
}
Work norms(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), scale = random_array({512}, dtype)] {
    layer_norm(x, scale, scale);
  };
}
Work norm_grads(DataType dtype, int64_t n) {
  const Tensor x = random_array({n, 512}, dtype), scale = random_array({512}, dtype);
  const auto [out, mean, variance] = intermediate::layer_norm(x, scale, scale);
  return [x, scale, mean = mean, variance = variance] {
    layer_norm_grad(x, scale, scale, mean, variance, x, 1e-5f, 1);
  };
}
Work row_sums(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), target = random_array({512}, dtype)] {
    reduce_as(x, target);
  };
}
Work square_sums(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype)] { squared_l2_norm(x); };
}
Work concatenations(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype)] { concat({x, x, x}, 1); };
}
Work splits(DataType dtype, int64_t n) {
  return [x = random_array({n, 3 * 512}, dtype)] { split_with_num(x, 3, 1); };
}
Work cross_entropies(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), label = full({n, 1}, 0, DataType::INT64)] {
    cross_entropy_with_softmax(x, label);
  };
}
Work cross_entropy_grads(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), loss = random_array({n, 1}, dtype),
          label = full({n, 1}, 0, DataType::INT64)] {
    cross_entropy_with_softmax_grad(label, x, loss, false, true, -100, -1);
  };
}
Work gated_units(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), y = random_array({n}, dtype)] { swiglu(x, y); };
}
Work gated_unit_grads(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), y = random_array({n}, dtype)] { swiglu_grad(x, y, x); };
}
// 2 sequences of n positions, 4 heads of 64.
Work rotations(DataType dtype, int64_t n) {
  return [q = random_array({2, n, 4, 64}, dtype)] { fused_rotary_position_embedding(q, q); };
}
Work embeddings(DataType dtype, int64_t n) {
  return [ids = full({n}, 0, DataType::INT64), weight = random_array({256, 512}, dtype)] {
    embedding(ids, weight);
  };
}
Work embedding_grads(DataType dtype, int64_t n) {
  return [ids = full({n}, 0, DataType::INT64), weight = random_array({256, 512}, dtype),
          grad = random_array({n, 512}, dtype)] { embedding_grad(ids, weight, grad, -1); };
}
// 16-bit parameters have moments and a master copy in float32.
Work updates(DataType dtype, int64_t n) {
  const bool is_half = size_of(dtype) == 2;
  const DataType state = is_half ? DataType::FLOAT32 : dtype;
  return [param = random_array({n}, dtype), grad = random_array({n}, dtype),
          moment1 = random_array({n}, state), moment2 = full({n}, 1.0, state),
          master = is_half ? std::optional(random_array({n}, state)) : std::nullopt,
          rate = full({}, 1e-3), step = full({}, 1, DataType::INT64)]() mutable {
    scaled_adamw_(param, grad, moment1, moment2, master, rate, step);
  };
}

}  // namespace

std::vector<MeasuredFamily> measured_families() {
  const std::vector<int64_t> elements = {1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22};
  const std::vector<int64_t> rows = {4, 32, 256, 2048, 8192};
  const std::vector<int64_t> extents = {8, 16, 32, 64, 128, 256, 384};
  const std::vector<int64_t> lengths = {16, 64, 128, 256, 512};
  constexpr WorkUnit kFlops = WorkUnit::kFlops;
  constexpr WorkUnit kBytes = WorkUnit::kBytes;
  return {
      {kMatmulFamily, {"matmul"}, kFlops, extents, matmuls},
      {"matmul_grad", {"matmul_grad"}, kFlops, extents, matmul_grads},
      {"flash_attention", {"flash_attention"}, kFlops, lengths, attentions},
      {"flash_attention_grad", {"flash_attention_grad"}, kFlops, lengths, attention_grads},
      {kBytesFamily,
       {"add", "subtract", "multiply", "divide", "maximum", "not_equal", "scale", "sqrt", "add_n",
        "cast", "full", "expand_as"},
       kBytes,
       elements,
       additions},
      {"copy", {"copy", "assign"}, kBytes, elements, copies},
      {"gelu", {"gelu"}, kBytes, elements, gelus},
      {"gelu_grad", {"gelu_grad"}, kBytes, elements, gelu_grads},
      {"layer_norm", {"layer_norm", "rms_norm"}, kBytes, rows, norms},
      {"layer_norm_grad", {"layer_norm_grad", "rms_norm_grad"}, kBytes, rows, norm_grads},
      {"reduce_as", {"reduce_as", "sum", "mean"}, kBytes, rows, row_sums},
      {"squared_l2_norm", {"squared_l2_norm"}, kBytes, elements, square_sums},
      {"concat", {"concat"}, kBytes, rows, concatenations},
      {"split", {"split_with_num", "split"}, kBytes, rows, splits},
      {"cross_entropy", {"cross_entropy_with_softmax"}, kBytes, rows, cross_entropies},
      {"cross_entropy_grad",
       {"cross_entropy_with_softmax_grad"},
       kBytes,
       rows,
       cross_entropy_grads},
      {"swiglu", {"swiglu"}, kBytes, elements, gated_units},
      {"swiglu_grad", {"swiglu_grad"}, kBytes, elements, gated_unit_grads},
      {"rotary_embedding",
       {"fused_rotary_position_embedding", "fused_rotary_position_embedding_grad"},
       kBytes,
       lengths,
       rotations},
      {"embedding", {"embedding"}, kBytes, rows, embeddings},
      {"embedding_grad", {"embedding_grad"}, kBytes, rows, embedding_grads},
      {"adamw", {"scaled_adamw_"}, kBytes, elements, updates},
  };
}

Work smallest_launch() { return additions(DataType::FLOAT32, 1); }

}  // namespace phi::simulation
