// The tensor arguments of a distributed call: brought onto one mesh as far as their description
// goes, later resharded to what the op's rule asks for.
//
// Slots: every tensor of every argument counts one, in order; a list has a slot per element, an
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
    settle();
  }
  DistArgs(const DistArgs&) = delete;
  DistArgs& operator=(const DistArgs&) = delete;
  ~DistArgs();

  const OpDef& op() const { return op_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  /// That of all tensors; the rank's if there are none. Errors: InvalidArgument if they lie on
  /// several.
  Place place() const;
  size_t num_slots() const { return slots_.size(); }
  /// Null for an absent optional tensor.
  const distributed::DistTensor* slot(size_t i) const { return slots_[i]; }

  void append_to(CallKey& key) const;

  /// As rule and shape function take them: inputs of other meshes as they will arrive.
  RuleArgs question(std::vector<AttributeValue> attributes) const;

  struct Range {
    int first;
    int count;
  };
  const Range& range(int arg) const { return ranges_[arg]; }
  /// Bit i: the bytes of slot i are not used.
  uint64_t meta_only_slots() const;
  /// "x f32[64,32] [S0] on mesh(dp=2), y ...": for messages.
  std::string describe() const;

 private:
  // Arg: Tensor, OptionalTensor or TensorList.
  template <typename Arg>
  void add(const Arg& arg);
  void add_slot(const Tensor& x);
  // The last slot of the argument that is being added and began with slot `first`.
  [[noreturn]] void throw_undefined(bool in_list, int first) const;
  // Chooses the op's mesh and lets plain tensors be replicated on it. The mesh is that of the last
  // distributed input that is not 0-D, of the last one if all are: in an op's arguments activations
  // come first and weights last, and weights stay where they are.
  void settle();

  const OpDef& op_;
  distributed::ProcessMesh mesh_;
  InlineVector<const distributed::DistTensor*, 8> slots_;
  InlineVector<const Tensor*, 8> plain_;  // parallel to slots_: set where the argument is plain
  InlineVector<Range, 8> ranges_;
  bool any_plain_ = false;
  std::list<distributed::DistTensor> replicated_;  // plain arguments on the mesh
};

/// The local arrays that the kernel takes, by argument.
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

/// Collective over the meshes that take part: inputs whose attr is not the one asked for are moved,
/// each distinct one once; this rank takes part as a sender too.
inline LocalArgs reshard_inputs(const DistArgs& args, const Decision& decision) {
  return LocalArgs(args, decision);
}

}  // namespace phi
