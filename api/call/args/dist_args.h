// The tensor arguments of a distributed call. DistArgs describes them on one mesh; LocalArgs
// reshards them to the attributes that the op's rule requires.
//
// Slots number the tensors of all arguments in order: a list has one slot per element, and an
// absent optional tensor has an empty slot.
#pragma once

#include <list>
#include <vector>

#include "api/call/args/args.h"
#include "api/call/call_key.h"
#include "api/rules/rule_functions.h"
#include "phi/core/op_def.h"

namespace phi {

class Decision;

class DistArgs {
 public:
  template <typename... Args>
  explicit DistArgs(const OpDef& op, const Args&... args) : op_(op) {
    (add(args), ...);
    choose_mesh();
  }
  DistArgs(const DistArgs&) = delete;
  DistArgs& operator=(const DistArgs&) = delete;
  ~DistArgs();

  const OpDef& op() const { return op_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// The common place of all tensors, or the rank's place if there are none. Errors:
  /// InvalidArgument if their places differ.
  Place place() const;
  size_t num_slots() const { return slots_.size(); }
  /// Null for an absent optional tensor.
  const distributed::DistTensor* slot(size_t i) const { return slots_[i]; }

  void append_to(CallKey& key) const;

  /// The arguments in the form that rule and shape function accept. An input on another mesh has
  /// the placements with which it will arrive on the op's mesh.
  RuleArgs rule_args(std::vector<AttributeValue> attributes) const;

  struct SlotRange {
    int first;
    int count;
  };
  const SlotRange& range(int arg) const { return ranges_[arg]; }
  /// Bit i is set if the call uses only the metadata of slot i.
  uint64_t meta_only_slots() const;
  /// "x f32[64,32] [S0] on mesh(dp=2), y ...", for error messages.
  std::string describe() const;

 private:
  // Arg: Tensor, OptionalTensor or TensorList.
  template <typename Arg>
  void add(const Arg& arg);
  void add_slot(const Tensor& x);
  // Names the last slot added; its argument began at slot `first`.
  [[noreturn]] void throw_undefined(bool in_list, int first) const;
  // Chooses the op's mesh and describes plain tensors as replicated on it. The mesh is that of the
  // last distributed input that is not 0-D, or of the last distributed input if all are 0-D. In an
  // op's arguments activations come first and weights last, so weights stay where they are.
  void choose_mesh();

  const OpDef& op_;
  distributed::ProcessMesh mesh_;
  InlineVector<const distributed::DistTensor*, 8> slots_;
  InlineVector<const Tensor*, 8> plain_;  // parallel to slots_: set where the argument is plain
  InlineVector<SlotRange, 8> ranges_;
  bool any_plain_ = false;
  std::list<distributed::DistTensor> replicated_;  // plain arguments on the mesh
};

/// The local arrays that are passed to the kernel, by argument.
class LocalArgs {
 public:
  LocalArgs(const DistArgs& args, const Decision& decision);
  LocalArgs(const LocalArgs&) = delete;
  LocalArgs& operator=(const LocalArgs&) = delete;
  ~LocalArgs();

  const DenseTensor& operator[](int arg) const { return *arrays_[args_.range(arg).first]; }
  const DenseTensor* optional(int arg) const { return arrays_[args_.range(arg).first]; }
  std::span<const DenseTensor* const> list(int arg) const {
    const auto& range = args_.range(arg);
    return {arrays_.data() + range.first, static_cast<size_t>(range.count)};
  }

 private:
  const DistArgs& args_;
  InlineVector<const DenseTensor*, 8> arrays_;
  std::list<distributed::DistTensor> resharded_;
};

/// Reshards inputs whose distributed attribute differs from the required one, each distinct input
/// once. Collective over the meshes involved: a rank that only sends must call it too.
inline LocalArgs reshard_inputs(const DistArgs& args, const Decision& decision) {
  return LocalArgs(args, decision);
}

}  // namespace phi
