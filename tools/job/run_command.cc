// The run subcommand: set-up that all ranks agree on, then the steps, then the report.
#include "tools/job/run_command.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <functional>
#include <iostream>
#include <optional>

#include "api/tensor/checkpoint.h"
#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "phi/api.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/config.h"
#include "tools/job/dry_run.h"
#include "tools/job/generator.h"
#include "tools/job/job_trace.h"
#include "tools/job/memory_limits.h"
#include "tools/job/metrics.h"
#include "tools/job/model/decoder.h"
#include "tools/job/open_data.h"
#include "tools/job/progress.h"
#include "tools/job/report.h"
#include "tools/job/text_stream.h"
#include "tools/job/trainer.h"
#include "tools/job/whole_file.h"

DEFINE_string(report, "", "write a report of the job to this file, as JSON");
DEFINE_string(metrics, "", "append a line of JSON for each step to this file");
DEFINE_string(trace, "", "write a trace of all ranks to this file, for ui.perfetto.dev");
DEFINE_string(trace_steps, "", "FIRST:LAST: trace these steps only");
DEFINE_double(deadline_s, 60.0, "end the job if a rank waits longer than this for another");
DEFINE_bool(deferred_transfer, true,
            "data waits on its tier until it is known where it is needed; false: it crosses to the "
            "device at once and whole");
DEFINE_bool(quiet, false, "print errors only, and the text in mode generate");
DEFINE_string(inject_error, "", "for tests: RANK:STEP at which a rank throws");
DEFINE_string(inject_hang, "", "for tests: RANK:STEP at which a rank stops answering");

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using distributed::World;
using distributed::checkpoint::Checkpoint;

const std::vector<std::string> kFlags = {
    "report", "metrics", "trace",        "trace_steps", "deadline_s", "deferred_transfer",
    "quiet",  "mesh",    "inject_error", "inject_hang", "dry_run",    "world_size",
    "rank"};
constexpr double kMaxDeadlineS = 7 * 24 * 3600.0;

// "RANK:STEP", a rank of -1 being all; never where the flag is empty.
struct Injection {
  int64_t rank = -1;
  int64_t step = -1;
  bool now(int64_t at_step) const {
    return step == at_step && (rank == -1 || rank == distributed::rank());
  }
};

Injection parse_injection(const char* flag, const std::string& text) {
  Injection out;
  if (text.empty()) return out;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, out.rank);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  if (colon) {
    const auto second = std::from_chars(first.ptr + 1, end, out.step);
    if (second.ec == std::errc() && second.ptr == end) return out;
  }
  throw cli::UsageError(fmt::format("--{} takes RANK:STEP, e.g. 1:2, got '{}'.", flag, text));
}

struct Setup {
  JobConfig config;
  std::optional<data::TokenData> data;  // none in mode generate
  std::optional<Checkpoint> weights;
  std::string note;
  TracedSteps traced_steps;
  std::optional<DryRun> dry;
  Injection error;
  Injection hang;
};

std::optional<Checkpoint> open_weights(const JobConfig& config) {
  if (config.weights.empty()) return std::nullopt;
  try {
    return distributed::checkpoint::open(config.weights);
  } catch (const Error& error) {
    throw config.wrong({"weights"}, error.what());
  }
}

// The mesh of the job, and in a dry run what else is different from a real one.
void settle_world(Setup* setup) {
  setup->dry = dry_run_of_flags();
  if (!setup->dry) {
    return settle_mesh(&setup->config, distributed::world_size(), FLAGS_mesh, &setup->note);
  }
  settle_dry_run(*setup->dry, FLAGS_mesh, &setup->config);
  settle_mesh(&setup->config, setup->dry->world_size, FLAGS_mesh, &setup->note);
  setup->note = fmt::format("dry run of rank {} of {}: one step, nothing is computed",
                            setup->dry->rank, setup->dry->world_size);
}

void check_traced_steps(const Setup& setup) {
  if (FLAGS_trace_steps.empty()) return;
  const JobConfig& config = setup.config;
  const int64_t steps = config.mode == "generate" ? config.generate.tokens : config.run.steps;
  if (setup.traced_steps.first > steps) {
    throw cli::UsageError(fmt::format("--trace_steps={}: the job has {} step{}.", FLAGS_trace_steps,
                                      steps, steps == 1 ? "" : "s"));
  }
}

// Which flags a job like this reads; those that no table names are read by all.
void check_flags(bool generates) {
  constexpr std::string_view kReal =
      "a job that runs; a dry run has no times and no losses, and nobody to wait for";
  cli::check_flags_are_read(std::array{
      cli::FlagUse{"world_size", FLAGS_dry_run,
                   "--dry_run; without it mpirun says how many ranks there are"},
      cli::FlagUse{"rank", FLAGS_dry_run,
                   "--dry_run; without it mpirun says how many ranks there are"},
      cli::FlagUse{"metrics", !FLAGS_dry_run, kReal},
      cli::FlagUse{"metrics", !generates, "steps; mode generate has none"},
      cli::FlagUse{"trace", !FLAGS_dry_run, kReal},
      cli::FlagUse{"trace_steps", !FLAGS_trace.empty(), "--trace=FILE"},
      cli::FlagUse{"deadline_s", !FLAGS_dry_run, kReal},
      cli::FlagUse{"deferred_transfer", !FLAGS_dry_run, kReal},
  });
}

// All that can be found wrong before any rank waits for another.
Setup prepare(int argc, char** argv) {
  const std::vector<std::string> words = cli::parse_flags(argc, argv, kFlags);
  if (words.size() != 1) {
    throw cli::UsageError(fmt::format("autophi run takes one job file, got {}{}; see --help.",
                                      words.size(), words.empty() ? "" : " (" + words[1] + ")"));
  }
  if (!(FLAGS_deadline_s > 0 && FLAGS_deadline_s <= kMaxDeadlineS)) {
    throw cli::UsageError(
        fmt::format("--deadline_s takes seconds, more than 0 and at most {}.", kMaxDeadlineS));
  }
  Setup setup;
  setup.error = parse_injection("inject_error", FLAGS_inject_error);
  setup.hang = parse_injection("inject_hang", FLAGS_inject_hang);
  setup.traced_steps = parse_traced_steps(FLAGS_trace_steps);
  setup.config = load_job(words[0]);
  const bool generates = setup.config.mode == "generate";
  check_flags(generates);
  settle_world(&setup);
  if (generates) {
    settle_generate(&setup.config);
  } else {
    setup.data = open_data(setup.config);
  }
  setup.weights = open_weights(setup.config);
  check_traced_steps(setup);
  if (distributed::rank() == 0) {
    if (!FLAGS_report.empty()) check_writable(FLAGS_report, "report");
    if (!FLAGS_trace.empty()) check_writable(FLAGS_trace, "trace");
  }
  return setup;
}

// What one rank found, told to all: so that every rank leaves and one of them says why.
struct Finding {
  int64_t failed = 0;
  int64_t fingerprint = 0;
};

// True if all ranks may go on.
bool agree(World& world, const std::string& fault, uint64_t fingerprint) {
  const Finding own{fault.empty() ? 0 : 1, static_cast<int64_t>(fingerprint)};
  std::vector<Finding> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), sizeof(Finding) / 8, DataType::INT64);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].failed == 0) continue;
    if (static_cast<int64_t>(rank) == world.rank()) std::cerr << "autophi run: " << fault << "\n";
    return false;
  }
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].fingerprint == all[0].fingerprint) continue;
    if (world.rank() == 0) {
      std::cerr << fmt::format(
          "autophi run: ranks 0 and {} find different files at data.paths; give them the same.\n",
          rank);
    }
    return false;
  }
  return true;
}

class Job {
 public:
  explicit Job(Setup setup)
      : setup_(std::move(setup)),
        config_(setup_.config),
        mesh_(config_.mesh.shape, config_.mesh.dims),
        world_(World::current()),
        trace_(world_, FLAGS_trace, setup_.traced_steps, pipeline_stage()) {}

  JobReport run() {
    if (!setup_.dry) limit_rank(config_.memory);
    const Decoder model(config_.model, config_.run, mesh_,
                        setup_.weights ? &*setup_.weights : nullptr);
    const MemoryAccount& memory = *world_.rank_context().memory();
    const int64_t parameter_peak =
        (setup_.dry ? memory.planned() : memory_stats(Tier::kDevice)).peak;
    JobReport report = describe(model);
    if (speaks()) std::cout << header(report) << std::flush;
    training::StateBytes states;
    if (config_.mode == "generate") {
      generate(model, &report);
    } else {
      states = run_steps(model, &report);
    }
    begin_step(0);
    save(model);
    const RankReport own = rank_report(model, parameter_peak, states);
    trace_.stop();  // so that it holds what the report counts
    report.ranks = setup_.dry ? std::vector{own} : gather_ranks(world_, own);
    const std::string traced = trace_.write();
    if (speaks()) std::cout << traced;
    return report;
  }

  /// "at rank 3 of 8, step 12, stage 1"
  std::string whereabouts() const {
    std::string out = fmt::format("at rank {} of {}", world_.rank(), world_.size());
    if (step_ > 0) out += fmt::format(", step {}", step_);
    return out + fmt::format(", stage {}", pipeline_stage());
  }

  /// After an error: saves what there is of a trace and says where.
  std::string last_words() {
    const std::string path = trace_.write_alone();
    return path.empty() ? "" : "\n  the trace of this rank up to here is in " + path;
  }

 private:
  void begin_step(int64_t step) {
    step_ = step;
    trace_.step(step);
    if (step > 0) inject();
  }

  // Gives the bytes of the model's states.
  training::StateBytes run_steps(const Decoder& model, JobReport* report) {
    Trainer trainer(config_, mesh_, *setup_.data, model);
    world_.everyone().barrier();  // the clock starts when every rank has its parameters
    Progress progress(speaks() && !setup_.dry ? Progress::detect() : Progress::Style::kSilent,
                      config_.run.steps, config_.run.global_batch * config_.model.seq_len);
    Metrics metrics(world_.rank() == 0 ? FLAGS_metrics : "");
    for (int64_t step = 1; step <= config_.run.steps; ++step) {
      begin_step(step);
      const StepResult result = trainer.step(step);
      progress.done(step, result.loss);
      if (setup_.dry) continue;  // it has no loss, and its time is not the job's
      report->losses.push_back(result.loss);
      report->step_seconds.push_back(progress.last_step_seconds());
      metrics.write(step, result, progress);
    }
    report->seconds = progress.seconds();
    if (!setup_.dry) report->tokens_per_s = progress.tokens_per_s(config_.run.steps);
    if (trainer.program()) note_program(*trainer.program());
    return trainer.state_bytes();
  }

  // A token is a step. The text is the job's product and is shown even if all else is quiet.
  void generate(const Decoder& model, JobReport* report) {
    const int64_t tokens = config_.generate.tokens;
    const auto show = [this](const std::string& text) {
      if (world_.rank() == 0) std::cout << text << std::flush;
    };
    Generator generator(config_, mesh_, model);
    TextStream stream;
    show(shown(config_.generate.prompt));
    world_.everyone().barrier();
    Progress progress(Progress::Style::kSilent, tokens, /*tokens_per_step=*/1);
    for (int64_t step = 1; step <= tokens; ++step) {
      begin_step(step);
      report->text += generator.next();
      progress.done(step, 0.0);
      report->step_seconds.push_back(progress.last_step_seconds());
      show(stream.add(static_cast<uint8_t>(report->text.back())));
    }
    show(stream.end() + "\n");
    if (generator.program()) note_program(*generator.program());
    report->seconds = progress.seconds();
    report->tokens_per_s = progress.tokens_per_s(tokens);
    if (!speaks()) return;
    std::cout << fmt::format("{} tokens in {:.2f} s, {:.1f} tok/s\n", tokens, report->seconds,
                             report->tokens_per_s);
  }

  // How large the program is; under limits what it has moved, and how much of that was waited for.
  void note_program(const Program& program) {
    program_steps_ = program.num_steps();
    program_arena_bytes_ = program.arena_bytes();
    if (!config_.memory.is_limited()) return;
    const memory::SwapEngineStats stats = program.swap_stats();
    swapping_.transfer_seconds = stats.transfer_seconds;
    swapping_.wait_seconds = stats.wait_seconds;
    swapping_.host_peak_bytes = stats.peak_bytes[static_cast<size_t>(Tier::kHost)];
    swapping_.disk_peak_bytes = stats.peak_bytes[static_cast<size_t>(Tier::kDisk)];
    swapping_.device_limit_bytes = config_.memory.device;
    swapping_.host_limit_bytes = config_.memory.host;
  }

  bool speaks() const { return (setup_.dry || world_.rank() == 0) && !FLAGS_quiet; }

  int64_t pipeline_stage() const {
    const auto& names = mesh_.dim_names();
    for (int m = 0; m < mesh_.ndim(); ++m) {
      if (names[m] == "pp") return (*mesh_.coord_of(world_.rank()))[m];
    }
    return 0;
  }

  JobReport describe(const Decoder& model) const {
    JobReport report;
    report.job = config_.file;
    report.mode = config_.mode;
    report.dry_run = setup_.dry.has_value();
    report.world_size = world_.size();
    report.mesh = config_.mesh.to_string(",");
    report.dtype = name_of(config_.run.dtype);
    report.num_parameters = model.num_parameters();
    if (setup_.data) {
      report.data = setup_.data->summary(config_.model.seq_len);
      report.data_fingerprint = setup_.data->fingerprint();
    }
    return report;
  }

  std::string header(const JobReport& report) const {
    std::string out = setup_.note.empty() ? "" : setup_.note + "\n";
    out += fmt::format("mesh {} · {} process{} · {} {} parameters · {}{}\n",
                       config_.mesh.to_string(), world_.size(), world_.size() == 1 ? "" : "es",
                       config_.model.kind, human_count(report.num_parameters), report.dtype,
                       config_.run.sequence_parallel ? " · sequence parallel" : "");
    if (config_.mode == "generate") return out + generate_header();
    return out + fmt::format("{} · {} micro-batches of {} × {} tokens a step\n",
                             report.data.to_string(), config_.run.micro_batches,
                             config_.run.micro_batch_size(), config_.model.seq_len);
  }

  std::string generate_header() const {
    const GenerateConfig& options = config_.generate;
    std::string out =
        fmt::format("{} tokens · temperature {}", options.tokens, options.temperature);
    if (options.temperature > 0) {
      if (options.top_k > 0) out += fmt::format(" · top_k {}", options.top_k);
      if (options.top_p < 1) out += fmt::format(" · top_p {}", options.top_p);
      out += fmt::format(" · seed {}", options.seed);
    }
    if (!config_.weights.empty()) return out + " · weights " + config_.weights + "\n";
    return out +
           "\nnote: no weights are given, so the model knows nothing and its text is noise.\n";
  }

  void save(const Decoder& model) const {
    if (config_.run.save.empty()) return;
    distributed::checkpoint::save(config_.run.save, model.parameters());
    if (speaks()) std::cout << "parameters saved to " << config_.run.save << "\n";
  }

  RankReport rank_report(const Decoder& model, int64_t parameter_peak,
                         const training::StateBytes& states) const {
    RankReport own = this_rank(pipeline_stage());
    own.parameter_bytes = model.parameter_bytes_here();
    own.parameter_peak_bytes = parameter_peak;
    own.gradient_bytes = states.gradients;
    own.optimizer_bytes = states.states;
    own.swapping = swapping_;
    own.program_steps = program_steps_;
    own.program_arena_bytes = program_arena_bytes_;
    return own;
  }

  void inject() const {
    if (setup_.error.now(step_)) {
      throw errors::Internal("asked to fail here by --inject_error={}.", FLAGS_inject_error);
    }
    while (setup_.hang.now(step_)) pause();
  }

  Setup setup_;
  const JobConfig& config_;
  ProcessMesh mesh_;
  World& world_;
  JobTrace trace_;
  SwapReport swapping_;
  int64_t program_steps_ = 0;
  int64_t program_arena_bytes_ = 0;
  int64_t step_ = 0;  // counts from 1; 0 before and after the steps
};

// The rank is in the job while this lives.
class Membership {
 public:
  Membership(int* argc, char*** argv) { distributed::init(argc, argv); }
  ~Membership() { distributed::finalize(); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
};

}  // namespace

int run_command(int argc, char** argv) {
  const Membership membership(&argc, &argv);
  std::optional<PlayedRank> played;
  std::optional<Job> job;
  try {
    std::optional<Setup> setup;
    std::string fault;
    try {
      setup = prepare(argc, argv);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!agree(World::current(), fault, setup && setup->data ? setup->data->fingerprint() : 0))
      return cli::kUsageStatus;
    if (setup->dry) played.emplace(*setup->dry);
    World& world = World::current();
    world.rank_context().counters() = {};  // to agree is no part of the job
    world.rank_context().set_deferred_transfer(FLAGS_deferred_transfer);
    world.set_deadline(World::Milliseconds(static_cast<int64_t>(FLAGS_deadline_s * 1000)));
    job.emplace(std::move(*setup));
    const JobReport report = job->run();
    const bool writes = played || world.rank() == 0;
    if (writes && !FLAGS_quiet) std::cout << table(report) << std::flush;
    if (writes && !FLAGS_report.empty()) write_report(report, FLAGS_report);
  } catch (const std::exception& error) {
    // Others may wait for this rank: the job ends here, before anything is taken down in order.
    std::cout.flush();
    const std::string where = job ? "\n  " + job->whereabouts() + job->last_words() : "";
    distributed::abort_job(error.what() + where);
  }
  return 0;
}

const char* run_help() {
  return "autophi run JOB.yaml: runs a job on all processes that mpirun started.\n"
         "\n"
         "  mpirun -n 8 autophi run examples/gpt_train.yaml --report=report.json\n"
         "\n"
         "One process runs the job on a mesh of 1, with the same result.\n"
         "\n"
         "  --mesh=2x2x2         mesh instead of the file's: 2x2x2 (dp, pp, tp), 4 (dp), "
         "dp=2,tp=2\n"
         "  --report=FILE        write what every rank did, and the losses, as JSON\n"
         "  --metrics=FILE       append a line of JSON for each step\n"
         "  --trace=FILE         write what every rank did when, for ui.perfetto.dev\n"
         "  --trace_steps=2:3    trace these steps only\n"
         "  --deadline_s=60      end the job if a rank waits longer than this for another\n"
         "  --nodeferred_transfer\n"
         "                       what is read from files crosses to each rank whole and at once, "
         "not\n"
         "                       this rank's shards when they are known\n"
         "  --quiet              print errors only, and the text in mode generate\n"
         "  --dry_run --world_size=16384 --rank=R\n"
         "                       without mpirun: play this rank of a job of this size for one "
         "step,\n"
         "                       and report what it would hold, compute and send\n"
         "  --v=1                log (2: more, e.g. plans of reshards); --vmodule=FILE=2\n"
         "\n"
         "Flags for tests of failures:\n"
         "  --inject_error=RANK:STEP   the rank (-1: each) throws at this step (1 is the first)\n"
         "  --inject_hang=RANK:STEP    the rank stops answering\n";
}

}  // namespace phi::job
