// Which statements a program may have: those whose meaning does not depend on how tensors lie, and
// that users may write. Draws and the making smaller of programs ask here, and nobody else decides.
#pragma once

#include <set>
#include <string>

#include "program.h"

namespace phi::testing::programs {

/// Runs a plain program statement by statement and says why the next one may not follow.
class Rules {
 public:
  explicit Rules(const RandomProgram& program);

  /// Runs the statement if it may follow; empty then. It may have run in part otherwise, and
  /// nothing can follow then.
  std::string add(const Statement& statement);
  /// Why the program may not end here.
  std::string end() const;

  /// Of a value that statements can use.
  const Tensor& value(ValueId value) const { return values_.at(value); }
  bool is_usable(ValueId value) const { return values_.contains(value) && !gone_.contains(value); }
  /// On every mesh it is a plain tensor.
  bool is_plain(ValueId value) const { return plain_.contains(value); }
  /// Somebody may look at the value later who does not expect it to change.
  bool is_pinned(ValueId value) const;
  /// Nothing else has its bytes.
  bool is_alone(ValueId value) const;
  bool is_under_way(int64_t number) const { return under_way_.contains(number); }

 private:
  std::string refusal(const Statement& statement) const;
  std::string refusal_of_scan(const Statement& scan) const;
  bool is_stale(const Statement& expected) const;
  std::string refusal_of_write(const Statement& statement, ValueId target) const;
  std::string refusal_of_result(const Statement& statement) const;
  void follow(const Statement& statement);
  void follow_recompute(const Statement& statement);
  bool shares_bytes(ValueId a, ValueId b) const;

  const RandomProgram& program_;
  Site site_;
  Values values_;
  std::set<ValueId> gone_;          // overwritten through another value
  std::set<ValueId> plain_;         // wherever the program runs
  std::set<const Storage*> moved_;  // which layouts share these bytes depends on the layouts
  std::map<int64_t, ValueId> under_way_;
  // Recomputations that no gradient has been asked of yet, by what they made.
  std::map<ValueId, std::set<ValueId>> recomputed_;
  std::unordered_map<ValueId, std::set<ValueId>> made_of_;  // those that a value depends on
};

/// Why the whole program is not one; empty if it is.
std::string refusal_of(const RandomProgram& program);

}  // namespace phi::testing::programs
