// The command line of autophi data; api/data describes the files.
#include "tools/data_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/data/token_data.h"
#include "phi/common/errors.h"
#include "phi/common/readable_numbers.h"
#include "tools/cli/command_line.h"
#include "tools/cli/python.h"
#include "tools/data/tokenize_script.h"

DEFINE_string(documents, "joined", "joined or apart");
DEFINE_int64(seq_len, 0, "number of tokens in a window");
DEFINE_int64(seed, 1, "seed of the drawn windows");
DEFINE_int64(first_sample, 0, "number of the first window");
DEFINE_int64(samples, 4, "windows to show");
DEFINE_string(tokenizer, "", "a tokenizer.json");
DEFINE_string(append_eos, "", "a token to append to each file");

namespace phi::data_tool {
namespace {

using cli::UsageError;
using ArgumentList = std::vector<std::string>;

constexpr const char* kHelp =
    "autophi data: writes files of token ids, and summarises them (docs/data.md).\n"
    "\n"
    "  autophi data tokenize --tokenizer=tokenizer.json --out=train.bin FILE...\n"
    "      [--dtype=uint16] [--append_eos=TOKEN] [--python=python3]\n"
    "                     writes the ids of text files, for data: {kind: tokens}; a file is one\n"
    "                     document, and --append_eos appends this token to each. Needs Python's\n"
    "                     package tokenizers (pip install tokenizers)\n"
    "  autophi data info FILE... [--kind=bytes|tokens|megatron] [--dtype=uint16]\n"
    "                     reads all ids and reports their number, the smallest and the largest\n"
    "  autophi data windows --seq_len=N FILE... [--kind=...] [--dtype=uint16]\n"
    "      [--documents=joined|apart] [--seed=1] [--first_sample=0] [--samples=4]\n"
    "                     shows the windows that a job draws: seq_len ids and the last label\n"
    "\n"
    "Without --kind files that end in .bin are tokens, with an .idx next to them megatron, and "
    "others\n"
    "bytes.\n";

// Guesses the kind of a file.
data::DataKind kind_of(const std::string& path) {
  const bool is_pair = path.ends_with(".bin") || path.ends_with(".idx");
  const std::string index = (is_pair ? path.substr(0, path.size() - 4) : path) + ".idx";
  std::error_code ignored;
  if (std::filesystem::exists(index, ignored)) return data::DataKind::kMegatron;
  return path.ends_with(".bin") ? data::DataKind::kTokens : data::DataKind::kBytes;
}

data::DataOptions options_of(const ArgumentList& paths, std::string_view command) {
  if (paths.empty()) {
    throw UsageError(fmt::format("autophi data {} expects files, got none; see --help.", command));
  }
  data::DataOptions options{
      .kind = FLAGS_kind.empty() ? kind_of(paths[0]) : data::parse_data_kind(FLAGS_kind),
      .paths = paths,
      .documents = data::parse_documents(FLAGS_documents)};
  cli::check_flag_is_read({"dtype", options.kind == data::DataKind::kTokens, "--kind=tokens"},
                          !FLAGS_dtype.empty());
  if (!FLAGS_dtype.empty()) options.dtype = data::parse_token_type(FLAGS_dtype);
  return options;
}

int info(const ArgumentList& paths) {
  const auto files = data::TokenFiles::open(options_of(paths, "info"));
  const data::TokenFiles::IdRange ids = files->id_range();
  fmt::print("kind         {} ({})\n", name_of(files->options().kind), name_of(files->type()));
  fmt::print("files        {}, {} bytes\n", files->num_files(),
             with_separators(files->num_bytes()));
  fmt::print("tokens       {}\n", with_separators(files->num_tokens()));
  const int64_t documents = files->num_documents();
  fmt::print("documents    {}\n", documents == 0 ? "not said" : with_separators(documents));
  fmt::print("smallest id  {}: {}\n", ids.smallest, ids.where_smallest);
  fmt::print("largest id   {}: {}\n", ids.largest, ids.where_largest);
  fmt::print("fingerprint  {:016x}\n", files->content_fingerprint());
  return 0;
}

int windows(const ArgumentList& paths) {
  if (FLAGS_seq_len < 1) throw UsageError("--seq_len is missing; pass --seq_len=N, 1 or more.");
  if (FLAGS_seed < 0 || FLAGS_first_sample < 0 || FLAGS_samples < 0) {
    throw UsageError("--seed, --first_sample and --samples must be 0 or more.");
  }
  const auto data = data::TokenData::open(options_of(paths, "windows"));
  const data::BatchSpec draw{static_cast<uint64_t>(FLAGS_seed), FLAGS_first_sample, FLAGS_samples,
                             FLAGS_seq_len};
  fmt::print("{}\n", data.summary(FLAGS_seq_len).to_string());
  std::vector<int64_t> window(static_cast<size_t>(FLAGS_seq_len) + 1);
  for (int64_t sample = 0; sample < FLAGS_samples; ++sample) {
    const int64_t begin = data.first_token_of(draw, sample);
    data.files().read(begin, window);
    fmt::print("sample {} from token {}:", FLAGS_first_sample + sample, begin);
    for (const int64_t id : window) fmt::print(" {}", id);
    fmt::print("\n");
  }
  return 0;
}

// Replaces this process by Python; returns only if that fails.
int tokenize(const ArgumentList& files) {
  if (FLAGS_tokenizer.empty())
    throw UsageError("--tokenizer is missing; pass --tokenizer=tokenizer.json.");
  if (FLAGS_out.empty()) throw UsageError("--out is missing; pass --out=train.bin.");
  if (files.empty()) throw UsageError("autophi data tokenize expects text files, got none.");
  const std::string dtype = FLAGS_dtype.empty() ? "uint16" : FLAGS_dtype;
  data::parse_token_type(dtype);
  ArgumentList words = {"-c", kTokenizeScript, "--tokenizer=" + FLAGS_tokenizer,
                        "--out=" + FLAGS_out, "--dtype=" + dtype};
  if (!FLAGS_append_eos.empty()) words.push_back("--append_eos=" + FLAGS_append_eos);
  words.emplace_back("--");
  words.insert(words.end(), files.begin(), files.end());
  cli::become_python(std::move(words), "tokenizing is done by Python's package tokenizers",
                     "pip install tokenizers");
}

struct Subcommand {
  std::string_view name;
  int (*run)(const ArgumentList& paths);
  ArgumentList flags;
};

const std::vector<Subcommand>& subcommands() {
  static const std::vector<Subcommand> all = {
      {"tokenize", tokenize, {"tokenizer", "out", "dtype", "append_eos", "python"}},
      {"info", info, {"kind", "dtype"}},
      {"windows",
       windows,
       {"kind", "dtype", "documents", "seq_len", "seed", "first_sample", "samples"}}};
  return all;
}

int run(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  ArgumentList names;
  for (const Subcommand& command : subcommands()) {
    if (command.name == name)
      return command.run(cli::parse_flags(argc - 1, argv + 1, command.flags));
    names.emplace_back(command.name);
  }
  if (name.empty())
    throw UsageError("the action is missing; use tokenize, info or windows; see --help.");
  const std::string hint = cli::did_you_mean(std::string(name), names);
  throw UsageError(fmt::format("autophi data has no '{}'{}", name,
                               hint.empty() ? "; see autophi data --help." : hint));
}

}  // namespace
}  // namespace phi::data_tool

int data_command(int argc, char** argv) {
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::data_tool::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("data", [&] { return phi::data_tool::run(argc, argv); });
}
