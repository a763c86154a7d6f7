// LaunchStep: a kernel launch with all its arguments, as a step that a captured program repeats.
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

/// A kernel's arguments of any signature, stored by value.
class StoredArgs {
 public:
  explicit StoredArgs(const OpDef& op) : op_(op) {}
  StoredArgs(const StoredArgs&);
  StoredArgs(StoredArgs&&) noexcept;
  ~StoredArgs();

  // Arguments are added one by one, in the kernel's order.
  void add(const DenseTensor& x) { add(&x); }
  void add(const DenseTensor* x);
  void add(std::span<const DenseTensor* const> list);
  void add(DenseTensor* x);
  void add(std::span<DenseTensor* const> list);
  /// T: a type of attribute_types.h, optional or not.
  template <typename T>
  void add(const T& value);

  /// Returns argument number i in the kernel's parameter type. Requires a call of
  /// `point_to_arrays` after the last change.
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
  /// Sets argument number i, an int or int64_t, to this seed.
  void set_seed(size_t i, int32_t seed);

  void visit(const Step::Visitor& visitor);
  /// The estimated work of the launch.
  StepCost cost();

 private:
  /// A captured step's arrays have no storage, so a flag marks an argument as absent.
  struct Array {
    DenseTensor array;
    bool is_there;
    Access access;
    size_t tensor;  // number among the op's inputs, followed by its outputs
  };
  /// The arrays of an argument (a range of arrays_), or its value (an element of values_).
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
  /// Calls a kernel of one signature with its stored arguments.
  using LaunchFunction = void (*)(Kernel::Erased kernel, const KernelContext& context,
                                  const StoredArgs& args);

  LaunchStep(const OpDef& op, DataType dtype, const Place& place,
             std::shared_ptr<const LaunchView> view, StoredArgs&& args, LaunchFunction run);

  /// Makes each run draw a new seed for the kernel.
  void draw(const DrawAtRun& draw) { draw_ = draw; }
  const char* name() const override { return op_.name; }
  void visit(const Visitor& visitor) override { args_.visit(visitor); }
  void run() override;
  std::unique_ptr<Step> clone() const override { return std::make_unique<LaunchStep>(*this); }
  bool is_repeatable() const override { return !has_messages() && !calls_ring() && !draw_; }
  // A kernel that exchanges messages has a dry kernel, which counts them. On plain tensors it
  // exchanges none.
  bool has_messages() const override {
    return view_ && !calls_ring() && op_.kernel.find_dry(dtype_) != nullptr;
  }
  StepCost cost() override { return args_.cost(); }

 private:
  void plan();
  /// Whether the op is a communication operator (it has a ring_id). Its messages do not appear in
  /// the program's values.
  bool calls_ring() const;

  const OpDef& op_;
  DataType dtype_;
  Place place_;
  Kernel::Erased kernel_;  // null if the op is declared only
  std::shared_ptr<const LaunchView> view_;
  StoredArgs args_;
  LaunchFunction run_;
  std::optional<DrawAtRun> draw_ = std::nullopt;
};

}  // namespace phi::detail
