// The command line of autophi weights; api/nn/convert_weights.h and checkpoint::merge do the work.
#include "tools/weights_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/nn/convert_weights.h"
#include "distributed/checkpoint/merge.h"
#include "phi/common/errors.h"
#include "phi/common/printable.h"
#include "tools/cli/command_line.h"
#include "tools/job/config/config.h"
#include "tools/job/config/section.h"

DEFINE_string(to, "", "huggingface or autophi");
DEFINE_string(job, "", "a job with the model that the weights are of");
DEFINE_string(architecture, "", "architecture of the written model, e.g. MistralForCausalLM");
DEFINE_string(max_file, "5GB", "size above which weights are split into several files");

namespace phi {
namespace {

using cli::UsageError;
using nn::FolderKind;

constexpr const char* kHelp =
    "autophi weights convert SRC DST [--to=huggingface|autophi] [--job=JOB.yaml]\n"
    "                [--architecture=NAME] [--max_file=5GB]\n"
    "autophi weights merge SRC OUT.safetensors\n"
    "\n"
    "convert  Writes the weights in the folder SRC to the new folder DST, as Hugging Face's\n"
    "         transformers reads them (config.json and safetensors), or as autophi does.\n"
    "  --to            default: the kind that SRC is not\n"
    "  --job           names a job with the model of SRC if it has no model.json\n"
    "  --architecture  GPT2LMHeadModel, LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM;\n"
    "                  default: as SRC says, or the one that fits\n"
    "  --max_file      larger files are split into several with an index\n"
    "merge    Writes the tensors of a sharded save, unsharded, to one file.\n"
    "\n"
    "Values and dtypes stay bit for bit. docs/weights.md lists the names in both formats.\n";

FolderKind target_kind(const std::string& from) {
  if (FLAGS_to.empty()) {
    return nn::kind_of_folder(from) == FolderKind::kAutophi ? FolderKind::kHuggingFace
                                                            : FolderKind::kAutophi;
  }
  std::vector<std::string> known;
  for (FolderKind kind : {FolderKind::kAutophi, FolderKind::kHuggingFace}) {
    if (FLAGS_to == nn::name_of(kind)) return kind;
    known.emplace_back(nn::name_of(kind));
  }
  const std::string hint = cli::did_you_mean(FLAGS_to, known);
  throw UsageError(
      fmt::format("--to={} must be autophi or huggingface{}", FLAGS_to, hint.empty() ? "." : hint));
}

std::optional<nn::huggingface::Architecture> chosen_architecture() {
  if (FLAGS_architecture.empty()) return std::nullopt;
  try {
    return nn::huggingface::architecture_of_name(FLAGS_architecture);
  } catch (const Error& error) {
    throw UsageError(
        fmt::format("--architecture={} cannot be written: {}", FLAGS_architecture, error.what()));
  }
}

int64_t max_file_bytes() {
  const std::optional<int64_t> bytes = job::parse_bytes(FLAGS_max_file);
  if (!bytes || *bytes == 0) {
    throw UsageError(fmt::format("--max_file={} is no size, e.g. 5GB or 500MiB.", FLAGS_max_file));
  }
  return *bytes;
}

nn::models::ModelConfig decoder_of(const std::string& job_file) {
  const job::JobConfig config = job::load_job(job_file);
  const nn::models::ModelKind& kind = config.model.row();
  if (!kind.decoder_config) {
    throw config.wrong({"model.kind"},
                       fmt::format("weights of kind {} have no other format; autophi weights "
                                   "converts those of gpt and llama.",
                                   kind.name));
  }
  return kind.decoder_config(config.model.values);
}

void convert(const std::string& from, const std::string& to) {
  nn::Conversion conversion{.to = target_kind(from),
                            .architecture = chosen_architecture(),
                            .max_file_bytes = max_file_bytes()};
  const cli::FlagUse use{"architecture", conversion.to == FolderKind::kHuggingFace,
                         "--to=huggingface"};
  cli::check_flags_are_read({&use, 1});
  if (!FLAGS_job.empty()) conversion.model = decoder_of(FLAGS_job);
  for (const std::string& note : nn::convert_weights(from, to, conversion)) {
    fmt::print(stderr, "autophi weights: {}: {}\n", printable(from), printable(note));
  }
  fmt::print("weights written to {} ({})\n", to, nn::name_of(conversion.to));
}

void merge(const std::string& from, const std::string& out) {
  constexpr std::string_view kConvert = "autophi weights convert";
  constexpr std::array<cli::FlagUse, 4> kUses = {{{"to", false, kConvert},
                                                  {"job", false, kConvert},
                                                  {"architecture", false, kConvert},
                                                  {"max_file", false, kConvert}}};
  cli::check_flags_are_read(kUses);
  if (!out.ends_with(".safetensors")) {
    throw UsageError(fmt::format("'{}' must be one file; name it like whole.safetensors.", out));
  }
  distributed::checkpoint::merge(distributed::checkpoint::open(from), out);
  fmt::print("tensors written to {}\n", out);
}

int run(int argc, char** argv) {
  static const std::vector<std::string> flags = {"to", "job", "architecture", "max_file"};
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags);
  const std::string verb = words.empty() ? "" : words[0];
  if (verb != "convert" && verb != "merge") {
    const std::vector<std::string> known = {"convert", "merge"};
    const std::string hint = cli::did_you_mean(verb, known);
    throw UsageError(verb.empty() ? "pass convert or merge; see autophi weights --help."
                                  : fmt::format("'{}' is neither convert nor merge{}", verb,
                                                hint.empty() ? "." : hint));
  }
  if (words.size() != 3) {
    throw UsageError(fmt::format("{} expects two names, SRC and {}; got {}.", verb,
                                 verb == "convert" ? "DST" : "OUT.safetensors", words.size() - 1));
  }
  (verb == "convert" ? convert : merge)(words[1], words[2]);
  return 0;
}

}  // namespace
}  // namespace phi

int weights_command(int argc, char** argv) {
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("weights", [&] { return phi::run(argc, argv); });
}
