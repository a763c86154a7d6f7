// Sums over the matrices and norms of a layer, of the embedding and of the head.
#include "distributed/planner/llama_size.h"

#include <string_view>

#include "distributed/placement/split.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

void check_positive(std::string_view what, int64_t value) {
  PHI_CHECK(value >= 1,
            errors::InvalidArgument("llama size: {} is {}, must be >= 1.", what, value));
}

void check_divides(std::string_view what, int64_t value, std::string_view whole_name,
                   int64_t whole) {
  check_positive(what, value);
  PHI_CHECK(whole % value == 0, errors::InvalidArgument("llama size: {} {} does not divide {} {}.",
                                                        what, value, whole_name, whole));
}

void check_shape(const LlamaShape& shape) {
  check_positive("layers", shape.layers);
  check_positive("hidden", shape.hidden);
  check_positive("ffn", shape.ffn);
  check_positive("vocabulary", shape.vocabulary);
  check_divides("heads", shape.heads, "hidden", shape.hidden);
  check_divides("kv_heads", shape.kv_heads, "heads", shape.heads);
}

void check_layout(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage) {
  check_shape(shape);
  check_positive("dp", layout.dp);
  check_positive("pp", layout.pp);
  check_positive("chunks", layout.chunks);
  check_divides("tp", layout.tp, "kv_heads", shape.kv_heads);
  check_divides("tp", layout.tp, "ffn", shape.ffn);
  check_divides("tp", layout.tp, "vocabulary", shape.vocabulary);
  if (layout.zero != ZeroStage::kNone) check_divides("dp", layout.dp, "hidden", shape.hidden);
  PHI_CHECK(stage >= 0 && stage < layout.pp,
            errors::InvalidArgument("llama size: stage {} is not one of the {}, counted from 0.",
                                    stage, layout.pp));
  PHI_CHECK(shape.layers >= layout.pp * layout.chunks,
            errors::InvalidArgument("llama size: {} layers are fewer than {} stages of {} chunks.",
                                    shape.layers, layout.pp, layout.chunks));
}

// Elements of a layer's matrices; each of its two norms has `hidden`.
int64_t layer_matrices(const LlamaShape& shape) {
  const int64_t h = shape.hidden;
  const int64_t kv = shape.kv_heads * (h / shape.heads);
  return 2 * h * h + 2 * h * kv + 3 * h * shape.ffn;
}

int64_t layers_of(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage) {
  int64_t layers = 0;
  for (int64_t c = stage; c < layout.pp * layout.chunks; c += layout.pp) {
    layers += split_range(shape.layers, layout.pp * layout.chunks, c).size;
  }
  return layers;
}

}  // namespace

int64_t llama_parameters(const LlamaShape& shape) { return llama_stage_parameters(shape, {}, 0); }

int64_t llama_stage_parameters(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage) {
  check_layout(shape, layout, stage);
  const int64_t layers = layers_of(shape, layout, stage);
  const int64_t table = shape.vocabulary * shape.hidden;
  int64_t matrices = layers * layer_matrices(shape);
  int64_t norms = layers * 2 * shape.hidden;
  if (stage == 0) matrices += table;
  if (stage == layout.pp - 1) {
    matrices += table;
    norms += shape.hidden;
  }
  return matrices / layout.tp + norms;
}

LlamaStates llama_rank_states(const LlamaShape& shape, const LlamaLayout& layout, int64_t stage,
                              const StateBytes& bytes) {
  const int64_t elements = llama_stage_parameters(shape, layout, stage);
  // Every tensor has a dim of extent `hidden` that tp does not split, and dp splits it evenly.
  const auto held = [&](double bytes_each, ZeroStage split_from) {
    const int64_t own = layout.zero >= split_from ? elements / layout.dp : elements;
    return static_cast<int64_t>(bytes_each * static_cast<double>(own));
  };
  return {held(bytes.parameter, ZeroStage::kParameters),
          held(bytes.gradient, ZeroStage::kGradients),
          held(bytes.optimizer, ZeroStage::kOptimizer)};
}

}  // namespace phi::distributed
