// Assigns modules to stages, and computes and applies placements.
#include "api/nn/layout/shard.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "api/nn/apply_placements.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/layout/parallelism.h"
#include "api/nn/layout/resolved_layout.h"
#include "api/nn/model_state.h"
#include "api/nn/pattern.h"
#include "distributed/placement/shard_further.h"
#include "distributed/placement/split.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

bool has_dim(const ProcessMesh& mesh, const std::string& name) {
  const auto& names = mesh.dim_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `axis_placements` may name mesh dims that a stage's slice lacks: those along which the pipeline
// runs.
const TensorDistAttr* dist_attr_on(const ProcessMesh& mesh, const AxisPlacements& axis_placements) {
  std::vector<Placement> placements(static_cast<size_t>(mesh.ndim()));
  for (const auto& [dim, placement] : axis_placements) {
    if (has_dim(mesh, dim)) placements[static_cast<size_t>(mesh.dim_of(dim))] = placement;
  }
  return TensorDistAttr::get(mesh, placements);
}

// `what` names a tensor that is stored and has `ndim` dims.
void check_placements(const std::string& what, int ndim, const AxisPlacements& axis_placements) {
  for (const auto& [dim, placement] : axis_placements) {
    const bool fits =
        !placement.is_partial() &&
        (!placement.is_shard() || (placement.tensor_dim() >= 0 && placement.tensor_dim() < ndim));
    PHI_CHECK(fits, errors::InvalidArgument(
                        "the layout sets {} to {} along mesh dim '{}'; use Replicate(){}.", what,
                        placement.to_string(), dim,
                        ndim == 0   ? ""
                        : ndim == 1 ? " or Shard(0)"
                                    : " or Shard(0) to Shard(" + std::to_string(ndim - 1) + ")"));
  }
}

constexpr int kCacheNdim = 4;  // [B,S,heads,head size]

}  // namespace

// Checks everything before it changes the model.
class Sharder {
 public:
  Sharder(Module& model, const ProcessMesh& mesh, const Layout& layout)
      : model_(model), mesh_(mesh), layout_(layout.of(model)), resolved_(model, layout_) {
    layout.check_dims(mesh);
    PHI_CHECK(model.parent() == nullptr,
              errors::InvalidArgument("'{}' is a submodule; apply the layout to the root module.",
                                      model.path()));
    layout_.check_dims(mesh);
    assign_stages();
    for (Module* module : model_.modules()) plan(*module);
  }

  void run() {
    if (sequential_) {
      sequential_->chunks_ = chunks_;
      sequential_->num_stages_ = static_cast<int>(std::ssize(chunks_) / layout_.pipeline().chunks);
    }
    for (Module* module : model_.modules()) {
      module->mesh_ = mesh_of(*module);
      module->batch_attr_ = dist_attr_on(*module->mesh_, layout_.batches());
      for (const auto& [activation, attr] : activation_attrs_[module]) {
        module->activation_attrs_[static_cast<size_t>(activation)] = attr;
      }
      for (Module::ParameterSlot& slot : module->slots_)
        slot.value.replace(apply_placements(slot.value, attrs_.at(&slot)));
      for (Module::BufferSlot& buffer : module->buffers_) {
        buffer.value.replace(
            apply_placements(buffer.value, TensorDistAttr::replicated(*module->mesh_)));
      }
    }
    const size_t links = sequential_ ? sequential_->num_links() : 0;
    const Module* first = &model_;
    const Module* last = &model_;
    if (links > 0) {
      first = &sequential_->link(0);
      last = &sequential_->link(links - 1);
    }
    model_.model_state_->sharding = {mesh_, layout_.zero(), first->batch_attr_, last->batch_attr_};
  }

 private:
  // Determines the links of each chunk and the mesh of each module.
  void assign_stages() {
    const auto& pipeline = layout_.pipeline();
    if (pipeline.mesh_dim.empty()) return;
    sequential_ = dynamic_cast<Sequential*>(&model_);
    PHI_CHECK(
        sequential_ != nullptr && sequential_->num_links() > 0,
        errors::InvalidArgument(
            "a pipeline splits an nn::Sequential between its links, but the model is not a "
            "Sequential, or is empty; derive it from Sequential, or leave Layout::pipeline out."));
    const auto [first, end] = links_to_distribute();
    const int pp = mesh_.dim_of(pipeline.mesh_dim);
    const int64_t stages = mesh_.dim_size(pp);
    const int64_t num_chunks = stages * pipeline.chunks;
    const auto links = static_cast<int64_t>(end - first);
    PHI_CHECK(links >= num_chunks,
              errors::InvalidArgument("{} links match the pipeline's '{}', fewer than {} stages "
                                      "of {} chunk{}; each chunk needs one.",
                                      links, pipeline.pattern, stages, pipeline.chunks,
                                      pipeline.chunks == 1 ? "" : "s"));
    size_t begin = 0;
    size_t cut_end = first;
    const std::vector<int64_t> cut = cut_of(links, num_chunks);
    for (int64_t c = 0; c < num_chunks; ++c) {
      cut_end += static_cast<size_t>(cut[static_cast<size_t>(c)]);
      const size_t stop = c + 1 == num_chunks ? sequential_->num_links() : cut_end;
      chunks_.push_back({begin, stop});
      const ProcessMesh stage = mesh_.slice(pp, c % stages);
      for (size_t i = begin; i < stop; ++i) {
        for (const Module* module : sequential_->link(i).modules()) stages_.emplace(module, stage);
      }
      begin = stop;
    }
  }

  // The number of matching links of each chunk.
  std::vector<int64_t> cut_of(int64_t links, int64_t num_chunks) const {
    const auto& pipeline = layout_.pipeline();
    std::vector<int64_t> even;
    for (int64_t c = 0; c < num_chunks; ++c)
      even.push_back(distributed::split_range(links, num_chunks, c).size);
    if (pipeline.cut.empty()) return even;
    const std::vector<int64_t>& cut = pipeline.cut;
    const bool fits = std::ssize(cut) == num_chunks && std::ranges::min(cut) >= 1 &&
                      std::ranges::max(cut) <= links &&
                      std::accumulate(cut.begin(), cut.end(), int64_t{0}) == links;
    PHI_CHECK(fits, errors::InvalidArgument(
                        "the pipeline's cut [{}] does not fit: {} links match '{}' and there are "
                        "{} chunks. Use one number for each chunk, 1 or more, with the sum {}, "
                        "such as [{}].",
                        fmt::join(cut, ", "), links, pipeline.pattern, num_chunks, links,
                        fmt::join(even, ", ")));
    return cut;
  }

  // The range of links that match the pipeline's pattern; they must be consecutive.
  std::pair<size_t, size_t> links_to_distribute() const {
    const std::string& pattern = layout_.pipeline().pattern;
    const size_t count = sequential_->num_links();
    const auto matched = [&](size_t i) { return matches(pattern, sequential_->link(i).path()); };
    size_t first = 0;
    while (first < count && !matched(first)) ++first;
    size_t end = first;
    while (end < count && matched(end)) ++end;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(sequential_->link(i).path());
    PHI_CHECK(first < count,
              errors::NotFound("the pipeline's '{}' matches no link of the model; nearest: {}.",
                               pattern, nearest_three(pattern, names)));
    for (size_t i = end; i < count; ++i) {
      PHI_CHECK(!matched(i),
                errors::InvalidArgument("the pipeline's '{}' matches link '{}', but not '{}' "
                                        "before it; the links of a pipeline must be consecutive.",
                                        pattern, names[i], names[end]));
    }
    return {first, end};
  }

  const ProcessMesh& mesh_of(const Module& module) const {
    const auto stage = stages_.find(&module);
    return stage == stages_.end() ? mesh_ : stage->second;
  }

  void plan(Module& module) {
    const ProcessMesh& mesh = mesh_of(module);
    constexpr std::pair<Layout::Kind, ActivationSlot> kActivationSlots[] = {
        {Layout::Kind::kInputs, ActivationSlot::kInput},
        {Layout::Kind::kOutputs, ActivationSlot::kOutput},
        {Layout::Kind::kCaches, ActivationSlot::kCache}};
    for (const auto& [kind, activation] : kActivationSlots) {
      const AxisPlacements* axis_placements = resolved_.of_module(kind, module.path());
      if (!axis_placements) continue;
      if (kind == Layout::Kind::kCaches)
        check_placements("the caches of '" + module.path() + "'", kCacheNdim, *axis_placements);
      activation_attrs_[&module].emplace_back(activation, dist_attr_on(mesh, *axis_placements));
    }
    for (const Module::ParameterSlot& slot : module.slots_) {
      const AxisPlacements axis_placements = resolved_.of_parameter(slot.name);
      check_placements(
          fmt::format("parameter '{}' of shape {}", slot.name, slot.value.shape().to_string()),
          slot.value.ndim(), axis_placements);
      const TensorDistAttr* attr = dist_attr_on(mesh, axis_placements);
      const auto& zero = layout_.zero();
      if (zero.stage == 3) {
        attr = distributed::shard_further(attr, slot.value.shape(), zero.mesh_dim);
      }
      attrs_[&slot] = attr;
    }
  }

  Module& model_;
  const ProcessMesh& mesh_;
  const Layout layout_;
  ResolvedLayout resolved_;
  Sequential* sequential_ = nullptr;
  std::vector<Sequential::LinkRange> chunks_;
  std::unordered_map<const Module*, ProcessMesh> stages_;  // of modules in a pipeline
  std::unordered_map<const Module*, std::vector<std::pair<ActivationSlot, const TensorDistAttr*>>>
      activation_attrs_;
  std::unordered_map<const Module::ParameterSlot*, const TensorDistAttr*> attrs_;
};

void shard(Module& model, const ProcessMesh& mesh, const Layout& layout) {
  Sharder(model, mesh, layout).run();
}

Layout transformer_layout(const Module& model, const ProcessMesh& mesh,
                          const TransformerLayoutOptions& split) {
  const Layout layout = data_parallel(split.dp, split.zero_stage) +
                        tensor_parallel(split.tp, split.sequence_parallel) +
                        stages(split.pp, split.blocks, split.chunks, split.cut);
  return layout.only_along(mesh).of(model);
}

}  // namespace phi::nn
