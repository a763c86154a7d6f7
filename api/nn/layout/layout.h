// Layout: how a model is sharded over a mesh, by names and independent of the model.
//
//   nn::Layout layout;
//   layout.batches({{"dp", Shard(0)}})
//       .parameters("block*.up.weight", {{"tp", Shard(1)}})
//       .parameters("block*.down.weight", {{"tp", Shard(0)}})
//       .outputs("block*.down", {{"tp", Replicate()}})        // sums over tp end here
//       .pipeline("pp", "block*");
//   nn::shard(model, mesh, layout);
//
// In a pattern, '*' matches any letters and '?' matches one letter. If several rows match a tensor,
// the last one that names a mesh dim determines the placement along it. Without a row, parameters
// are Replicate() and activations keep their placements. A row for an activation fixes all of its
// placements: along mesh dims that it does not name, it has the placements of batches.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/nn/module.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"

namespace phi::nn {

/// Placements by the names of mesh dims.
using AxisPlacements = std::vector<std::pair<std::string, distributed::Placement>>;

/// Merges `more` into `axis_placements`; `more` overrides entries of the same mesh dim.
void merge_placements(const AxisPlacements& more, AxisPlacements* axis_placements);

class Layout {
 public:
  /// The tensors to which a row applies.
  enum class Kind : uint8_t { kParameters, kInputs, kOutputs, kCaches };
  struct PlacementRow {
    Kind kind;
    std::string pattern;  // of parameter names, or of module paths
    AxisPlacements axis_placements;
  };
  /// A placeholder for the rows that modules add (Module::add_tensor_parallel).
  struct TensorParallel {
    size_t row;  // index of the row that follows it
    std::string mesh_dim;
    bool sequence_parallel = false;
    bool is_on_mesh = true;  // false: the mesh lacks the dim (only_along)
  };
  /// Assignment of the links of a Sequential to stages, in order.
  struct Pipeline {
    std::string mesh_dim;  // empty: none
    std::string pattern;   // of the links that are distributed
    int64_t chunks = 1;    // chunks per stage
    /// The number of matching links of each of stages * chunks chunks, in the order of the model;
    /// empty: evenly.
    std::vector<int64_t> cut = {};
  };
  /// ZeRO: additionally splits optimizer states (stage 1), gradients (2) and parameters (3) over a
  /// mesh dim (Rajbhandari et al. 2019; api/training/optimizer.h has details).
  struct Zero {
    int stage = 0;
    std::string mesh_dim = "dp";
  };

  Layout& parameters(std::string pattern, AxisPlacements axis_placements) {
    return add({Kind::kParameters, std::move(pattern), std::move(axis_placements)});
  }
  /// Placements of the inputs and outputs of Layers.
  Layout& inputs(std::string pattern, AxisPlacements axis_placements) {
    return add({Kind::kInputs, std::move(pattern), std::move(axis_placements)});
  }
  Layout& outputs(std::string pattern, AxisPlacements axis_placements) {
    return add({Kind::kOutputs, std::move(pattern), std::move(axis_placements)});
  }
  /// Placements of the keys and values [B,S,heads,head size] that Attention modules cache.
  Layout& caches(std::string pattern, AxisPlacements axis_placements) {
    return add({Kind::kCaches, std::move(pattern), std::move(axis_placements)});
  }
  /// Inserts, at this position, the rows that the modules of a model add
  /// (Module::add_tensor_parallel).
  Layout& tensor_parallel(std::string mesh_dim, bool sequence_parallel = false);
  /// Placements of the model's ids on the first stage and of its labels on the last stage.
  Layout& batches(AxisPlacements axis_placements);
  /// Splits a Sequential over pipeline stages. Links that match are distributed by `cut`; links
  /// before them are on the first stage, links after them on the last. Chunk c of stages * chunks
  /// belongs to stage c mod stages. shard() throws InvalidArgument if there are fewer links than
  /// chunks, or if a cut is not one number for each chunk, 1 or more, whose sum is the number of
  /// matching links.
  Layout& pipeline(std::string mesh_dim, std::string pattern, int64_t chunks = 1,
                   std::vector<int64_t> cut = {});
  /// Errors: InvalidArgument for a stage other than 0 to 3.
  Layout& zero(int stage, std::string mesh_dim = "dp");

  Layout& add(PlacementRow row);
  /// Appends the rows of `more` and merges its batch placements. Its pipeline and ZeRO stage, if
  /// set, replace this layout's.
  Layout& add(const Layout& more);
  friend Layout operator+(Layout first, const Layout& second) {
    first.add(second);
    return first;
  }

  const std::vector<PlacementRow>& rows() const { return rows_; }
  const std::vector<TensorParallel>& tensor_parallel() const { return tensor_parallel_; }
  const AxisPlacements& batches() const { return batches_; }
  const Pipeline& pipeline() const { return pipeline_; }
  const Zero& zero() const { return zero_; }

  /// This layout without placements along mesh dims that `mesh` lacks, so that one layout serves
  /// several meshes. Rows stay: the activations that they match have the placements of batches.
  Layout only_along(const distributed::ProcessMesh& mesh) const;

  /// Errors: InvalidArgument for a mesh dim that `mesh` lacks.
  void check_dims(const distributed::ProcessMesh& mesh) const;

  /// The layout for `model`: tensor_parallel() is replaced by the rows that its modules add.
  Layout of(const Module& model) const;

  /// A table with shape and placements of each parameter, the placements of each fixed activation,
  /// and the other settings.
  /// Errors: NotFound as nn::shard().
  std::string describe(const Module& model) const;

 private:
  std::vector<PlacementRow> rows_;
  std::vector<TensorParallel> tensor_parallel_;  // by row
  AxisPlacements batches_;
  Pipeline pipeline_;
  Zero zero_;
};

/// "parameters", "inputs", ..
std::string_view name_of(Layout::Kind kind);

}  // namespace phi::nn
