// Allocates caches, and runs forward passes with them.
#include "api/nn/key_value_cache.h"

#include "api/autograd/autograd.h"
#include "api/generated/ops/expand.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/slice.h"
#include "api/nn/apply_placements.h"
#include "api/tensor/deferred.h"
#include "phi/common/errors.h"

namespace phi::nn {
KeyValueCache::KeyValueCache(const Module& model, int64_t batch, int64_t capacity)
    : batch_(batch), capacity_(capacity) {
  PHI_CHECK(batch >= 0 && capacity >= 1,
            errors::InvalidArgument("a cache of {} rows of {} positions; it needs 0 rows and 1 "
                                    "position or more.",
                                    batch, capacity));
  for (const Module* module : model.modules()) {
    const auto* attention = dynamic_cast<const Attention*>(module);
    if (attention == nullptr) continue;
    const AttentionOptions& options = attention->options();
    const Dims shape{batch, capacity, options.num_kv_heads(), options.head_size()};
    const auto room = [&] {
      return apply_placements(deferred_full(shape, 0.0f, model.dtype()),
                              attention->attr(ActivationSlot::kCache));
    };
    entries_.emplace(attention, Entry{room(), room()});
  }
}

void KeyValueCache::begin_forward(const Tensor& first) {
  first_ = first;
  lengths_.clear();
}

const Tensor& KeyValueCache::lengths(const Module& module) {
  const void* mesh = module.mesh() ? module.mesh()->id() : nullptr;
  auto found = lengths_.find(mesh);
  if (found == lengths_.end()) {
    found = lengths_.emplace(mesh, apply_placements(expand(first_, {batch_}), module.batch_attr()))
                .first;
  }
  return found->second;
}

Tensor next_logits(const Layer& model, const Tensor& ids, KeyValueCache* cache) {
  const NoGrad no_grad;
  const int64_t count = ids.shape()[1];
  const int64_t held = cache ? cache->length() : 0;
  PHI_CHECK(count >= 1 && (!cache || held + count <= cache->capacity()),
            errors::InvalidArgument("{} positions after {} cached ones are not 1 to capacity {}; "
                                    "clear the cache or read fewer.",
                                    count, held, cache ? cache->capacity() : 0));
  Tensor out = logits_after(model, ids, full({1}, held, DataType::INT64), cache);
  if (cache) cache->advance(count);
  return out;
}

Tensor logits_after(const Layer& model, const Tensor& ids, const Tensor& first,
                    KeyValueCache* cache) {
  const NoGrad no_grad;
  if (cache) cache->begin_forward(first);
  const ForwardContextScope scope(model, {.cache = cache, .only_last = true});
  const Tensor out = model(ids);
  const int64_t count = out.shape()[1];
  return count == 1 ? out : slice(out, {1}, {count - 1}, {count});
}

}  // namespace phi::nn
