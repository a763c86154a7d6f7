// A random program as data: statements over values that are known by number. It is drawn (draw.h),
// interpreted as the function of a case, made smaller (shrink.h) and printed as C++ (print.h).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "case.h"
#include "site.h"

namespace phi::testing::programs {

struct Form;

/// Values: those of the inputs, then of the parameters, then what statements make, in any order.
using ValueId = int;
inline constexpr ValueId kNoValue = -1;

/// One call. What it calls, and how its parts appear there, is said by its form (forms.h).
struct Statement {
  const Form* form = nullptr;
  std::vector<ValueId> args = {};  // kNoValue: an optional tensor that is not given
  std::vector<ValueId> outs = {};  // none for a call that only writes to its first argument
  std::vector<std::vector<int64_t>> ints = {};
  std::vector<double> reals = {};
  Layout layout = {};
  Pass pass = Pass::kGrad;
  bool no_grad = false;

  // A function that is called within the statement: its parameters, and what it gives.
  std::vector<ValueId> body_params = {};
  std::vector<Statement> body = {};
  ValueId body_result = kNoValue;

  friend bool operator==(const Statement&, const Statement&) = default;
};

/// A case without its function, which is what the statements do.
struct RandomProgram {
  Case setting;
  std::vector<Statement> statements;
  std::vector<ValueId> results;

  int num_inputs() const { return static_cast<int>(setting.inputs.size()); }
  int num_parameters() const { return static_cast<int>(setting.parameters.size()); }
  int num_given() const { return num_inputs() + num_parameters(); }
  bool is_parameter(ValueId value) const { return value >= num_inputs() && value < num_given(); }
  const Given& given(ValueId value) const {
    return value < num_inputs() ? setting.inputs[static_cast<size_t>(value)]
                                : setting.parameters[static_cast<size_t>(value - num_inputs())];
  }
};

/// The tensors that values stand for while a program runs.
using Values = std::unordered_map<ValueId, Tensor>;

/// What a form reads of its statement.
class Call {
 public:
  Call(const Statement& statement, Values& values, Site& on)
      : site(on), statement_(statement), values_(values) {}

  Tensor& x(size_t i) const { return values_.at(statement_.args[i]); }
  OptionalTensor opt(size_t i) const {
    return statement_.args[i] == kNoValue ? OptionalTensor() : x(i);
  }
  /// All arguments from `first` on.
  TensorList from(size_t first) const;
  /// The first n(0) arguments, and the others.
  TensorList losses() const;
  TensorList wanted() const { return from(static_cast<size_t>(n(0))); }
  int64_t n(size_t i) const { return statement_.ints[i][0]; }
  int i(size_t i) const { return static_cast<int>(n(i)); }
  uint64_t seed(size_t i) const { return static_cast<uint64_t>(n(i)); }
  bool flag(size_t i) const { return n(i) != 0; }
  const std::vector<int64_t>& ns(size_t i) const { return statement_.ints[i]; }
  /// The same as vector<int>, which some operators take.
  std::vector<int> perm(size_t i) const { return {ns(i).begin(), ns(i).end()}; }
  double f(size_t i) const { return statement_.reals[i]; }
  const Layout& layout() const { return statement_.layout; }
  Pass pass() const { return statement_.pass; }
  /// The body, as recompute and scan take it.
  std::function<Tensor(const TensorList&)> body() const;
  ScanFunction layer() const;
  /// The layers of a scan of n(0) trips: the arguments behind the first, trip by trip.
  std::vector<TensorList> layers() const;

  Site& site;

 private:
  Tensor run_body(const TensorList& given) const;

  const Statement& statement_;
  Values& values_;
};

/// Runs the statement: what it makes, and writes to, is in `values` then.
void execute(const Statement& statement, Values& values, Site& site);

/// The values that a program begins with.
Values begin(const RandomProgram& program, const TensorList& in, const TensorList& p);

/// The case of a program, which is copied.
Case to_case(const RandomProgram& program);

/// Values that the statement reads, those of its body included.
std::vector<ValueId> values_read(const Statement& statement);

}  // namespace phi::testing::programs
