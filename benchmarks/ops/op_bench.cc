// op_bench CALLS.yaml [NUMBER]: times calls of operators by name, all or the one with that number
// from 0 on, and beside each what else may be measured: lines "NUMBER SIZE WHAT NANOSECONDS", where
// WHAT is `ours`, `copy` (memcpy of so many bytes that it reads and writes as many as the call),
// `arithmetic` (of a group: what the call would take if each of its rows were in the first cache)
// or `direct` (convolutions: oneDNN without us). The script compare, beside this, times PyTorch's
// in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/call/named_call.h"
#include "api/rules/op_rule.h"
#include "api/testing/generate_tensor.h"
#include "benchmarks/ops/direct_conv.h"
#include "phi/common/errors.h"
#include "phi/yaml/yaml_text.h"
#include "tools/op/attribute_text.h"

namespace {

constexpr double kLeastSeconds = 0.002;  // of one measurement, less than other work leaves us
constexpr int kMeasurements = 20;        // of which the quickest counts
constexpr int64_t kFirstCacheBytes = 24 * 1024;  // that lie in any machine's first cache

/// This thread's time on a core: other work on the machine costs it caches and no more.
double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A call with its arguments at hand, as a program has them.
struct TimedCall {
  const phi::NamedCall* function;
  std::unique_ptr<std::vector<phi::AttributeValue>> attributes;  // all, in the operator's order
  phi::CallArgs args;
  size_t given_bytes;

  phi::TensorList run() { return function->call(args); }
};

size_t bytes_of(const phi::TensorList& tensors) {
  size_t bytes = 0;
  for (const phi::Tensor& tensor : tensors) bytes += tensor.defined() ? tensor.dense().nbytes() : 0;
  return bytes;
}

const phi::NamedCall& function_of(const std::string& op) {
  for (const phi::NamedCall& call : phi::built_in_calls()) {
    if (call.name == op) return call;
  }
  throw phi::errors::NotFound("the function '{}' is unknown.", op);
}

/// What N is in the text of an input: of N x N and N x 1 the first may be another number of rows.
struct Size {
  int64_t n;
  int64_t rows;
};

std::string with_size(std::string text, Size size) {
  const size_t rows = text.find("[N,");
  if (rows != std::string::npos) text.replace(rows + 1, 1, std::to_string(size.rows));
  for (size_t at = text.find('N'); at != std::string::npos; at = text.find('N', at)) {
    text.replace(at, 1, std::to_string(size.n));
  }
  return text;
}

phi::TensorList drawn(const YAML::Node& node, Size size) {
  phi::TensorList list;
  if (!node.IsSequence()) return {phi::testing::generate_tensor(with_size(node.Scalar(), size), 1)};
  for (const auto& item : node) {
    list.push_back(phi::testing::generate_tensor(with_size(item.Scalar(), size), 1));
  }
  return list;
}

TimedCall call_of(const YAML::Node& row, Size size) {
  const auto op = row["op"].as<std::string>();
  const phi::OpRule& rule = phi::rules::find(op);
  std::vector<phi::TensorList> arguments;
  size_t given_bytes = 0;
  for (const auto& tensor : rule.tensors()) {
    const YAML::Node given = row["in"][tensor.name];
    arguments.push_back(given ? drawn(given, size) : phi::TensorList{phi::Tensor()});
    given_bytes += bytes_of(arguments.back());
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
  return {&function, std::move(all), std::move(args), given_bytes};
}

double seconds_of(const std::function<void()>& call, int64_t times) {
  const double begin = cpu_seconds();
  for (int64_t i = 0; i < times; ++i) call();
  return cpu_seconds() - begin;
}

double nanoseconds_of(const std::function<void()>& call) {
  call();
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

/// memcpy of `bytes`, half of them read and half written.
double copy_nanoseconds(size_t bytes) {
  const std::vector<char> from(bytes / 2, 1);
  std::vector<char> to(bytes / 2);
  return nanoseconds_of([&] {
    std::memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");  // the copy is wanted
  });
}

/// What n rows would take in the first cache, from two numbers of rows that lie there: what a call
/// costs beside its rows is in both. `bytes` is what n rows read and write.
double arithmetic_nanoseconds(const YAML::Node& row, int64_t n, size_t bytes) {
  const int64_t fitting = kFirstCacheBytes * n / static_cast<int64_t>(bytes);
  const int64_t more = std::min(n, std::max<int64_t>(2, fitting));
  const int64_t fewer = more / 2;
  const auto time = [&](int64_t rows) {
    TimedCall call = call_of(row, {n, rows});
    return nanoseconds_of([&] { call.run(); });
  };
  return (time(more) - time(fewer)) / static_cast<double>(more - fewer) * static_cast<double>(n);
}

void time_call(const YAML::Node& row, size_t number, int64_t n) {
  const auto show = [&](const char* what, double nanoseconds) {
    fmt::print("{} {} {} {:.1f}\n", number, n, what, nanoseconds);
  };
  TimedCall call = call_of(row, {n, n});
  const size_t bytes = call.given_bytes + bytes_of(call.run());
  show("ours", nanoseconds_of([&] { call.run(); }));
  show("copy", copy_nanoseconds(bytes));
  if (row["group"]) show("arithmetic", arithmetic_nanoseconds(row, n, bytes));
  if (!row["direct"]) return;
  const auto padding = row["attrs"]["paddings"][0].as<int64_t>();
  const auto groups = row["attrs"]["groups"] ? row["attrs"]["groups"].as<int64_t>() : 1;
  bench::DirectConv direct(drawn(row["in"]["input"], {n, n})[0].meta().dims,
                           drawn(row["in"]["filter"], {n, n})[0].meta().dims, padding, groups);
  show("direct", nanoseconds_of([&] { direct.run(); }));
}

void time_row(const YAML::Node& row, size_t number) {
  const auto sizes =
      row["sizes"] ? row["sizes"].as<std::vector<int64_t>>() : std::vector<int64_t>{64, 256, 1024};
  for (const int64_t n : sizes) {
    try {
      time_call(row, number, n);
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
  try {
    const YAML::Node rows =
        phi::yaml::load(phi::yaml::read_text(argv[1], "list of calls"), argv[1]);
    const size_t first = argc == 3 ? std::stoul(argv[2]) : 0;
    const size_t end = argc == 3 ? first + 1 : rows.size();
    for (size_t i = first; i < end; ++i) time_row(rows[i], i);
  } catch (const std::exception& error) {
    fmt::print(stderr, "op_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
