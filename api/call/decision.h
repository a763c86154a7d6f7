// Decision: everything about a distributed call that follows from meta alone, found once and
// cached: the attrs that inputs must have, global meta and attr of the outputs, this rank's local
// shapes.
#pragma once

#include <memory>
#include <vector>

#include "api/call/dist_args.h"
#include "phi/core/device_context.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace.h"
#include "phi/infermeta/output_metas.h"

namespace phi {

/// What a rule and a shape function say of one call.
struct Inferred {
  distributed::SpmdResult spmd;
  OutputMetas outputs;
  DataType dtype = DataType::UNDEFINED;  // of the kernel that will be launched, if one will
};

/// The answer where an op has no rule: all inputs and all `num_outputs` outputs replicated.
distributed::SpmdResult replicated(const DistArgs& args, size_t num_outputs);

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

  /// Errors: Internal if rule and shape function do not agree on the number of tensors;
  /// Unimplemented, on every rank alike, if the op has no kernel of this dtype.
  Decision(const DistArgs& args, const Inferred& inferred);

  const OpDef& op() const { return op_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// This rank is in the op's mesh; found here for all who need to know.
  bool computes_here() const { return computes_here_; }
  const Input& input(size_t slot) const { return inputs_[slot]; }
  const Output& output(size_t slot) const { return outputs_[slot]; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }

  const ShardBox& input_box(int i) const override { return inputs_[i].box; }
  const ShardBox& output_box(int i) const override { return outputs_[i].box; }
  void combine_over(int i, int tensor_dim, CombineKind kind, DenseTensor* values) const override;

 private:
  const OpDef& op_;
  distributed::ProcessMesh mesh_;
  bool computes_here_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
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

namespace detail {
/// Adds what the call was to an error that rule or shape function threw.
[[noreturn]] void rethrow_with_inputs(const DistArgs& args);

inline void count_clipped(const OpDef& op) {
  RankContext& rank = RankContext::current();
  ++rank.counters().ops_clipped;
  if (Trace* trace = rank.trace()) [[unlikely]]
    trace->add(TraceKind::kClipped, op.name);
}
}  // namespace detail

/// The decision for this call: from the cache, or `infer()` asked. `key` has the attributes; op and
/// inputs are added to it. A decision lives until the cache is cleared; callers use it for the one
/// call.
template <typename Infer>
const Decision& decide(const OpDef& op, const DistArgs& args, CallKey& key, Infer&& infer) {
  key.append(op.id);
  args.append_to(key);
  const uint64_t hash = key.hash();
  DecisionCache& cache = DecisionCache::current();
  const Decision* decision = cache.find(key, hash);
  if (!decision) [[unlikely]] {
    try {
      args.prepare();
      decision = &cache.add(key, hash, std::make_shared<const Decision>(args, infer()));
    } catch (const Error&) {
      detail::rethrow_with_inputs(args);
    }
  }
  if (!decision->computes_here()) detail::count_clipped(op);
  return *decision;
}

}  // namespace phi
