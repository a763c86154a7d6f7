// Chooses the op's mesh, describes inputs for rules, and reshards inputs.
#include "api/call/args/dist_args.h"

#include "api/call/args/common_place.h"
#include "api/call/args/translate_mesh.h"
#include "api/call/decision.h"
#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

using distributed::DistTensor;
using distributed::TensorDistAttr;

void DistArgs::throw_undefined(bool in_list, int first) const {
  const int element = static_cast<int>(slots_.size()) - 1 - first;
  throw errors::InvalidArgument("{}argument '{}' is an undefined tensor.",
                                in_list ? fmt::format("element {} of ", element) : "",
                                op_.inputs[ranges_.size()]);
}

template <typename Arg>
void DistArgs::add(const Arg& arg) {
  const int first = static_cast<int>(slots_.size());
  for_each_slot(arg, [&](const Tensor& x) {
    add_slot(x);
    if (!x.defined() && !std::is_same_v<Arg, OptionalTensor>)
      throw_undefined(std::is_same_v<Arg, TensorList>, first);
  });
  ranges_.push_back({first, static_cast<int>(slots_.size()) - first});
}

template void DistArgs::add(const Tensor&);
template void DistArgs::add(const OptionalTensor&);
template void DistArgs::add(const TensorList&);

DistArgs::~DistArgs() = default;

void DistArgs::add_slot(const Tensor& x) {
  const bool dist = x.defined() && x.is_dist();
  slots_.push_back(dist ? &x.dist() : nullptr);
  plain_.push_back(dist || !x.defined() ? nullptr : &x);
  any_plain_ = any_plain_ || (x.defined() && !dist);
}

void DistArgs::choose_mesh() {
  bool found = false;
  for (const DistTensor* x : slots_) {
    if (!x || (found && x->dims().ndim() == 0)) continue;
    mesh_ = x->mesh();
    found = x->dims().ndim() > 0;
  }
  if (!any_plain_) return;
  const TensorDistAttr* attr = TensorDistAttr::replicated(mesh_);
  const bool in_mesh = mesh_.contains(RankContext::current().rank());
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!plain_[i]) continue;
    const DenseTensor& dense = plain_[i]->dense();
    replicated_.push_back(in_mesh
                              ? DistTensor(dense.meta(), attr, dense)
                              : DistTensor::clipped(dense.meta(), attr, dense.place(), op_.name));
    slots_[i] = &replicated_.back();
  }
}

void DistArgs::append_to(CallKey& key) const {
  key.append(reinterpret_cast<uintptr_t>(mesh_.id()));
  key.append(static_cast<int32_t>(slots_.size()));
  for (const DistTensor* x : slots_) {
    key.append(x ? reinterpret_cast<uintptr_t>(x->attr()) : 0);
    if (!x) continue;
    const Place& place = x->place();
    key.append(static_cast<int32_t>(x->dtype()) | x->dims().ndim() << 8 |
               static_cast<int32_t>(place.kind) << 16 | place.index << 24);
    key.append_bytes(x->dims().begin(), x->dims().ndim() * sizeof(int64_t));
  }
}

Place DistArgs::place() const {
  const DistTensor* first = nullptr;
  for (const DistTensor* x : slots_) {
    if (!x) continue;
    if (!first) first = x;
    if (x->place() != first->place()) throw_several_places(op_, first->place(), x->place());
  }
  return first ? first->place() : RankContext::current().place();
}

uint64_t DistArgs::meta_only_slots() const {
  if (op_.meta_only == 0) return 0;
  uint64_t slots = 0;
  for (size_t arg = 0; arg < ranges_.size(); ++arg) {
    if (!((op_.meta_only >> arg) & 1u)) continue;
    for (int i = 0; i < ranges_[arg].count; ++i) slots |= uint64_t{1} << (ranges_[arg].first + i);
  }
  return slots;
}

RuleArgs DistArgs::rule_args(std::vector<AttributeValue> attributes) const {
  RuleArgs rule_args(mesh_, std::move(attributes));
  for (size_t arg = 0; arg < ranges_.size(); ++arg) {
    rule_args.add_argument();
    for (int i = 0; i < ranges_[arg].count; ++i) {
      const DistTensor* x = slots_[ranges_[arg].first + i];
      if (!x) {
        rule_args.add({}, {});
        continue;
      }
      const auto* attr = x->mesh() == mesh_ ? x->attr() : translate_to_mesh(*x->attr(), mesh_);
      rule_args.add({x->dims(), attr, op_.inputs[arg]}, x->meta());
    }
  }
  return rule_args;
}

std::string DistArgs::describe() const {
  std::string out;
  for (size_t arg = 0; arg < ranges_.size(); ++arg) {
    for (int i = 0; i < ranges_[arg].count; ++i) {
      const DistTensor* x = slots_[ranges_[arg].first + i];
      if (!x) continue;
      out +=
          fmt::format("{}{}{} {}", out.empty() ? "" : ", ", op_.inputs[arg],
                      ranges_[arg].count > 1 ? "[" + std::to_string(i) + "]" : "", x->to_string());
    }
  }
  return out;
}

namespace {
// x under `attr`, without bytes: the kernel reads only its local dims.
DistTensor meta_laid_out(const DistTensor& x, const TensorDistAttr* attr) {
  const auto coord = attr->mesh().coord_of(distributed::World::current().rank());
  if (!coord) return x;
  const Dims dims = distributed::local_box(x.dims(), *attr, *coord).size;
  return {x.meta(), attr, DenseTensor({dims, x.dtype()}, nullptr)};
}
}  // namespace

LocalArgs::~LocalArgs() = default;

LocalArgs::LocalArgs(const DistArgs& args, const Decision& decision) : args_(args) {
  const uint64_t unread = args.meta_only_slots();
  for (size_t i = 0; i < args.num_slots(); ++i) {
    const DistTensor* x = args.slot(i);
    const TensorDistAttr* wanted = x ? decision.input(i).attr : nullptr;
    if (!x || x->attr() == wanted) {
      arrays_.push_back(x ? &x->local() : nullptr);
      continue;
    }
    if (i < 64 && (unread >> i) & 1u) {
      resharded_.push_back(meta_laid_out(*x, wanted));
      arrays_.push_back(&resharded_.back().local());
      continue;
    }
    // A tensor that is passed twice is resharded once. It is recognised by its handle, which all
    // ranks agree on; storages are no criterion, as views share one only on ranks with bytes.
    const DenseTensor* moved = nullptr;
    for (size_t before = 0; before < i && !moved; ++before) {
      if (args.slot(before) == x && decision.input(before).attr == wanted) moved = arrays_[before];
    }
    if (!moved) {
      resharded_.push_back(distributed::reshard(*x, wanted));
      moved = &resharded_.back().local();
    }
    arrays_.push_back(moved);
  }
}

}  // namespace phi
