// LaunchStep: the launch of a kernel with all its arguments, to be run again.
#pragma once

#include <any>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "phi/core/device/device_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/op_def.h"
#include "phi/core/recorder.h"
#include "phi/core/step.h"

namespace phi::detail {

/// A kernel's arguments, kept by value, whatever its signature.
class HeldArgs {
 public:
  explicit HeldArgs(const OpDef& op) : op_(op) {}
  HeldArgs(const HeldArgs&);
  HeldArgs(HeldArgs&&) noexcept;
  ~HeldArgs();

  // Taken one by one, in the kernel's order.
  void add(const DenseTensor& x) { add(&x); }
  void add(const DenseTensor* x);
  void add(std::span<const DenseTensor* const> list);
  void add(DenseTensor* x);
  void add(std::span<DenseTensor* const> list);
  /// T: one of attribute_types.h, optional or not.
  template <typename T>
  void add(const T& value);

  /// Argument number i, of the type with which the kernel takes it; after `point_to_arrays`.
  template <typename Param>
  Param get(size_t i) const {
    const Slot& slot = slots_[i];
    if constexpr (std::is_same_v<Param, const DenseTensor&>) {
      return *pointers_[slot.first];
    } else if constexpr (std::is_same_v<Param, const DenseTensor*> ||
                         std::is_same_v<Param, DenseTensor*>) {
      return pointers_[slot.first];
    } else if constexpr (std::is_same_v<Param, std::span<const DenseTensor* const>>) {
      const DenseTensor* const* first = pointers_.data() + slot.first;
      return {first, slot.count};
    } else if constexpr (std::is_same_v<Param, std::span<DenseTensor* const>>) {
      return {pointers_.data() + slot.first, slot.count};
    } else {
      return value<std::decay_t<Param>>(slot.first);
    }
  }
  void point_to_arrays();
  /// Argument number i, an integer of either width, becomes this seed.
  void set_seed(size_t i, int32_t seed);

  void visit(const Step::Visitor& visitor);
  /// Of the op's inputs and, behind them, its outputs; [0] for one that the kernel does not have.
  std::vector<Dims> shapes() const;

 private:
  /// Arrays lose their storage while the step waits, so an absent one is told by a flag.
  struct Array {
    DenseTensor array;
    bool is_there;
    Access access;
    size_t tensor;  // of the op: inputs, then outputs
  };
  /// The arrays of an argument, or its value.
  struct Slot {
    size_t first;
    size_t count;
  };
  template <typename T>
  const T& value(size_t i) const;
  void keep(const DenseTensor* x, Access access, size_t tensor);
  void read(std::span<const DenseTensor* const> list);
  void write(std::span<DenseTensor* const> list);

  const OpDef& op_;
  std::vector<Slot> slots_;
  std::vector<Array> arrays_;
  std::vector<DenseTensor*> pointers_;  // to each array, null where it is absent
  std::vector<std::any> values_;
  size_t position_ = 0;  // among the kernel's tensor arguments
  size_t output_ = 0;
};

class LaunchStep final : public Step {
 public:
  /// Calls a kernel of one signature.
  using Run = void (*)(Kernel::Erased kernel, const KernelContext& context, const HeldArgs& args);

  LaunchStep(const OpDef& op, DataType dtype, const Place& place,
             std::shared_ptr<const LaunchView> view, HeldArgs&& args, Run run);

  /// Each run draws the seed anew.
  void draw(const DrawAtRun& draw) { draw_ = draw; }
  const char* name() const override { return op_.name; }
  void visit(const Visitor& visitor) override { args_.visit(visitor); }
  void run() override;
  std::unique_ptr<Step> clone() const override { return std::make_unique<LaunchStep>(*this); }
  bool is_repeatable() const override { return !has_messages() && !calls_ring() && !draw_; }
  // Kernels that talk to other ranks have a dry form, which counts their messages. Plain tensors
  // give them nothing to say.
  bool has_messages() const override {
    return view_ && !calls_ring() && op_.kernel.find_dry(dtype_) != nullptr;
  }
  StepCost cost() override;

 private:
  /// A communication operator's: what the program's values show nothing of.
  bool calls_ring() const;

  const OpDef& op_;
  DataType dtype_;
  Place place_;
  Kernel::Erased kernel_;  // null where the op is declared only
  std::shared_ptr<const LaunchView> view_;
  HeldArgs args_;
  Run run_;
  std::optional<DrawAtRun> draw_ = std::nullopt;
};

}  // namespace phi::detail
