// Decision: everything about a distributed call that follows from metadata, computed once and
// cached: the distributed attributes that inputs must have, global metadata and attributes of the
// outputs, and this rank's local shapes.
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
    TensorMeta local;  // on this rank; all extents are 0 if it does not compute
    ShardBox box;      // empty for a data-dependent shape
  };
  struct Input {
    const distributed::TensorDistAttr* attr = nullptr;
    ShardBox box;
  };

  /// `dtype`: that of the kernel to launch; UNDEFINED: no kernel will be launched.
  /// Errors: Unimplemented, on every rank, if the op has no kernel for this dtype; InvalidArgument
  /// for inputs on different places.
  Decision(const DistArgs& args, const distributed::SpmdResult& spmd, const OutputMetas& outputs,
           DataType dtype);

  const OpDef& op() const { return op_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// The place of inputs and outputs on this rank. Another rank's decision has that rank's place.
  const Place& place() const { return place_; }
  /// Whether this rank is in the op's mesh.
  bool computes_here() const { return computes_here_; }
  const Input& input(size_t slot) const { return inputs_[slot]; }
  const Output& output(size_t slot) const { return outputs_[slot]; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  /// The slots of output number `output` of the op, as [first, end). A list output has one slot per
  /// element.
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
  std::vector<size_t> ends_;  // for each output of the op, one past its last slot
};

/// The cached decisions of one rank. A hit costs one hash and one comparison of the key.
class DecisionCache {
 public:
  /// The cache of the calling thread's rank.
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

  // Open addressing with linear probing, at most half full. Shapes that occur once (data-dependent
  // ones, for example) would grow it without bound, so it is emptied at kMaxEntries.
  static constexpr size_t kMaxEntries = 1 << 16;
  std::vector<Entry> table_;
  size_t size_ = 0;
};

/// Returns the cached decision of this call, or null. `key` contains the attributes; this function
/// appends op and inputs. A decision is valid until the cache is cleared: use it for one call only.
const Decision* find_decision(const DistArgs& args, CallKey& key);

/// The description of a call without its tensors.
struct CallDetails {
  AttributeList attributes;
  const GradMask* wanted;  // null: all outputs
  DataType dtype;          // of the kernel; UNDEFINED: none is launched
};
/// Runs the op's shape function, then its rule, and adds the decision to the cache. Errors: those
/// of both, with a description of the call's arguments.
const Decision& make_decision(const DistArgs& args, const CallKey& key, CallDetails&& details);

namespace detail {
inline void count_clipped(const OpDef& op) {
  RankContext& rank = RankContext::current();
  ++rank.counters().ops_clipped;
  if (rank.observers().any_traces()) [[unlikely]]
    rank.observers().each_trace([&](Trace& trace) { trace.add(TraceKind::kClipped, op.name); });
}
}  // namespace detail

}  // namespace phi
