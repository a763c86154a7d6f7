// Builds and caches decisions.
#include "api/call/decision.h"

#include "api/call/suppress_combines.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"

namespace phi {

using distributed::TensorDistAttr;

Decision::Decision(const DistArgs& args, const distributed::SpmdResult& spmd,
                   const OutputMetas& outputs, DataType dtype)
    : op_(args.op()), mesh_(args.mesh()), place_(args.place()) {
  const auto coord = mesh_.coord_of(RankContext::current().rank());
  computes_here_ = coord.has_value();
  const auto box_of = [&](const Dims& dims, const TensorDistAttr& attr) {
    return ShardBox{dims, coord ? distributed::local_box(dims, attr, *coord)
                                : Box::whole(Dims::filled(dims.ndim(), 0))};
  };
  // Ranks that do not launch check too, so that a missing kernel is an error on every rank.
  const bool is_declared_only = !op_.kernel.is_registered() && RankContext::current().is_dry();
  if (dtype != DataType::UNDEFINED && !is_declared_only) {
    op_.kernel.check_has(Device::of(place_).kernels(), dtype);
  }
  for (size_t i = 0; i < args.num_slots(); ++i) {
    if (!args.slot(i)) {
      inputs_.push_back({});
      continue;
    }
    inputs_.push_back({spmd.inputs[i], box_of(args.slot(i)->dims(), *spmd.inputs[i])});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) {
      outputs_.push_back({});
      continue;
    }
    Output out{true, *outputs[i], spmd.outputs[i], {}, {}};
    out.attr->check_fits(out.global.dims);
    out.local = {Dims::filled(out.global.dims.ndim(), 0), out.global.dtype, out.global.layout};
    if (out.global.dims.known()) {
      out.global.dims.check_fits(size_of(out.global.dtype));
      out.box = box_of(out.global.dims, *out.attr);
      out.local.dims = out.box.box.size;
    }
    outputs_.push_back(out);
  }
  for (size_t i = 0; i < outputs.num_outputs(); ++i) ends_.push_back(outputs.slots_of(i).second);
}

void Decision::combine_over(int i, int tensor_dim, CombineKind kind, DenseTensor* values) const {
  if (SuppressCombines::is_active()) [[unlikely]]
    return;
  const auto reduce =
      kind == CombineKind::kSum ? distributed::ReduceKind::kSum : distributed::ReduceKind::kMax;
  auto& communicator = distributed::World::current().communicator(values->place());
  ArrayAt bytes;
  if (values->initialized()) bytes = ArrayAt(communicator.device(), *values, ArrayAt::kUpdate);
  for (int m : inputs_[i].attr->mesh_dims_of(tensor_dim)) {
    communicator.group(mesh_.sub_ranks(communicator.rank(), m))
        .all_reduce(bytes.data(), values->numel(), values->dtype(), reduce);
  }
  bytes.finish();
}

DecisionCache& DecisionCache::current() {
  // Decisions depend on the rank. A thread that enters another world (a test that emulates several
  // ranks) therefore starts an empty cache.
  thread_local DecisionCache cache;
  thread_local uint64_t world_id = 0;
  const uint64_t now = distributed::World::current().id();
  if (world_id != now) {
    cache.clear();
    world_id = now;
  }
  return cache;
}

const Decision* DecisionCache::find(const CallKey& key, uint64_t hash) const {
  if (table_.empty()) return nullptr;
  const size_t mask = table_.size() - 1;
  for (size_t at = hash & mask; table_[at].decision; at = (at + 1) & mask) {
    if (table_[at].hash == hash && table_[at].key == key.view()) return table_[at].decision.get();
  }
  return nullptr;
}

const Decision& DecisionCache::add(const CallKey& key, uint64_t hash,
                                   std::shared_ptr<const Decision> decision) {
  if (size_ == kMaxEntries) clear();
  if (2 * (size_ + 1) > table_.size()) grow();
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  while (table_[at].decision) at = (at + 1) & mask;
  table_[at] = {hash, std::string(key.view()), std::move(decision)};
  ++size_;
  return *table_[at].decision;
}

void DecisionCache::grow() {
  std::vector<Entry> old(std::max<size_t>(64, table_.size() * 2));
  old.swap(table_);
  const size_t mask = table_.size() - 1;
  for (Entry& entry : old) {
    if (!entry.decision) continue;
    size_t at = entry.hash & mask;
    while (table_[at].decision) at = (at + 1) & mask;
    table_[at] = std::move(entry);
  }
}

void DecisionCache::clear() {
  table_.clear();
  size_ = 0;
}

const Decision* find_decision(const DistArgs& args, CallKey& key) {
  key.append(&args.op());
  args.append_to(key);
  return DecisionCache::current().find(key, key.hash());
}

const Decision& make_decision(const DistArgs& args, const CallKey& key, CallDetails&& details) {
  try {
    const RuleFunctions& rule = args.op().rule;
    const RuleArgs rule_args = args.rule_args(details.attributes.take());
    OutputMetas outputs = rule.infer_meta(rule_args);
    if (details.wanted) details.wanted->select(outputs);
    const auto spmd = rule.forward(rule_args, outputs.size());
    return DecisionCache::current().add(
        key, key.hash(), std::make_shared<const Decision>(args, spmd, outputs, details.dtype));
  } catch (Error& error) {
    error.note("called with " + args.describe());
    throw;
  }
}

}  // namespace phi
