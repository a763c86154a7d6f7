// LaunchStep: the launch of a kernel with all its arguments, to be run again.
#pragma once

#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "phi/core/device/device.h"
#include "phi/core/device/device_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/op_def.h"
#include "phi/core/step.h"

namespace phi::detail {

/// One argument of a kernel, kept by value. Arrays lose their storage while the step waits, so an
/// absent one is told by a flag.
template <typename Param>
class HeldArg {
 public:
  template <typename Arg>
  explicit HeldArg(const Arg& value) : value_(value) {}
  const std::decay_t<Param>& get() { return value_; }

 private:
  std::decay_t<Param> value_;
};

class HeldArray {
 public:
  HeldArray(const DenseTensor* array, Access access)
      : array_(array ? *array : DenseTensor()), present_(array != nullptr), access_(access) {}
  DenseTensor* get() { return present_ ? &array_ : nullptr; }
  void visit(const Step::Visitor& visitor, bool unread) {
    if (present_) visitor(array_, unread ? Access::kShape : access_);
  }

 private:
  DenseTensor array_;
  bool present_;
  Access access_;
};

template <>
class HeldArg<const DenseTensor&> : public HeldArray {
 public:
  explicit HeldArg(const DenseTensor& array) : HeldArray(&array, Access::kRead) {}
  const DenseTensor& get() { return *HeldArray::get(); }
};
template <>
class HeldArg<const DenseTensor*> : public HeldArray {
 public:
  explicit HeldArg(const DenseTensor* array) : HeldArray(array, Access::kRead) {}
};
template <>
class HeldArg<DenseTensor*> : public HeldArray {
 public:
  explicit HeldArg(DenseTensor* array) : HeldArray(array, Access::kWrite) {}
};

/// Array: DenseTensor or const DenseTensor.
template <typename Array>
class HeldList {
 public:
  HeldList(std::span<Array* const> arrays, Access access) {
    for (Array* array : arrays) arrays_.emplace_back(array, access);
  }
  std::span<Array* const> get() {
    pointers_.clear();
    for (HeldArray& array : arrays_) pointers_.push_back(array.get());
    return pointers_;
  }
  void visit(const Step::Visitor& visitor, bool unread) {
    for (HeldArray& array : arrays_) array.visit(visitor, unread);
  }

 private:
  std::vector<HeldArray> arrays_;
  std::vector<Array*> pointers_;
};
template <>
class HeldArg<std::span<const DenseTensor* const>> : public HeldList<const DenseTensor> {
 public:
  explicit HeldArg(std::span<const DenseTensor* const> arrays) : HeldList(arrays, Access::kRead) {}
};
template <>
class HeldArg<std::span<DenseTensor* const>> : public HeldList<DenseTensor> {
 public:
  explicit HeldArg(std::span<DenseTensor* const> arrays) : HeldList(arrays, Access::kWrite) {}
};

template <typename Param>
inline constexpr bool is_read =
    std::is_same_v<Param, const DenseTensor&> || std::is_same_v<Param, const DenseTensor*> ||
    std::is_same_v<Param, std::span<const DenseTensor* const>>;

template <typename Param>
inline constexpr bool is_written =
    std::is_same_v<Param, DenseTensor*> || std::is_same_v<Param, std::span<DenseTensor* const>>;

template <typename Signature>
class LaunchStep;

template <typename... Params>
class LaunchStep<KernelSignature<Params...>> final : public Step {
 public:
  using Kernel = typename KernelSignature<Params...>::Function;

  template <typename... Args>
  LaunchStep(const OpDef& op, DataType dtype, const Place& place,
             std::shared_ptr<const LaunchView> view, const Args&... args)
      : op_(op),
        dtype_(dtype),
        place_(place),
        kernel_(kernel_of(op, dtype, place)),
        view_(std::move(view)),
        args_(HeldArg<Params>(args)...) {}

  const char* name() const override { return op_.name; }
  void visit(const Visitor& visitor) override {
    for_each_argument([&](auto& arg, size_t, bool unread) { arg.visit(visitor, unread); });
  }
  void run() override {
    if (kernel_ == nullptr) [[unlikely]]
      op_.kernel.check_has(Device::of(place_).kernels(), dtype_);
    const Device::Work work(Device::of(place_));
    const KernelContext context(place_, view_.get());
    std::apply([&](auto&... args) { kernel_(context, args.get()...); }, args_);
  }
  std::unique_ptr<Step> clone() const override { return std::make_unique<LaunchStep>(*this); }
  // Kernels that talk to other ranks have a dry form, which counts their messages.
  bool is_repeatable() const override { return op_.kernel.find_dry(dtype_) == nullptr; }
  StepCost cost() override {
    StepCost cost = Step::cost();
    if (op_.flops == nullptr) return cost;
    std::vector<Dims> shapes(op_.inputs.size() + op_.outputs.size(), Dims{0});
    for_each_argument([&](auto& arg, size_t tensor, bool unread) {
      arg.visit([&](DenseTensor& array, Access) { shapes[tensor] = array.dims(); }, unread);
    });
    cost.flops = op_.flops(shapes);
    return cost;
  }

 private:
  // Null where the op is declared only: its programs are looked at and run dry.
  static Kernel kernel_of(const OpDef& op, DataType dtype, const Place& place) {
    if (!op.kernel.is_registered()) return nullptr;
    return op.kernel.select<KernelSignature<Params...>>(Device::of(place).kernels(), dtype);
  }
  // f(arg, tensor, unread): `tensor` counts the op's inputs, then its outputs. Arguments that are
  // no arrays have none to be visited.
  template <typename F>
  void for_each_argument(F&& f) {
    size_t position = 0;  // among the kernel's tensor arguments
    size_t output = op_.inputs.size();
    const auto visit = [&]<typename Param>(HeldArg<Param>& arg) {
      if constexpr (is_read<Param>) {
        f(arg, static_cast<size_t>(op_.taken[position]), op_.is_unread(position));
        ++position;
      } else if constexpr (is_written<Param>) {
        f(arg, output++, false);
      }
    };
    std::apply([&](auto&... args) { (visit(args), ...); }, args_);
  }

  const OpDef& op_;
  DataType dtype_;
  Place place_;
  Kernel kernel_;
  std::shared_ptr<const LaunchView> view_;
  std::tuple<HeldArg<Params>...> args_;
};

}  // namespace phi::detail
