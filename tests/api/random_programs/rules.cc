// The rules, each with its reason.
#include "rules.h"

#include <algorithm>
#include <cmath>

#include "forms.h"
#include "lives.h"

namespace phi::testing::programs {
namespace {

// Above this rounding would be all that is compared.
constexpr double kLargest = 100;

TensorList make_all(const RandomProgram& program, ValueId first, ValueId end) {
  TensorList all;
  for (ValueId value = first; value < end; ++value) {
    const bool is_parameter = program.is_parameter(value);
    const int number = is_parameter ? value - program.num_inputs() + 100 : value;
    all.push_back(make_given(program.setting, program.given(value), number, 0, nullptr));
  }
  return all;
}

const Storage* bytes_of(const Tensor& x) { return x.dense().storage().get(); }

bool is_tame(const Tensor& x) {
  if (!is_floating(x.dtype())) return true;
  return visit_dtype(x.dtype(), [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const auto values = x.values<T>();
      return std::all_of(values.begin(), values.end(),
                         [](T value) { return std::abs(value) < kLargest; });
    } else {
      return false;
    }
  });
}

}  // namespace

Rules::Rules(const RandomProgram& program) : program_(program) {
  const TensorList in = make_all(program, 0, program.num_inputs());
  const TensorList p = make_all(program, program.num_inputs(), program.num_given());
  values_ = begin(program, in, p);
  for (ValueId value = 0; value < program.num_given(); ++value) {
    if (program.given(value).layout.is_plain()) plain_.insert(value);
  }
}

bool Rules::shares_bytes(ValueId a, ValueId b) const {
  return bytes_of(values_.at(a)) == bytes_of(values_.at(b));
}

bool Rules::is_alone(ValueId value) const {
  return std::none_of(values_.begin(), values_.end(), [&](const auto& other) {
    return other.first != value && shares_bytes(other.first, value);
  });
}

bool Rules::is_pinned(ValueId value) const {
  const auto shares = [&](ValueId other) { return shares_bytes(value, other); };
  const bool is_sent = std::any_of(under_way_.begin(), under_way_.end(),
                                   [&](const auto& sent) { return shares(sent.second); });
  return is_sent || std::any_of(recomputed_.begin(), recomputed_.end(), [&](const auto& again) {
           return std::any_of(again.second.begin(), again.second.end(), shares);
         });
}

std::string Rules::add(const Statement& statement) {
  if (auto refused = refusal(statement); !refused.empty()) return refused;
  // What is expected there is for the runs to find.
  if (statement.form->name == std::string_view("expect_stale")) return {};
  try {
    execute(statement, values_, site_);
  } catch (const Error& error) {
    return error.what();
  }
  if (auto refused = refusal_of_result(statement); !refused.empty()) return refused;
  follow(statement);
  return {};
}

std::string Rules::refusal(const Statement& statement) const {
  const Form& form = *statement.form;
  for (const ValueId value : values_read(statement)) {
    const bool is_inner = !values_.contains(value) && !statement.body.empty();
    if (value == kNoValue || is_inner) continue;
    if (!values_.contains(value)) return "a value that nothing has made";
    if (gone_.contains(value)) return "a value that was overwritten through another";
  }
  if (program_.setting.is_smooth && form.is(Form::kRough)) return "finite differences may lie";
  if (form.name == std::string_view("norm") && !statement.no_grad) return "it has no gradient";
  if (form.name == std::string_view("scan") && program_.setting.is_bitwise) {
    return "sums of gradients have another order";
  }
  if (form.is(Form::kUncaptured) && program_.setting.not_captured.empty()) {
    return "a captured program cannot have it";
  }
  if (form.name == std::string_view("wait") && !under_way_.contains(statement.ints[0][0])) {
    return "nothing is under way";
  }
  if (form.name == std::string_view("expect_stale") && !is_stale(statement)) {
    return "the value is there";
  }
  if (form.name == std::string_view("scan")) {
    if (auto refused = refusal_of_scan(statement); !refused.empty()) return refused;
  }
  // The function knows a parameter's bytes then, and nothing of the handle that is replaced.
  if (form.name == std::string_view("detached") && program_.is_parameter(statement.args[0]) &&
      program_.given(statement.args[0]).meanwhile == Meanwhile::kReplaces) {
    return "the parameter would be known by another handle";
  }
  for (size_t i = 0; i < form.num_written(statement.args.size()); ++i) {
    auto refused = refusal_of_write(statement, statement.args[i]);
    if (!refused.empty()) return refused;
  }
  return {};
}

std::string Rules::refusal_of_scan(const Statement& scan) const {
  const bool is_plain = plain_.contains(scan.args[0]);
  for (const ValueId value : values_read(scan)) {
    const bool is_outer = values_.contains(value);
    if (is_outer && is_plain && !plain_.contains(value)) return "it would have to be sharded";
  }
  for (const Statement& inner : scan.body) {
    for (const ValueId held : values_read(inner)) {
      const bool is_held = values_.contains(held);
      if (is_held && values_.at(held).requires_grad())
        return "a captured scan gives it no gradient";
    }
  }
  for (size_t i = 2; i < scan.args.size(); ++i) {
    const Given& first = program_.given(scan.args[1]);
    const Given& given = program_.given(scan.args[i]);
    if (given.layout != first.layout || given.shape != first.shape) return "layers differ";
  }
  return {};
}

// loss = mean(square(x)), and x was written to in between.
bool Rules::is_stale(const Statement& expected) const {
  const ValueId loss = expected.args[0];
  const ValueId x = expected.args[1];
  ValueId squared = kNoValue;
  bool is_written = false;
  bool is_loss = false;
  for (const Statement& statement : program_.statements) {
    if (statement == expected) break;
    const std::string_view name = statement.form->name;
    if (name == "square" && statement.args[0] == x && squared == kNoValue && !statement.no_grad) {
      squared = statement.outs[0];
    }
    is_loss =
        is_loss || (name == "mean" && statement.args[0] == squared && statement.outs[0] == loss);
    const size_t num_written = statement.form->num_written(statement.args.size());
    const bool writes = !statement.form->is(Form::kReshapes) && num_written > 0;
    is_written = is_written || (writes && squared != kNoValue && statement.args[0] == x);
  }
  return is_loss && is_written;
}

std::string Rules::refusal_of_write(const Statement& statement, ValueId target) const {
  const Tensor& x = values_.at(target);
  const bool is_leaf = x.requires_grad() && x.is_leaf();
  const bool is_given = target < program_.num_given();
  const bool is_moved = moved_.contains(bytes_of(x));
  if (is_pinned(target)) return "a value that somebody needs as it is";
  if (x.requires_grad() && !is_leaf && statement.no_grad) return "its gradient would be wrong";
  if (statement.form->is(Form::kReshapes)) {
    // A move that changes nothing gives the same handle.
    return is_given || is_moved ? "its shape is seen by other names" : std::string();
  }
  if (is_leaf && !statement.no_grad) return "a leaf is written to without NoGrad";
  for (const ValueId other : statement.args) {
    if (other == kNoValue) continue;
    if (plain_.contains(target) && !plain_.contains(other)) return "it would have to be sharded";
    // The history of a run would go on in the next one.
    if (program_.is_parameter(target) && !statement.no_grad && values_.at(other).requires_grad()) {
      return "a parameter would get a history";
    }
  }
  if (program_.setting.reads_aliases && !is_moved) return {};
  for (const auto& [other, tensor] : values_) {
    if (other < program_.num_given() && other != target && shares_bytes(other, target)) {
      return "what is given would be written to by another name";
    }
  }
  return {};
}

std::string Rules::refusal_of_result(const Statement& statement) const {
  std::vector<ValueId> made = statement.outs;
  for (size_t i = 0; i < statement.form->num_written(statement.args.size()); ++i) {
    made.push_back(statement.args[i]);
  }
  for (const ValueId value : made) {
    if (!is_tame(values_.at(value))) return "values become too large";
  }
  return {};
}

void Rules::follow(const Statement& statement) {
  const std::string_view name = statement.form->name;
  if (name == "start") under_way_[statement.ints[0][0]] = statement.args[0];
  if (name == "wait") under_way_.erase(statement.ints[0][0]);
  if (name == "reshard" || name == "start") moved_.insert(bytes_of(values_.at(statement.args[0])));
  const auto read = values_read(statement);
  const bool is_plain =
      name != "reshard" && name != "wait" &&
      std::all_of(read.begin(), read.end(), [&](ValueId value) {
        return value == kNoValue || !values_.contains(value) || plain_.contains(value);
      });
  std::set<ValueId> made_of;
  for (const ValueId value : read) {
    const auto found = made_of_.find(value);
    if (found != made_of_.end()) made_of.insert(found->second.begin(), found->second.end());
  }
  for (size_t i = 0; i < statement.outs.size(); ++i) {
    made_of_[statement.outs[i]] = made_of;
    // A gradient lies like what it is the gradient of.
    const bool is_gradient = name == "gradients";
    const bool lies_plain =
        is_gradient ? plain_.contains(statement.args[static_cast<size_t>(statement.ints[0][0]) + i])
                    : is_plain || name == "constant";
    if (lies_plain) plain_.insert(statement.outs[i]);
  }
  const size_t num_written =
      statement.form->is(Form::kReshapes) ? 0 : statement.form->num_written(statement.args.size());
  for (size_t i = 0; i < num_written; ++i) {
    const ValueId target = statement.args[i];
    made_of_[target].insert(made_of.begin(), made_of.end());
    if (program_.setting.reads_aliases && !moved_.contains(bytes_of(values_.at(target)))) continue;
    for (const auto& [other, tensor] : values_) {
      if (other != target && shares_bytes(other, target)) gone_.insert(other);
    }
  }
  follow_recompute(statement);
}

void Rules::follow_recompute(const Statement& statement) {
  const std::string_view name = statement.form->name;
  if (name == "recompute") {
    auto& kept = recomputed_[statement.outs[0]];
    for (const ValueId value : values_read(statement)) {
      if (values_.contains(value)) kept.insert(value);
    }
    made_of_[statement.outs[0]].insert(statement.outs[0]);
  }
  if (name != "gradients") return;
  // Its graph is used up.
  for (size_t i = 0; i < static_cast<size_t>(statement.ints[0][0]); ++i) {
    for (const ValueId again : made_of_[statement.args[i]]) recomputed_.erase(again);
  }
}

std::string Rules::end() const {
  if (!under_way_.empty()) return "a reshard is not waited for";
  for (const ValueId result : program_.results) {
    if (!is_usable(result)) return "a result that is not there";
  }
  return {};
}

std::string refusal_of(const RandomProgram& program) {
  Rules rules(program);
  for (const Statement& statement : program.statements) {
    if (auto refused = rules.add(statement); !refused.empty()) return refused;
  }
  return rules.end();
}

}  // namespace phi::testing::programs
