// Runs links one after the other; a captured program runs repeated links as a chain.
#include "api/nn/layers/sequential.h"

#include <algorithm>

#include "api/autograd/autograd.h"
#include "api/capture/chain.h"
#include "distributed/api.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::nn {
namespace {

// Sets training mode for its lifetime.
class TrainingScope {
 public:
  TrainingScope(Layer& layer, bool trains) : layer_(layer), before_(layer.is_training()) {
    layer_.set_training(trains);
  }
  ~TrainingScope() { layer_.set_training(before_); }
  TrainingScope(const TrainingScope&) = delete;
  TrainingScope& operator=(const TrainingScope&) = delete;

 private:
  Layer& layer_;
  bool before_;
};

// The backward pass must run the layer again in the forward context and training mode, and with the
// parameters and buffers, of this call.
Tensor recomputed(Layer& layer, const Tensor& x) {
  ForwardContext forward_context = layer.forward_context();
  forward_context.number.reset();  // recompute() repeats the draws of the first call
  const auto again = [&layer, forward_context, trains = layer.is_training(),
                      tensors = layer.tensors()](const TensorList& inputs) {
    const TrainingScope in_mode(layer, trains);
    const ForwardContextScope in_context(layer, forward_context);
    const TensorScope with_tensors(layer, tensors);
    return layer(inputs[0]);
  };
  return recompute(again, {x});
}

}  // namespace

void Sequential::append(const Name& name, std::shared_ptr<Layer> link) {
  add_module(*link, name);
  add_link(std::move(link));
}

void Sequential::append_repeated(const std::string& name,
                                 std::vector<std::shared_ptr<Layer>> links) {
  const size_t begin = num_links();
  for (size_t i = 0; i < links.size(); ++i) {
    append(Name(name + std::to_string(i)), std::move(links[i]));
  }
  repeats_.push_back({begin, num_links()});
}

void Sequential::add_link(std::shared_ptr<Layer> link) {
  PHI_CHECK(chunks_.empty(),
            errors::InvalidArgument("link '{}' is added to a model that is already sharded over a "
                                    "mesh; add it before nn::shard().",
                                    link->path()));
  links_.push_back(std::move(link));
}

Sequential::LinkRange Sequential::chunk_range(int chunk) const {
  PHI_CHECK(
      chunk >= 0 && chunk < num_chunks(),
      errors::OutOfRange("chunk {} is requested from a model that has {}.", chunk, num_chunks()));
  return chunks_.empty() ? LinkRange{0, links_.size()} : chunks_[static_cast<size_t>(chunk)];
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor out = x;
  for (int chunk = 0; chunk < num_chunks(); ++chunk) {
    if (chunk > 0) {
      const auto* attr = chunk_input_attr(chunk, out);
      if (attr) out = distributed::reshard(out, attr->mesh(), attr->placements());
    }
    out = forward_chunk(chunk, out);
  }
  return out;
}

const distributed::TensorDistAttr* Sequential::chunk_input_attr(int chunk, const Tensor& x) const {
  const Layer& first = *links_[chunk_range(chunk).begin];
  if (const auto* fixed = first.attr(ActivationSlot::kInput)) return fixed;
  if (!first.mesh() || !x.is_dist()) return nullptr;
  return distributed::TensorDistAttr::get(*first.mesh(), x.placements());
}

std::vector<const Layer*> Sequential::chunk_links(int chunk) const {
  const LinkRange range = chunk_range(chunk);
  std::vector<const Layer*> out;
  for (size_t i = range.begin; i < range.end; ++i) out.push_back(links_[i].get());
  return out;
}

Tensor Sequential::forward_chunk(int chunk, const Tensor& x) const {
  const LinkRange range = chunk_range(chunk);
  Tensor out = x;
  for (size_t i = range.begin; i < range.end;) {
    const size_t end = std::min(repeat_end(i), range.end);
    if (end > i) {
      out = run_repeated({i, end}, std::move(out));
      i = end;
    } else {
      out = run_link(i++, out, /*repeated=*/false);
    }
  }
  return out;
}

size_t Sequential::repeat_end(size_t i) const {
  for (const LinkRange& repeat : repeats_) {
    if (i >= repeat.begin && i < repeat.end) return repeat.end;
  }
  return i;
}

bool Sequential::scans_now() const {
  return scan_ && RankContext::current().recorder() && !forward_context().cache && !drops_now();
}

Tensor Sequential::run_repeated(LinkRange links, Tensor x) const {
  if (!scans_now()) {
    for (size_t i = links.begin; i < links.end; ++i) x = run_link(i, x, /*repeated=*/true);
    return x;
  }
  std::vector<ChainLink> chained;
  for (size_t i = links.begin; i < links.end; ++i) {
    const auto call = [this, i](const Tensor& h, const TensorList& own) {
      const TensorScope with_tensors(*links_[i], own);
      return run_link(i, h, /*repeated=*/true);
    };
    chained.push_back({call, links_[i]->tensors(), links_[i]->path()});
  }
  return chain(chained, x);
}

Tensor Sequential::run_link(size_t i, const Tensor& x, bool repeated) const {
  Layer& link = *links_[i];
  const MemoryUseScope use(MemoryUse::kActivations, static_cast<int>(i));
  try {
    const bool again = repeated && recompute() == Recompute::kFull && !forward_context().cache;
    return again ? recomputed(link, x) : link(x);
  } catch (Error& error) {
    error.note("called from " + link.path());
    throw;
  }
}

}  // namespace phi::nn
