// ShardSymmetry: observes along which mesh dims all ranks compute the same.
//
//   ShardSymmetry shards(mesh);
//   const ObserverScope scope(shards, world.rank_context());
//   ...                                            // calls of a dry rank
//   shards.asymmetries()[mesh.dim_of("tp")];       // "" or "the mesh(..) of an operator, .."
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/dist_attr.h"
#include "distributed/simulator/mesh_symmetry.h"
#include "phi/common/dims.h"
#include "phi/core/observer.h"

namespace phi {
struct CallSlots;
}

namespace phi::simulation {

/// Ranks compute the same along a mesh dim if every operator, also one that this rank does not
/// compute, has a mesh with all of that mesh dim, and if their shards have the same sizes.
class ShardSymmetry final : public Observer {
 public:
  /// `mesh` is the mesh of the job, which is regular.
  explicit ShardSymmetry(const distributed::ProcessMesh& mesh);

  void on_call_begin(const CallBegin& call) override;
  void on_decision(const CallDecision& decision) override;
  void on_call_end(const CallEnd& call) noexcept override;
  void on_reshard_begin(const distributed::ReshardBegin& reshard) override;

  /// Why ranks compute different things along a mesh dim, apart from the sizes of their shards, by
  /// mesh dim; empty: they do not. The reasons are the same in a mesh of the same mesh dims in
  /// another order.
  const std::vector<std::string>& asymmetries() const { return asymmetries_; }
  /// The coordinates at which shards begin to have another size.
  const distributed::simulator::SizeChanges& size_changes() const { return size_changes_; }

 private:
  struct Seen {
    const distributed::TensorDistAttr* attr;
    Dims shape;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct SeenHash {
    size_t operator()(const Seen& seen) const;
  };

  void check(const distributed::TensorDistAttr* attr, const Dims& shape, const char* op);
  void check_mesh(const distributed::ProcessMesh& mesh, const char* op);
  void check_shards(const distributed::TensorDistAttr& attr, const Dims& shape, const char* op);
  void check_split(const distributed::ProcessMesh& mesh, int mesh_dim, int64_t extent,
                   const char* op);
  std::optional<size_t> job_dim_of(const distributed::ProcessMesh& mesh,
                                   const std::string& name) const;
  void set(size_t mesh_dim, const std::string& reason);

  const distributed::ProcessMesh mesh_;
  std::vector<std::string> asymmetries_;
  distributed::simulator::SizeChanges size_changes_;
  std::vector<const CallSlots*> inputs_;  // of the calls that have begun
  std::unordered_set<Seen, SeenHash> seen_;
};

}  // namespace phi::simulation
