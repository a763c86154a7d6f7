// op_bench CALLS.yaml [NUMBER]: times calls of operators by name, all or the one with that number
// from 0 on, one line each: "NUMBER SIZE NANOSECONDS". The script compare, beside this, times
// PyTorch's in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "api/call/named_call.h"
#include "api/rules/op_rule.h"
#include "api/testing/drawn_tensor.h"
#include "phi/common/errors.h"
#include "tools/op/attribute_text.h"
#include "tools/yaml/yaml_text.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastSeconds = 0.02;  // of one measurement
constexpr int kMeasurements = 5;        // of which the quickest counts

/// A call with its arguments at hand, as a program has them.
struct TimedCall {
  const phi::NamedCall* function;
  std::unique_ptr<std::vector<phi::AttributeValue>> attributes;  // all, in the operator's order
  phi::CallArgs args;

  void run() { function->call(args); }
};

const phi::NamedCall& function_of(const std::string& op) {
  for (const phi::NamedCall& call : phi::built_in_calls()) {
    if (call.name == op) return call;
  }
  throw phi::errors::NotFound("there is no function '{}' to time.", op);
}

std::string with_size(std::string text, int64_t n) {
  for (size_t at = text.find('N'); at != std::string::npos; at = text.find('N', at)) {
    text.replace(at, 1, std::to_string(n));
  }
  return text;
}

phi::TensorList drawn(const YAML::Node& node, int64_t n) {
  phi::TensorList list;
  if (!node.IsSequence()) return {phi::testing::drawn_tensor(with_size(node.Scalar(), n), 1)};
  for (const auto& item : node) {
    list.push_back(phi::testing::drawn_tensor(with_size(item.Scalar(), n), 1));
  }
  return list;
}

TimedCall call_of(const YAML::Node& row, int64_t n) {
  const auto op = row["op"].as<std::string>();
  const phi::OpRule& rule = phi::rules::find(op);
  std::vector<phi::TensorList> arguments;
  for (const auto& tensor : rule.tensors()) {
    const YAML::Node given = row["in"][tensor.name];
    arguments.push_back(given ? drawn(given, n) : phi::TensorList{phi::Tensor()});
  }
  std::vector<std::pair<std::string, phi::AttributeValue>> attributes;
  for (const auto& entry : row["attrs"]) {
    const std::string& name = entry.first.Scalar();
    attributes.emplace_back(name,
                            phi::op_tool::attribute_of(entry.second, rule.attribute(name).kind));
  }
  const phi::NamedCall& function = function_of(op);
  auto all = std::make_unique<std::vector<phi::AttributeValue>>(rule.attributes(attributes));
  phi::CallArgs args(function.name, std::move(arguments), *all);
  return {&function, std::move(all), std::move(args)};
}

double seconds_of(TimedCall& call, int64_t times) {
  const auto begin = Clock::now();
  for (int64_t i = 0; i < times; ++i) call.run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double nanoseconds_of(TimedCall call) {
  call.run();
  int64_t times = 1;
  double seconds = seconds_of(call, times);
  while (seconds < kLeastSeconds) {
    times = std::max(times * 2, static_cast<int64_t>(1.2 * kLeastSeconds / (seconds + 1e-9) *
                                                     static_cast<double>(times)));
    seconds = seconds_of(call, times);
  }
  for (int i = 1; i < kMeasurements; ++i) seconds = std::min(seconds, seconds_of(call, times));
  return seconds / static_cast<double>(times) * 1e9;
}

void time_row(const YAML::Node& row, size_t number) {
  const auto sizes =
      row["sizes"] ? row["sizes"].as<std::vector<int64_t>>() : std::vector<int64_t>{64, 256, 1024};
  for (const int64_t n : sizes) {
    try {
      fmt::print("{} {} {:.1f}\n", number, n, nanoseconds_of(call_of(row, n)));
    } catch (const phi::Error& error) {
      fmt::print(stderr, "op_bench: {} at {}: {}\n", row["op"].Scalar(), n, error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: op_bench CALLS.yaml [NUMBER]\n");
    return 2;
  }
  const YAML::Node rows = phi::yaml::load(phi::yaml::read_text(argv[1], "list of calls"), argv[1]);
  if (argc == 3) {
    const size_t number = std::stoul(argv[2]);
    time_row(rows[number], number);
    return 0;
  }
  for (size_t i = 0; i < rows.size(); ++i) time_row(rows[i], i);
  return 0;
}
