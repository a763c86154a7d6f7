// Aligns clocks, traces steps, and writes the file.
#include "tools/job/output/job_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/output/report.h"

namespace phi::job {
namespace {

using distributed::Group;
using distributed::Recv;
using distributed::Send;
using distributed::World;

constexpr int kClockRounds = 8;

void send_to(World& world, int64_t rank, const void* data, size_t bytes) {
  Group& pair = world.group(std::vector<int64_t>{0, std::max(rank, world.rank())});
  const Send send{rank == 0 ? 0 : 1, data, bytes};
  pair.exchange({&send, 1}, {});
}

void receive_from(World& world, int64_t rank, void* data, size_t bytes) {
  Group& pair = world.group(std::vector<int64_t>{0, std::max(rank, world.rank())});
  const Recv recv{rank == 0 ? 0 : 1, data, bytes};
  pair.exchange({}, {&recv, 1});
}

// "trace.json" -> "trace.rank3.json"
std::string name_for(const std::string& path, int64_t rank) {
  const std::filesystem::path whole(path);
  const std::string name =
      fmt::format("{}.rank{}{}", whole.stem().string(), rank, whole.extension().string());
  return (whole.parent_path() / name).string();
}

// The trace's file. Keeps the first error and writes nothing after it, so that ranks can continue
// to send their parts.
class FileOrFault {
 public:
  explicit FileOrFault(const std::string& path) {
    attempt([&] { file_.emplace(path, "trace"); });
  }
  void write(std::string_view text) {
    attempt([&] { file_->write(text); });
  }
  void finish() {
    attempt([&] { file_->finish(); });
  }
  const std::string& fault() const { return fault_; }

 private:
  template <typename F>
  void attempt(const F& f) {
    if (!fault_.empty()) return;
    try {
      f();
    } catch (const Error& error) {
      fault_ = error.what();
      file_.reset();
    }
  }

  std::optional<AtomicFile> file_;
  std::string fault_;
};

constexpr const char* kStartOfFile = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";

}  // namespace

TracedSteps parse_traced_steps(const std::string& text) {
  TracedSteps steps;
  if (text.empty()) return steps;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, steps.first);
  bool understood = first.ec == std::errc();
  steps.last = steps.first;
  if (understood && first.ptr != end) {
    understood = *first.ptr == ':';
    const auto second = std::from_chars(first.ptr + 1, end, steps.last);
    understood = understood && second.ec == std::errc() && second.ptr == end;
  }
  if (understood && steps.first >= 1 && steps.last >= steps.first) return steps;
  throw cli::UsageError(
      fmt::format("--trace_steps expects FIRST:LAST, counted from 1, e.g. 2:3, got '{}'.", text));
}

JobTrace::JobTrace(World& world, std::string path, const TracedSteps& steps, int64_t stage)
    : world_(world), path_(std::move(path)), steps_(steps) {
  if (path_.empty()) return;
  process_.rank = world.rank();
  process_.label = fmt::format("rank {} · stage {}", world.rank(), stage);
  {
    const SuspendObservers suspended(world.rank_context());
    align_clocks();
  }
  step(0);
}

JobTrace::~JobTrace() { stop(); }

void JobTrace::step(int64_t number) {
  if (path_.empty()) return;
  stop();
  if (!steps_.has(number)) return;
  RankContext& rank = world_.rank_context();
  rank.set_work({.step = static_cast<int32_t>(number > 0 ? number : -1)});
  const char* name =
      number > 0 ? trace_.text(fmt::format("step {}", number)) : "before and after the steps";
  scope_.emplace(trace_, rank);
  span_.emplace(rank, TraceKind::kStep, name);
}

void JobTrace::stop() {
  if (!scope_) return;
  span_.reset();
  scope_.reset();
  world_.rank_context().set_work({});
}

// ---- clocks ----

void JobTrace::align_clocks() {
  int64_t told[2] = {0, 0};  // the offset, and the start of the job by rank 0's clock
  if (world_.rank() == 0) {
    clock_error_ns_.assign(static_cast<size_t>(world_.size()), 0);
    told[1] = Trace::now_ns();
    for (int64_t rank = 1; rank < world_.size(); ++rank) {
      const ClockBounds bounds = measure(rank);
      clock_error_ns_[static_cast<size_t>(rank)] = bounds.high - bounds.low;
      told[0] = bounds.shift();
      send_to(world_, rank, told, sizeof(told));
    }
    told[0] = 0;
  } else {
    for (int round = 0; round < kClockRounds; ++round) answer();
    receive_from(world_, 0, told, sizeof(told));
  }
  process_.shift_ns = told[0] - told[1];
}

// On rank 0. The other rank reads its clock between the request and the arrival of its reply.
JobTrace::ClockBounds JobTrace::measure(int64_t rank) {
  ClockBounds bounds;
  for (int round = 0; round < kClockRounds; ++round) {
    const int64_t asked = Trace::now_ns();
    send_to(world_, rank, &asked, sizeof(asked));
    int64_t theirs = 0;
    receive_from(world_, rank, &theirs, sizeof(theirs));
    const int64_t answered = Trace::now_ns();
    bounds.low = std::max(bounds.low, asked - theirs);
    bounds.high = std::min(bounds.high, answered - theirs);
  }
  return bounds;
}

void JobTrace::answer() {
  int64_t asked = 0;
  receive_from(world_, 0, &asked, sizeof(asked));
  const int64_t now = Trace::now_ns();
  send_to(world_, 0, &now, sizeof(now));
}

// ---- the file ----

JobTrace::Header JobTrace::header(const std::string& json) const {
  return {static_cast<int64_t>(json.size()), static_cast<int64_t>(trace_.size()),
          static_cast<int64_t>(trace_.dropped())};
}

std::string JobTrace::events_as_json() const {
  std::string json;
  append_process(process_, &json);
  append_events(trace_, process_, &json);
  return json;
}

std::string JobTrace::end_of_file(const Header& sum) const {
  std::vector<double> errors_us;
  for (const int64_t ns : clock_error_ns_) errors_us.push_back(static_cast<double>(ns) / 1000);
  return fmt::format(
      "],\"otherData\":{{\"events\":{},\"dropped_events\":{},\"clock_bounds_us\":[{}],"
      "\"job\":{}}}}}\n",
      sum.events, sum.dropped, fmt::join(errors_us, ","), job_);
}

JobTrace::Written JobTrace::write() {
  if (path_.empty()) return {};
  stop();
  std::string json = events_as_json();
  Header sum = header(json);
  if (world_.rank() != 0) {
    send_to(world_, 0, &sum, sizeof(sum));
    send_to(world_, 0, json.data(), json.size());
    return {};
  }
  FileOrFault file(path_);
  file.write(kStartOfFile);
  for (int64_t rank = 1; rank < world_.size(); ++rank) {
    file.write(json);
    Header theirs;
    receive_from(world_, rank, &theirs, sizeof(theirs));
    json.resize(static_cast<size_t>(theirs.bytes));
    receive_from(world_, rank, json.data(), json.size());
    sum.bytes += theirs.bytes;
    sum.events += theirs.events;
    sum.dropped += theirs.dropped;
  }
  end_events(&json);
  file.write(json);
  file.write(end_of_file(sum));
  file.finish();
  return file.fault().empty() ? Written{line_about(sum), ""} : Written{"", file.fault()};
}

std::string JobTrace::line_about(const Header& sum) const {
  std::string line =
      fmt::format("trace of {} events, {}, in {}: open it at https://ui.perfetto.dev",
                  with_separators(sum.events), human_bytes(sum.bytes), path_);
  if (sum.dropped > 0) {
    line += fmt::format("\n  {} more events were dropped: a rank keeps {}; see --trace_steps",
                        with_separators(sum.dropped), with_separators(Trace::kDefaultLimit));
  }
  return line + "\n";
}

std::string JobTrace::write_alone() noexcept {
  // A device has no folder for further files, and a pipe accepts one trace.
  if (path_.empty() || !is_file_or_nothing(path_)) return {};
  try {
    stop();
    std::string path = name_for(path_, world_.rank());
    std::string json = events_as_json();
    const Header sum = header(json);
    end_events(&json);
    AtomicFile file(path, "trace");
    file.write(kStartOfFile);
    file.write(json);
    file.write(end_of_file(sum));
    file.finish();
    return path;
  } catch (const std::exception&) {
    return {};  // the error that ended the job is reported instead
  }
}

}  // namespace phi::job
