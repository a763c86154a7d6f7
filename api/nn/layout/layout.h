// Layout: how a model lies on a mesh, said by names, apart from the model.
//
//   nn::Layout layout;
//   layout.batches({{"dp", Shard(0)}})
//       .parameters("block*.up.weight", {{"tp", Shard(1)}})
//       .parameters("block*.down.weight", {{"tp", Shard(0)}})
//       .outputs("block*.down", {{"tp", Replicate()}})        // sums over tp end here
//       .pipeline("pp", "block*");
//   nn::shard(model, mesh, layout);
//
// A pattern is a name in which '*' stands for any letters and '?' for one. Of rows that meet one
// tensor the last that speaks of a mesh dim counts. What no row speaks of is Replicate() for
// parameters, and for activations whatever they come as; a row for activations says all of their
// placements: those of batches along the mesh dims that it does not name.
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
using Along = std::vector<std::pair<std::string, distributed::Placement>>;

/// Into `along`: what comes later counts.
void put(const Along& more, Along* along);

class Layout {
 public:
  /// What a row is about.
  enum class Kind : uint8_t { kParameters, kInputs, kOutputs, kCaches };
  struct Row {
    Kind kind;
    std::string pattern;  // of parameters' names, or of modules' paths
    Along along;
  };
  /// What each module says of itself (Module::add_tensor_parallel), in the place of a row.
  struct TensorParallel {
    size_t row;  // the one before which it stands
    std::string mesh_dim;
    bool sequence_parallel = false;
    bool is_along = true;  // false: the mesh has not the dim (only_along)
  };
  /// Layers of a Sequential, shared out to stages in order.
  struct Pipeline {
    std::string mesh_dim;  // empty: none
    std::string pattern;   // of the links that are shared out evenly
    int64_t chunks = 1;    // that each stage has
  };
  /// Optimizer states (1), gradients (2) and parameters (3) split over a mesh dim too (Rajbhandari
  /// et al. 2019; api/training/optimizer.h says how).
  struct Zero {
    int stage = 0;
    std::string mesh_dim = "dp";
  };

  Layout& parameters(std::string pattern, Along along) {
    return add(Kind::kParameters, std::move(pattern), std::move(along));
  }
  /// Of Layers: what they are given, and what they give.
  Layout& inputs(std::string pattern, Along along) {
    return add(Kind::kInputs, std::move(pattern), std::move(along));
  }
  Layout& outputs(std::string pattern, Along along) {
    return add(Kind::kOutputs, std::move(pattern), std::move(along));
  }
  /// Keys and values [B,S,heads,head size] that Attention modules keep.
  Layout& caches(std::string pattern, Along along) {
    return add(Kind::kCaches, std::move(pattern), std::move(along));
  }
  /// The rows that modules say of themselves when the layout meets a model, here among the others.
  Layout& tensor_parallel(std::string mesh_dim, bool sequence_parallel = false);
  /// The model's ids and labels, on the first and the last stage.
  Layout& batches(Along along);
  /// The links of a Sequential before those that match are on the first stage, those behind on the
  /// last. Chunk c of stages * chunks belongs to stage c mod stages. Errors of shard():
  /// InvalidArgument for fewer links than chunks.
  Layout& pipeline(std::string mesh_dim, std::string pattern, int64_t chunks = 1);
  /// Errors: InvalidArgument for a stage other than 0 to 3.
  Layout& zero(int stage, std::string mesh_dim = "dp");

  /// The rows of `more` behind its own, and of what is said once what `more` says of it.
  Layout& add(const Layout& more);
  friend Layout operator+(Layout first, const Layout& second) {
    first.add(second);
    return first;
  }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<TensorParallel>& tensor_parallel() const { return tensor_parallel_; }
  const Along& batches() const { return batches_; }
  const Pipeline& pipeline() const { return pipeline_; }
  const Zero& zero() const { return zero_; }

  /// Without what it says of mesh dims that `mesh` has not: so that one layout serves many meshes.
  /// Rows stay: activations that they meet are then laid out as batches are.
  Layout only_along(const distributed::ProcessMesh& mesh) const;

  /// With rows in the place of tensor_parallel(): what lays `model` out.
  Layout of(const Module& model) const;

  /// A table: for each parameter its shape and placements, for each activation that is fixed its
  /// placements, and what else is said. Errors: NotFound as nn::shard().
  std::string describe(const Module& model) const;

 private:
  Layout& add(Kind kind, std::string pattern, Along along);

  std::vector<Row> rows_;
  std::vector<TensorParallel> tensor_parallel_;  // by row
  Along batches_;
  Pipeline pipeline_;
  Zero zero_;
};

/// "parameters", "inputs", ..
std::string_view name_of(Layout::Kind kind);

}  // namespace phi::nn
