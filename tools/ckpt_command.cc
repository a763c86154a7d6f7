// The command line of autophi ckpt; distributed/checkpoint does the work.
#include "tools/ckpt_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tensor/print.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/compare.h"
#include "distributed/checkpoint/folder.h"
#include "distributed/checkpoint/merge.h"
#include "distributed/checkpoint/verify.h"
#include "phi/common/errors.h"
#include "phi/common/printable.h"
#include "phi/common/readable_numbers.h"
#include "tools/cli/command_line.h"

DEFINE_string(box, "", "box of the tensor, e.g. [0:2,0:4]");

namespace phi::ckpt_tool {
namespace {

using cli::UsageError;
using ArgumentList = std::vector<std::string>;
using distributed::checkpoint::Checkpoint;
using distributed::checkpoint::checkpoint_in;
using distributed::checkpoint::CheckpointFolder;
using distributed::checkpoint::SavedStep;
using distributed::checkpoint::TensorDifference;
using distributed::checkpoint::Verification;

constexpr const char* kHelp =
    "autophi ckpt: reads checkpoints (docs/checkpoints.md). PATH is a folder with weights, a\n"
    ".safetensors file, or a job's folder of checkpoints, of which the newest complete one is "
    "used.\n"
    "\n"
    "  autophi ckpt ls PATH            tensors, files and metadata; of a job's folder, its "
    "checkpoints\n"
    "  autophi ckpt cat PATH TENSOR [--box=[0:2,0:4]]\n"
    "                                  the values of one tensor, or of a box of it\n"
    "  autophi ckpt diff PATH PATH     where two differ; exit status 1 if they do\n"
    "  autophi ckpt verify PATH        reads every byte; exit status 1 if one differs from what "
    "was saved.\n"
    "                                  Of a job's folder, all its checkpoints\n"
    "  autophi ckpt merge PATH OUT.safetensors\n"
    "                                  unsharded tensors in one file, for other tools\n"
    "  autophi ckpt import PATH DIR    a new checkpoint of ours, with checksums, of any "
    "safetensors\n";

// Names and texts come from files of unknown origin, so they are printed escaped.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}", printable(fmt::format(format, std::forward<Args>(args)...)));
}

Checkpoint open_at(const std::string& path) {
  const std::string found = checkpoint_in(path);
  if (found != path) fmt::print(stderr, "autophi ckpt: {} is the newest of '{}'\n", found, path);
  return distributed::checkpoint::open(found);
}

bool is_job_folder(const std::string& path) { return checkpoint_in(path) != path; }

int64_t bytes_of(const Checkpoint& checkpoint) {
  int64_t bytes = 0;
  for (const std::string& name : checkpoint.names()) {
    bytes += static_cast<int64_t>(checkpoint.meta(name).nbytes());
  }
  return bytes;
}

// The first line of a text, cut to kMost characters.
std::string shortened(std::string text) {
  constexpr size_t kMost = 100;
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > kMost)
    text = fmt::format("{}... ({} bytes)", text.substr(0, kMost), text.size());
  return text;
}

int list_folder(const std::string& path) {
  const CheckpointFolder::Listing found = CheckpointFolder(path).find();
  for (const SavedStep& saved : found.complete) {
    const Checkpoint checkpoint = distributed::checkpoint::open(saved.path);
    say("{}  step {}, {} tensors, {}\n", saved.path, saved.step, checkpoint.names().size(),
        human_bytes(bytes_of(checkpoint)));
  }
  for (size_t i = 0; i < found.broken.size(); ++i) {
    say("{}  not complete: {}\n", found.broken[i].path, found.faults[i]);
  }
  return 0;
}

int list(const ArgumentList& words) {
  if (is_job_folder(words[0])) return list_folder(words[0]);
  const Checkpoint checkpoint = open_at(words[0]);
  for (const auto& [key, text] : checkpoint.metadata()) {
    say("{}: {}\n", key, shortened(text));
  }
  const ArgumentList names = checkpoint.names();
  size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names) {
    const ArgumentList files = checkpoint.files_of(name);
    say("{:<{}}  {}  {}{}\n", name, width, checkpoint.meta(name).to_string(), files[0],
        files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1));
  }
  say("{} tensors, {}\n", names.size(), human_bytes(bytes_of(checkpoint)));
  return 0;
}

// Parses "[0:2,0:4]", the form in which messages print boxes.
Box parse_box(std::string_view text, const TensorMeta& meta) {
  const auto wrong = [&] {
    return UsageError(fmt::format("--box={} is no box of {}, like {}.", text, meta.to_string(),
                                  Box::whole(meta.dims).to_string()));
  };
  if (!text.starts_with('[') || !text.ends_with(']') || text.size() < 2) throw wrong();
  std::string_view left = text.substr(1, text.size() - 2);
  Box box = Box::whole(meta.dims);
  const auto number = [&](char end_mark) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), value);
    if (error != std::errc() || value < 0) throw wrong();
    left.remove_prefix(static_cast<size_t>(end - left.data()));
    if (end_mark != '\0' && !left.starts_with(end_mark)) throw wrong();
    if (end_mark != '\0') left.remove_prefix(1);
    return value;
  };
  for (int d = 0; d < box.ndim(); ++d) {
    const int64_t begin = number(':');
    const int64_t end = number(d + 1 < box.ndim() ? ',' : '\0');
    if (begin > end || end > meta.dims[d]) throw wrong();
    box.offset[d] = begin;
    box.size[d] = end - begin;
  }
  if (!left.empty()) throw wrong();
  return box;
}

int print_values(const ArgumentList& words) {
  const Checkpoint checkpoint = open_at(words[0]);
  const TensorMeta& meta = checkpoint.meta(words[1]);
  const Box box = FLAGS_box.empty() ? Box::whole(meta.dims) : parse_box(FLAGS_box, meta);
  DenseTensor values = DenseTensor::empty({box.size, meta.dtype}, CPUPlace());
  checkpoint.read(words[1], box, meta.dtype, values.mutable_raw_data());
  say("{}\n", to_text(Tensor(values)));
  return 0;
}

int show_differences(const ArgumentList& words) {
  const Checkpoint a = open_at(words[0]);
  const Checkpoint b = open_at(words[1]);
  const std::vector<TensorDifference> found = distributed::checkpoint::compare(a, b);
  for (const TensorDifference& difference : found) {
    say("{} {}\n", difference.name, difference.to_string(a, b));
  }
  say("{} tensors differ\n", found.size());
  return found.empty() ? 0 : 1;
}

bool is_sound(const std::string& path) {
  const Verification found = distributed::checkpoint::verify(path);
  for (const std::string& fault : found.faults) say("{}\n", fault);
  say("{}: {} tensors, {} compared: {}\n", path, found.tensors, human_bytes(found.bytes),
      found.faults.empty() ? "as it was saved" : fmt::format("{} faults", found.faults.size()));
  if (!found.unprotected.empty()) {
    say("without checksums: {}\n", fmt::join(found.unprotected, ", "));
  }
  return found.faults.empty();
}

int verify_all(const ArgumentList& words) {
  const std::string& path = words[0];
  const CheckpointFolder::Listing found = CheckpointFolder(path).find();
  if (found.complete.empty() && found.broken.empty()) return is_sound(path) ? 0 : 1;
  bool sound = found.broken.empty();
  for (const std::string& fault : found.faults) say("{}\n", fault);
  for (const SavedStep& saved : found.complete) sound = is_sound(saved.path) && sound;
  return sound ? 0 : 1;
}

int merge_to_file(const ArgumentList& words) {
  if (!words[1].ends_with(".safetensors")) {
    throw UsageError(
        fmt::format("'{}' must be one file; name it like whole.safetensors.", words[1]));
  }
  distributed::checkpoint::merge(open_at(words[0]), words[1]);
  say("tensors written to {}\n", words[1]);
  return 0;
}

int import_files(const ArgumentList& words) {
  distributed::checkpoint::copy_to_folder(open_at(words[0]), words[1]);
  say("checkpoint written to {}\n", words[1]);
  return 0;
}

struct Verb {
  std::string_view name;
  int (*run)(const ArgumentList& words);
  ArgumentList takes;
};

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {{"ls", list, {"PATH"}},
                                        {"cat", print_values, {"PATH", "TENSOR"}},
                                        {"diff", show_differences, {"PATH", "PATH"}},
                                        {"verify", verify_all, {"PATH"}},
                                        {"merge", merge_to_file, {"PATH", "OUT.safetensors"}},
                                        {"import", import_files, {"PATH", "DIR"}}};
  return all;
}

int run(int argc, char** argv) {
  static const ArgumentList flags = {"box"};
  ArgumentList words = cli::parse_flags(argc, argv, flags);
  ArgumentList known;
  for (const Verb& verb : verbs()) known.emplace_back(verb.name);
  if (words.empty()) {
    throw UsageError(
        fmt::format("pass one of {}; see autophi ckpt --help.", fmt::join(known, ", ")));
  }
  const auto verb = std::ranges::find(verbs(), words[0], &Verb::name);
  if (verb == verbs().end()) {
    const std::string hint = cli::did_you_mean(words[0], known);
    throw UsageError(fmt::format("'{}' is not one of {}{}", words[0], fmt::join(known, ", "),
                                 hint.empty() ? "." : hint));
  }
  words.erase(words.begin());
  if (words.size() != verb->takes.size()) {
    throw UsageError(fmt::format("{} expects {}; got {} names.", verb->name,
                                 fmt::join(verb->takes, " and "), words.size()));
  }
  cli::check_flag_is_read({"box", verb->name == "cat", "autophi ckpt cat"}, !FLAGS_box.empty());
  return verb->run(words);
}

}  // namespace
}  // namespace phi::ckpt_tool

int ckpt_command(int argc, char** argv) {
  if (!phi::cli::prints_for_job()) return 0;  // one process does all the work
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::ckpt_tool::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("ckpt", [&] { return phi::ckpt_tool::run(argc, argv); });
}
