// Decision: everything about a distributed call that follows from meta alone, found once and
// cached: the attrs that inputs must have, global meta and attr of the outputs, this rank's local
// shapes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/call/args/attrs.h"
#include "api/call/args/dist_args.h"
#include "phi/core/device/device_context.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"
#include "phi/infermeta/output_metas.h"

namespace phi {

class Decision final : public LaunchView {
 public:
  struct Output {
    bool present = false;
    TensorMeta global;
    const distributed::TensorDistAttr* attr = nullptr;
    TensorMeta local;  // on this rank; all 0 where it does not compute
    ShardBox box;      // left empty for shapes that only the kernel finds
  };
  struct Input {
    const distributed::TensorDistAttr* attr = nullptr;
    ShardBox box;
  };

  /// `dtype`: of the kernel that will be launched; UNDEFINED: none will.
  /// Errors: Unimplemented, on every rank alike, if the op has no kernel of this dtype;
  /// InvalidArgument for inputs on several places.
  Decision(const DistArgs& args, const distributed::SpmdResult& spmd, const OutputMetas& outputs,
           DataType dtype);

  const OpDef& op() const { return op_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// Where inputs and outputs lie, on this rank; elsewhere they lie on that rank's own.
  const Place& place() const { return place_; }
  /// This rank is in the op's mesh; found here for all who need to know.
  bool computes_here() const { return computes_here_; }
  const Input& input(size_t slot) const { return inputs_[slot]; }
  const Output& output(size_t slot) const { return outputs_[slot]; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  /// Of output number `output` of the op, of which a list has several: its first slot, and the one
  /// behind its last.
  std::pair<size_t, size_t> slots_of(size_t output) const {
    return {first_slot(output), ends_[output]};
  }
  size_t first_slot(size_t output) const { return output == 0 ? 0 : ends_[output - 1]; }

  const ShardBox& input_box(int i) const override { return inputs_[i].box; }
  const ShardBox& output_box(int i) const override { return outputs_[i].box; }
  void combine_over(int i, int tensor_dim, CombineKind kind, DenseTensor* values) const override;

 private:
  const OpDef& op_;
  distributed::ProcessMesh mesh_;
  Place place_;
  bool computes_here_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<size_t> ends_;  // of each output of the op, the slot behind its last
};

/// The decisions of one rank. A hit costs a hash and a comparison of the key.
class DecisionCache {
 public:
  /// The calling thread's rank's.
  static DecisionCache& current();
  const Decision* find(const CallKey& key, uint64_t hash) const;
  const Decision& add(const CallKey& key, uint64_t hash, std::shared_ptr<const Decision> decision);
  size_t size() const { return size_; }
  void clear();

 private:
  struct Entry {
    uint64_t hash = 0;
    std::string key;
    std::shared_ptr<const Decision> decision;
  };
  void grow();

  // Open addressing, linear probing, at most half full. When it is full of shapes that come once
  // (data dependent ones, say) it is emptied rather than grown without end.
  static constexpr size_t kMaxEntries = 1 << 16;
  std::vector<Entry> table_;
  size_t size_ = 0;
};

/// What is in the cache for this call; null: nothing. `key` has the attributes; op and inputs are
/// added to it. A decision lives until the cache is cleared; callers use it for the one call.
const Decision* find_decision(const DistArgs& args, CallKey& key);

/// What a call is beside its tensors.
struct CallDetails {
  AttributeList attributes;
  const GradMask* wanted;  // null: all outputs
  DataType dtype;          // of the kernel; UNDEFINED: none
};
/// Asks the op's shape function, then its rule, and puts the decision in the cache. Errors: theirs,
/// with what the call was.
const Decision& make_decision(const DistArgs& args, const CallKey& key, CallDetails&& details);

namespace detail {
inline void count_clipped(const OpDef& op) {
  RankContext& rank = RankContext::current();
  ++rank.counters().ops_clipped;
  if (Trace* trace = rank.trace()) [[unlikely]]
    trace->add(TraceKind::kClipped, op.name);
}
}  // namespace detail

}  // namespace phi
