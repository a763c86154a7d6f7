// Reads columns by their names.
#include "tools/fit/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "phi/common/errors.h"

namespace phi::fit {
namespace {

struct Column {
  std::string_view name;
  int64_t MeasuredRun::*field;
};

constexpr std::array kSizes = {
    Column{"# GPUs", &MeasuredRun::gpus},
    Column{"global batch", &MeasuredRun::global_batch},
    Column{"micro batch", &MeasuredRun::micro_batch},
    Column{"hidden size", &MeasuredRun::hidden},
    Column{"attention heads", &MeasuredRun::heads},
    Column{"# layers", &MeasuredRun::layers},
    Column{"sequence length", &MeasuredRun::sequence},
    Column{"tensor parallelism", &MeasuredRun::tp},
    Column{"data parallelism", &MeasuredRun::dp},
    Column{"pipeline parallelism", &MeasuredRun::pp},
};
constexpr std::string_view kTime = "iteration time (ms)";

std::vector<std::string_view> fields_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

class RunsFile {
 public:
  explicit RunsFile(const std::string& path) : path_(path), in_(path) {
    PHI_CHECK(in_.is_open(), errors::NotFound("cannot read {}: there is no such file.", path));
  }

  std::vector<MeasuredRun> read() {
    std::string header;
    if (!next_line(&header)) fail("the file is empty; expected a line of column names.");
    const auto names = fields_of(header);
    for (size_t i = 0; i < kSizes.size(); ++i) places_[i] = place_of(names, kSizes[i].name);
    time_ = place_of(names, kTime);
    std::vector<MeasuredRun> runs;
    for (std::string line; next_line(&line);) {
      if (line.find_first_not_of(" \r") != std::string::npos)
        runs.push_back(run_of(line, names.size()));
    }
    if (runs.empty()) fail("the file has no runs below the column names.");
    return runs;
  }

 private:
  bool next_line(std::string* line) {
    if (!std::getline(in_, *line)) return false;
    ++number_;
    return true;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw errors::InvalidArgument("{}:{}: {}", path_, std::max<int64_t>(1, number_), what);
  }

  size_t place_of(const std::vector<std::string_view>& names, std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) fail(fmt::format("column '{}' is missing.", name));
    return static_cast<size_t>(found - names.begin());
  }

  double number_in(std::string_view text, std::string_view column) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !std::isfinite(value) || value <= 0)
      fail(fmt::format("{} is '{}'; expected a number above 0.", column, text));
    return value;
  }

  int64_t size_in(std::string_view text, std::string_view column) const {
    constexpr double kLargest = 1e9;
    const double value = number_in(text, column);
    if (value != std::floor(value) || value > kLargest)
      fail(fmt::format("{} is '{}'; expected an integer up to 1e9.", column, text));
    return static_cast<int64_t>(value);
  }

  MeasuredRun run_of(const std::string& line, size_t columns) const {
    const auto fields = fields_of(line);
    if (fields.size() != columns) {
      fail(fmt::format("{} fields; expected {}, as many as column names.", fields.size(), columns));
    }
    MeasuredRun run;
    for (size_t i = 0; i < kSizes.size(); ++i)
      run.*kSizes[i].field = size_in(fields[places_[i]], kSizes[i].name);
    run.milliseconds = number_in(fields[time_], kTime);
    check_sizes(run);
    return run;
  }

  void check_sizes(const MeasuredRun& run) const {
    if (run.gpus != run.tp * run.dp * run.pp) {
      fail(fmt::format("{} GPUs are not {} x {} x {} (tensor, data and pipeline parallelism).",
                       run.gpus, run.tp, run.dp, run.pp));
    }
    const auto must_divide = [&](int64_t value, int64_t by, std::string_view what) {
      if (value % by != 0) fail(fmt::format("{} {} is not divisible by {}.", what, value, by));
    };
    must_divide(run.hidden, run.heads, "hidden size");
    must_divide(run.heads, run.tp, "attention heads");
    must_divide(run.layers, run.pp, "# layers");
    must_divide(run.global_batch, run.micro_batch * run.dp, "global batch");
  }

  std::string path_;
  std::ifstream in_;
  int64_t number_ = 0;  // of the last line, from 1
  std::array<size_t, kSizes.size()> places_{};
  size_t time_ = 0;
};

}  // namespace

std::vector<MeasuredRun> read_runs(const std::string& path) { return RunsFile(path).read(); }

}  // namespace phi::fit
