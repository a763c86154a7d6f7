// Stores a kernel's arguments and launches the kernel with them.
#include "api/call/launch_step.h"

#include <algorithm>
#include <string_view>

#include "api/call/planned_launch.h"
#include "phi/core/attribute_types.h"
#include "phi/core/device/device.h"
#include "phi/core/launch_args.h"
#include "phi/core/rank_context.h"
#include "phi/kernels/functors/drawn_seed.h"

namespace phi::detail {

StoredArgs::StoredArgs(const StoredArgs&) = default;
StoredArgs::StoredArgs(StoredArgs&&) noexcept = default;
StoredArgs::~StoredArgs() = default;

void StoredArgs::keep(const DenseTensor* x, Access access, size_t tensor) {
  arrays_.push_back({x ? *x : DenseTensor(), x != nullptr, access, tensor});
}

void StoredArgs::read(std::span<const DenseTensor* const> list) {
  slots_.push_back({arrays_.size(), list.size()});
  const Access access = op_.is_unread(position_) ? Access::kShape : Access::kRead;
  for (const DenseTensor* x : list) keep(x, access, static_cast<size_t>(op_.taken[position_]));
  ++position_;
}

void StoredArgs::write(std::span<DenseTensor* const> list) {
  slots_.push_back({arrays_.size(), list.size()});
  for (const DenseTensor* x : list) keep(x, Access::kWrite, op_.inputs.size() + output_);
  ++output_;
}

void StoredArgs::add(const DenseTensor* x) { read({&x, 1}); }
void StoredArgs::add(std::span<const DenseTensor* const> list) { read(list); }
void StoredArgs::add(DenseTensor* x) { write({&x, 1}); }
void StoredArgs::add(std::span<DenseTensor* const> list) { write(list); }

template <typename T>
void StoredArgs::add(const T& value) {
  slots_.push_back({values_.size(), 1});
  values_.emplace_back(value);
}

template <typename T>
const T& StoredArgs::value(size_t i) const {
  return *std::any_cast<T>(&values_[i]);
}

#define PHI_HOLD(T)                        \
  template void StoredArgs::add(const T&); \
  template const T& StoredArgs::value<T>(size_t) const;
#define PHI_HOLD_ATTRIBUTE(T) PHI_HOLD(T) PHI_HOLD(std::optional<T>)
PHI_EACH_ATTRIBUTE_TYPE(PHI_HOLD_ATTRIBUTE)

void StoredArgs::point_to_arrays() {
  pointers_.clear();
  for (Array& each : arrays_) pointers_.push_back(each.is_there ? &each.array : nullptr);
}

void StoredArgs::set_seed(size_t i, int32_t seed) {
  std::any& held = values_[slots_[i].first];
  if (held.type() == typeid(int64_t)) {
    held = int64_t{seed};
  } else {
    held = int{seed};
  }
}

void StoredArgs::visit(const Step::Visitor& visitor) {
  for (Array& each : arrays_) {
    if (each.is_there) visitor(each.array, each.access);
  }
}

StepCost StoredArgs::cost() {
  StepCost cost;
  visit([&](DenseTensor& array, Access access) { cost.add(array, access); });
  if (op_.flops == nullptr) return cost;
  LaunchArgs args(op_.inputs.size() + op_.outputs.size(), values_);
  for (const Array& each : arrays_) {
    if (each.is_there) args.add(each.tensor, each.array.dims());
  }
  cost.flops = op_.flops(args);
  return cost;
}

LaunchStep::LaunchStep(const OpDef& op, DataType dtype, const Place& place,
                       std::shared_ptr<const LaunchView> view, StoredArgs&& args,
                       LaunchFunction run)
    : op_(op),
      dtype_(dtype),
      place_(place),
      kernel_(nullptr),
      view_(std::move(view)),
      args_(std::move(args)),
      run_(run) {
  // A program with a declared-only op can be inspected and run dry.
  if (!op.kernel.is_registered()) return;
  const DeviceKind kind = Device::of(place).kernels();
  op.kernel.check_has(kind, dtype);
  kernel_ = op.kernel.find(kind, dtype);
}

// The launch in a dry run: plans the arrays and the scratch memory, reports the launch and runs the
// dry kernel, as KernelLauncher::dry does for calls that are not captured.
void LaunchStep::plan() {
  plan_launch(op_, args_);
  const KernelContext context(place_, view_.get());
  args_.point_to_arrays();
  for (const auto function : {scratch_statement(op_, dtype_), op_.kernel.find_dry(dtype_)}) {
    if (function != nullptr) run_(function, context, args_);
  }
}

void LaunchStep::run() {
  if (RankContext::current().is_dry()) [[unlikely]]
    return plan();
  Device& device = Device::of(place_);
  if (kernel_ == nullptr) [[unlikely]]
    op_.kernel.check_has(device.kernels(), dtype_);
  const Device::Work work(device);
  const KernelContext context(place_, view_.get());
  args_.point_to_arrays();
  if (draw_) {
    const GeneratorState& state = RankContext::current().generator().state();
    args_.set_seed(draw_->slot, drawn_seed(state.seed, state.draws + draw_->number));
  }
  run_(kernel_, context, args_);
}

bool LaunchStep::calls_ring() const {
  return std::ranges::any_of(op_.attributes, [](const AttributeDef& attribute) {
    return std::string_view(attribute.name) == "ring_id";
  });
}

}  // namespace phi::detail
