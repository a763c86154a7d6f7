// Partial propagation: laws that state how an operator's outputs depend on inputs that may be
// partial. If they allow it, a call leaves an input partial and its output becomes partial; the
// reduction then occurs later, when the value may be smaller or a sum of several values. An
// operator's laws are the `partial` key of its YAML entry (docs/op_yaml.md); there is no other
// list.
//
//   | x + y        a sum of terms; a term is a product of named inputs, with coefficients that
//   |              depend on all other inputs, which are whole. P(sum) passes if each term has
//   |              exactly one partial factor, P(avg) if each has at most one
//   | 1, bias      a constant, of an attribute if that is not 0: stops P(sum), not P(avg)
//   | up x         increases with x, element by element: P(max) and P(min), for bool P(any), P(all)
//   | down x       decreases with x: P(max) becomes P(min), P(any) becomes P(all), and vice versa
//   | join x y     a maximum of elements of both: P(max) of any of them, and P(any)
//   | meet x y     a minimum: P(min) and P(all)
//   | pick x y     each element is one of theirs or a constant: P(max), P(min), P(any), P(all)
//   | each x       output i depends on element i of the list x, and picks from it: P(any kind)
//
// An input that no law names must be whole. An output is whole if its laws name no partial input.
// Rules that pass partial values themselves (Factors::pass_partial) do so before this.
//
// Policies:
// - No additional traffic: the outputs that become partial have no more bytes than the inputs that
//   stay partial. A later reduction therefore never moves more, and it moves less if values are
//   added or sliced before it.
// - No loss of precision: sums and averages pass only if inputs and output have the same floating
//   dtype (a complex dtype counts as that of its parts). A cast of a partial sum to another dtype
//   requires the reduction first. Only the last bits differ: the parts are rounded instead of the
//   value, in half precision to 8 or 11 bits of the part.
// - Coefficients are finite for finite inputs. `divide` therefore has no law: parts of both signs,
//   divided by 0, would add up to NaN. Monotonic laws hold up to rounding, and NaN yields NaN.
// - Over the mesh dim of a partial value everything else is whole. Over other mesh dims the reduce
//   kinds must commute: sums and averages with each other, other kinds with themselves.
#pragma once

#include <cstdint>

#include "distributed/spmd/spec.h"

namespace phi {

class RuleArgs;
struct RuleFunctions;

struct PartialPropagation {
  enum class Kind : uint8_t { kTerm, kConstant, kUp, kDown, kJoin, kMeet, kPick, kEach };
  Kind kind;
  int8_t output;     // -1: every output
  int8_t attribute;  // of a constant: if this attribute is 0 there is no constant; -1: always one
  uint32_t args;     // bits of tensor arguments: the factors, or the inputs that are picked from
  // For kTerm: bits of list arguments whose elements are multiplied. Elements of other lists are
  // added.
  uint32_t products;
};

/// Returns `inference`, the rule's result, with inputs left partial where the laws allow it.
distributed::SpmdResult propagate_partials(const RuleFunctions& functions, const RuleArgs& args,
                                           distributed::SpmdResult inference);

}  // namespace phi
