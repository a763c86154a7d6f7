// Partial laws: what an operator's outputs are of inputs that may be partial, so that a partial
// value passes the call and is reduced later, when it may be smaller or have been added to others.
// An entry's key `partial` says it (docs/op_yaml.md); nothing else lists them.
//
//   | x + y        the sum of the parts of x and y, if both are partial, is that of the sum. A sum
//   |              of products with coefficients made of all other inputs, which are whole:
//   |              P(sum) where each product has one partial factor, P(avg) where none has more
//   | 1, bias      a constant, of an attribute where that is not 0: stops a sum, not an average
//   | up x         grows with x, element by element: P(max) and P(min), of bool P(any) and P(all)
//   | down x       falls as x grows: P(max) becomes P(min), P(any) becomes P(all), and back
//   | join x y     a maximum of elements of both: P(max) of any of them, and P(any)
//   | meet x y     a minimum: P(min) and P(all)
//   | pick x y     each element is one of theirs or a constant: P(max), P(min), P(any), P(all)
//   | each x       output i is made of element i of the list x, and picks from it: P(any kind)
//
// An input that no law names needs to be whole, and an output is whole where its laws name no
// partial input. What rules pass by themselves (Factors::pass_partial) they pass before this.
//
// Policies:
// - It costs nothing: outputs that become partial have no more bytes than the inputs that stay so.
//   Reducing later then never moves more, and moves less where values are added, or cut, meanwhile.
// - No precision is lost on the way: sums and averages pass where the numbers of inputs and output
//   are of one floating dtype (a complex one counts as that of its parts). A cast of a partial sum
//   to another dtype waits for the reduction. What does change are the last bits: parts are rounded
//   instead of the value, in a 16-bit dtype to 8 or 11 bits of the part.
// - Coefficients are finite where inputs are: divide says nothing, as x / 0 of parts of both signs
//   would add up to NaN. What grows does so up to rounding, and gives NaN for NaN.
// - Over its mesh dim all else is whole; over others kinds commute: sums and averages, or the same.
#pragma once

#include <cstdint>

#include "distributed/spmd/spec.h"

namespace phi {

class RuleArgs;
struct RuleFunctions;

struct PartialLaw {
  enum class Kind : uint8_t { kTerm, kConstant, kUp, kDown, kJoin, kMeet, kPick, kEach };
  Kind kind;
  int8_t output;     // -1: every output
  int8_t attribute;  // of a constant: there is none where it is 0; -1: there always is
  uint32_t args;     // bits of tensor arguments: factors, or what is picked from
  // Of a term, bits of lists whose elements are multiplied; elements of others are added.
  uint32_t products;
};

/// `answer`, what the rule says, with inputs left partial where the laws let them pass.
distributed::SpmdResult with_partials_passed(const RuleFunctions& functions, const RuleArgs& args,
                                             distributed::SpmdResult answer);

}  // namespace phi
