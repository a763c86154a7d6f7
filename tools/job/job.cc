// Runs a job, from its model to its report.
#include "tools/job/job.h"

#include <fmt/format.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "api/nn/models/described_model.h"
#include "distributed/api.h"
#include "distributed/checkpoint/folder.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "tools/cli/command_line.h"
#include "tools/job/build.h"
#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/explained_step.h"
#include "tools/job/job_changes.h"
#include "tools/job/output/header.h"
#include "tools/job/output/metrics.h"
#include "tools/job/output/tensorboard.h"
#include "tools/job/output/text_stream.h"
#include "tools/job/run_flags.h"

namespace phi::job {

using distributed::World;
using training::Progress;

Job::Job(Setup setup)
    : setup_(std::move(setup)),
      config_(setup_.config),
      mesh_(config_.mesh.shape, config_.mesh.dims),
      world_(World::current()),
      trace_(world_, FLAGS_trace, setup_.traced_steps, pipeline_stage()),
      status_(world_.rank() == 0 && !setup_.dry ? FLAGS_status_file : "") {
  distributed::ConfigEntries values;
  for (auto& [key, value] : resolved_values(config_)) values.push_back({key, value});
  trace_.set_job(distributed::to_json(values));
}

JobReport Job::run() {
  if (!setup_.dry) {
    connect_ranks(config_);
    limit_rank(program_memory(config_.memory));
  }
  limit_device();
  const auto model = build_model(config_, mesh_, setup_.weights ? &*setup_.weights : nullptr);
  const MemoryAccount& memory = *world_.rank_context().memory();
  const int64_t parameter_peak = (setup_.dry ? memory.planned() : memory_stats(Tier::kDevice)).peak;
  check_save_folder(*model);
  JobReport report = describe(*model);
  if (is_reporter()) std::cout << header(setup_, report) << std::flush;
  training::StateBytes states;
  if (config_.mode == "generate") {
    generate(*model, &report);
  } else {
    states = run_steps(*model, &report);
  }
  begin_step(0);
  if (report.stopped_by == 0) save(*model);
  const RankReport own = rank_report(*model, parameter_peak, states);
  trace_.stop();  // so that it covers the same span as the report's counters
  if (ledger_) report.held_at_peak = gather_holders(ledger_->at_peak());
  report.ranks = setup_.dry ? std::vector{own} : gather_ranks(world_, own);
  const JobTrace::Written traced = trace_.write();
  if (is_reporter()) std::cout << traced.line;
  note_fault(traced.fault);
  return report;
}

// A limited rank names what holds the memory when an allocation fails.
void Job::limit_device() {
  MemoryAccount& memory = *world_.rank_context().memory();
  if (setup_.device_limit) memory.set_device_limit(*setup_.device_limit);
  if (setup_.dry || setup_.device_limit) ledger_.emplace(memory);
}

// Called before the first step, so that a bad folder is not found only after the last.
void Job::check_save_folder(const nn::Sequential& model) const {
  if (setup_.dry || world_.rank() != 0 || config_.run.save.empty()) return;
  try {
    distributed::checkpoint::check_folder(
        config_.run.save,
        model.num_parameters() * static_cast<int64_t>(size_of(config_.run.dtype)));
  } catch (const Error& error) {
    throw config_.wrong({"run.save"}, error.what());
  }
  if (is_reporter() && distributed::checkpoint::has_data_file(config_.run.save)) {
    std::cout << fmt::format("note: '{}' has weights, which this job replaces at its end\n",
                             config_.run.save);
  }
}

std::string Job::position_text() const {
  std::string out = fmt::format("at rank {} of {}", world_.rank(), world_.size());
  if (step_ > 0) out += fmt::format(", step {}", step_);
  return out + fmt::format(", stage {}", pipeline_stage());
}

std::string Job::save_trace_after_error() {
  const std::string path = trace_.write_alone();
  return path.empty() ? "" : "\n  the trace of this rank up to here is in " + path;
}

// Before the first step it is unknown whether the job can continue from its checkpoints.
std::string Job::resume_hint() const {
  const CheckpointConfig& checkpoint = config_.checkpoint;
  if (setup_.dry || step_ == 0 || checkpoint.dir.empty()) return "";
  std::vector<distributed::checkpoint::SavedStep> saved;
  for (const std::string& folder : {checkpoint.dir, checkpoint.fallback}) {
    const auto found = distributed::checkpoint::CheckpointFolder(folder).find().complete;
    if (!found.empty()) saved.push_back(found.front());
  }
  const auto newest =
      std::ranges::max_element(saved, {}, &distributed::checkpoint::SavedStep::step);
  if (newest == saved.end()) return "";
  const std::string launcher = world_.size() > 1 ? fmt::format("mpirun -n {} ", world_.size()) : "";
  const std::string mesh = FLAGS_mesh.empty() ? "" : " --mesh=" + FLAGS_mesh;
  return fmt::format(
      "\n  the newest checkpoint is {}; resume from it with: {}autophi run {}{} --resume",
      newest->path, launcher, config_.file, mesh);
}

void Job::note_fault(const std::string& fault) {
  if (!fault.empty()) output_faults_.push_back(fault);
}

void Job::begin_step(int64_t step) {
  step_ = step;
  trace_.step(step);
  if (step == 0) return;
  status_.write(step);
  setup_.injections.at(step);
}

training::StateBytes Job::run_steps(nn::Sequential& model, JobReport* report) {
  training::Trainer trainer(model, config_.model.row().loss, trainer_options(config_));
  std::optional<training::Checkpointer> checkpoints;
  if (!config_.checkpoint.dir.empty()) {
    checkpoints.emplace(trainer, checkpointer_options(config_, setup_.entries));
    FLAGS_resume ? resume(*checkpoints, report) : checkpoints->begin();
  }
  run_training_loop(trainer, checkpoints ? &*checkpoints : nullptr, report);
  if (checkpoints) {
    // Reported later: the report may go to another disk.
    const auto fault = checkpoints->finish_or_error();
    if (fault && world_.rank() == 0) note_fault(fault->what());
    report->checkpoints = checkpoints->stats();
  }
  if (trainer.program()) note_program(*trainer.program());
  return trainer.state_bytes();
}

void Job::run_training_loop(training::Trainer& trainer, training::Checkpointer* checkpoints,
                            JobReport* report) {
  world_.everyone().barrier();  // start the clock when every rank has its parameters
  const int64_t first = trainer.steps();
  Progress progress = new_progress();
  progress.resume_after(first);
  Metrics metrics(world_.rank() == 0 ? FLAGS_metrics : "");
  TensorBoardWriter events(world_.rank() == 0 ? FLAGS_tensorboard : "");
  training::LossJumpDetector jumps(config_.run.loss_jump);
  while (trainer.steps() < config_.run.steps && report->stopped_by == 0) {
    const int64_t step = trainer.steps() + 1;
    begin_step(step);
    const auto result = run_step(trainer);
    progress.done(step, result.loss);
    if (setup_.dry) continue;  // no losses, and step times are meaningless
    // After a rollback, steps are repeated.
    report->losses.resize(static_cast<size_t>(std::max<int64_t>(0, step - first - 1)));
    report->losses.push_back(result.loss);
    report->step_seconds.push_back(progress.last_step_seconds());
    report->steps_left_out += trainer.train_step().optimizer() && !result.applied ? 1 : 0;
    const std::string line = metrics_line(step, result, progress);
    metrics.write(line);
    events.write(line);
    report_loss_jump(jumps, step, result.loss);
    if (!checkpoints) continue;
    checkpoints->after_step(result);
    if (trainer.steps() < config_.run.steps) report->stopped_by = checkpoints->stop_signal();
  }
  note_fault(metrics.fault());
  note_fault(events.finish());
  report_check(trainer.steps() - first);
  report->seconds = progress.seconds();
  if (!setup_.dry && trainer.steps() > first) {
    report->tokens_per_s = progress.tokens_per_s(trainer.steps());
  }
  if (report->stopped_by != 0 && is_reporter()) {
    std::cout << fmt::format("stopped by signal {} ({}) after step {}; continue with --resume\n",
                             report->stopped_by, strsignal(report->stopped_by), trainer.steps());
  }
}

// Rank 0 shows the progress.
training::Progress Job::new_progress() const {
  const int64_t items = config_.run.global_batch * items_per_sample(config_);
  const char* unit = config_.model.takes_images() ? "img" : "tok";
  const bool shows = world_.rank() == 0 && !setup_.dry;
  if (shows && setup_.progress) {
    return {setup_.progress->style, config_.run.steps, items, setup_.progress->write, unit};
  }
  return {shows && is_reporter() ? Progress::detect() : Progress::Style::kSilent, config_.run.steps,
          items, Progress::to_standard_output, unit};
}

training::StepResult Job::run_step(training::Trainer& trainer) {
  const auto batches = batches_of(config_, *setup_.data, trainer.next_batch());
  if (FLAGS_explain.empty() && FLAGS_check.empty()) return trainer.step(batches);
  training::StepResult result;
  const auto names = trainer.train_step().model().named_parameters();
  const auto step = [&] {
    const auto unchecked = [&] { result = trainer.step(batches); };
    if (FLAGS_check.empty()) return unchecked();
    checked_calls_ += checked_step(FLAGS_check, step_, unchecked, names);
  };
  FLAGS_explain.empty() ? step() : note_fault(explain_step(step, names, FLAGS_explain));
  return result;
}

void Job::report_check(int64_t steps) const {
  if (FLAGS_check.empty() || !is_reporter()) return;
  if (FLAGS_check == "ops") {
    std::cout << fmt::format(
        "--check=ops: {} distributed calls of rank 0 in {} steps, each repeated in one process: "
        "all agree\n",
        checked_calls_, steps);
  } else {
    std::cout << fmt::format("--check=numbers: all outputs of operators in {} steps are finite\n",
                             steps);
  }
}

void Job::resume(training::Checkpointer& checkpoints, JobReport* report) {
  const auto resumed = checkpoints.resume();
  const auto say = [this](const std::string& line) {
    if (is_reporter()) std::cout << line << std::endl;
  };
  if (!resumed) {
    return say(fmt::format("nothing to resume: '{}' has no checkpoint yet; starting at step 1",
                           config_.checkpoint.dir));
  }
  for (const std::string& damaged : resumed->damaged) say("note: passed over " + damaged);
  for (const std::string& change : changes_since(resumed->metadata, setup_.entries)) {
    say("note: " + change);
  }
  say(fmt::format("resuming after step {} from {}", resumed->step, resumed->path));
  report->first_step = resumed->step + 1;
  report->resumed_from = resumed->path;
  checkpoint_bytes_read_ = resumed->bytes_read;
}

void Job::report_loss_jump(training::LossJumpDetector& jumps, int64_t step, double loss) const {
  const auto jump = jumps.add(loss);
  if (!jump || !is_reporter()) return;
  LOG(WARNING) << fmt::format(
      "step {}: the loss jumps to {:.4f}, {:.1f} standard deviations above those before it", step,
      loss, *jump);
}

// Each token is a step. The text is the job's result, so it is shown even with --quiet.
void Job::generate(nn::Sequential& model, JobReport* report) {
  const int64_t tokens = config_.generate.tokens;
  const auto show = [this](const std::string& text) {
    if (world_.rank() != 0) return;
    PHI_CHECK(std::cout << text << std::flush,
              errors::Unavailable("the text cannot be written to standard output."));
  };
  generation::TokenGenerator generator(model, prompt_of(config_), generator_options(config_));
  TextStream stream;
  show(shown(config_.generate.prompt));
  world_.everyone().barrier();
  Progress progress(Progress::Style::kSilent, tokens, /*tokens_per_step=*/1);
  for (int64_t step = 1; step <= tokens; ++step) {
    begin_step(step);
    report->text += static_cast<char>(generator.next());
    progress.done(step, 0.0);
    report->step_seconds.push_back(progress.last_step_seconds());
    show(stream.add(static_cast<uint8_t>(report->text.back())));
  }
  show(stream.end() + "\n");
  if (generator.program()) note_program(*generator.program());
  report->seconds = progress.seconds();
  report->tokens_per_s = progress.tokens_per_s(tokens);
  if (!is_reporter()) return;
  std::cout << fmt::format("{} tokens in {:.2f} s, {:.1f} tok/s\n", tokens, report->seconds,
                           report->tokens_per_s);
}

// Notes the size of the program; under memory limits also its transfers and the waits for them.
void Job::note_program(const Program& program) {
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

bool Job::is_reporter() const { return (setup_.dry || world_.rank() == 0) && !FLAGS_quiet; }

int64_t Job::pipeline_stage() const {
  const auto& names = mesh_.dim_names();
  for (int m = 0; m < mesh_.ndim(); ++m) {
    if (names[m] == "pp") return (*mesh_.coord_of(world_.rank()))[m];
  }
  return 0;
}

JobReport Job::describe(const nn::Sequential& model) const {
  JobReport report;
  report.job = config_.file;
  report.mode = config_.mode;
  report.dry_run = setup_.dry.has_value();
  report.world_size = world_.size();
  report.mesh = config_.mesh.to_string(",");
  report.dtype = name_of(config_.run.dtype);
  report.num_parameters = model.num_parameters();
  report.predicted = setup_.predicted;
  if (const PlanConfig& plan = config_.plan; plan.step_seconds > 0)
    report.planned = PlannedStep{plan.machine, plan.step_seconds, plan.peak_bytes};
  report.placements = placements_of(model, mesh_);
  if (setup_.data) {
    report.data = setup_.data->summary();
    report.data_fingerprint = setup_.data->fingerprint();
  }
  return report;
}

// If the parameters cannot be saved, the job fails, but its report is still written.
void Job::save(const nn::Sequential& model) {
  if (config_.run.save.empty()) return;
  try {
    nn::models::save_described(
        config_.run.save, model,
        nn::models::describe_model(config_.model.row(), config_.model.values));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnavailable) throw;
    if (world_.rank() == 0) note_fault(error.what());
    return;
  }
  if (is_reporter()) std::cout << "parameters saved to " << config_.run.save << "\n";
}

RankReport Job::rank_report(const nn::Sequential& model, int64_t parameter_peak,
                            const training::StateBytes& states) const {
  RankReport own = this_rank(pipeline_stage());
  own.parameter_bytes = model.parameter_bytes_here();
  own.parameter_peak_bytes = parameter_peak;
  own.gradient_bytes = states.gradients;
  own.optimizer_bytes = states.states;
  own.swapping = swapping_;
  own.checkpoint_bytes_read = checkpoint_bytes_read_;
  own.program_steps = program_steps_;
  own.program_arena_bytes = program_arena_bytes_;
  const RankContext& rank = RankContext::current();
  if (!rank.is_dry() && Device::of(rank.place()).is_host())
    own.reserved_bytes += program_arena_bytes_;
  return own;
}

}  // namespace phi::job
