// Job: runs one rank's part of a job.
//
//   Job job(std::move(setup));
//   const JobReport report = job.run();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/capture/program.h"
#include "api/nn/layers/sequential.h"
#include "api/training/checkpoint/checkpointer.h"
#include "api/training/loss_jump_detector.h"
#include "api/training/optimizer.h"
#include "api/training/progress.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/supervise/status_file.h"
#include "phi/core/storage/memory_ledger.h"
#include "tools/job/output/job_trace.h"
#include "tools/job/output/report.h"
#include "tools/job/setup.h"

namespace phi::job {

class Job {
 public:
  explicit Job(Setup setup);

  /// Builds the model, runs all steps, saves, and gathers the report. Every rank calls it.
  JobReport run();

  /// After run(): outputs that could not be written, one text each.
  const std::vector<std::string>& output_faults() const { return output_faults_; }

  /// "at rank 3 of 8, step 12, stage 1"
  std::string position_text() const;
  /// After an error: saves the trace so far and returns where it is.
  std::string save_trace_after_error();
  /// After an error: a line with the newest checkpoint and the command that continues from it;
  /// empty if there is none.
  std::string resume_hint() const;

 private:
  void begin_step(int64_t step);
  void note_fault(const std::string& fault);
  void limit_device();
  /// Returns the bytes of the model's states.
  training::StateBytes run_steps(nn::Sequential& model, JobReport* report);
  void run_training_loop(training::Trainer& trainer, training::Checkpointer* checkpoints,
                         JobReport* report);
  training::Progress new_progress() const;
  training::StepResult run_step(training::Trainer& trainer);
  /// Reports what --check has checked, if it found nothing wrong.
  void report_check(int64_t steps) const;
  void resume(training::Checkpointer& checkpoints, JobReport* report);
  void report_loss_jump(training::LossJumpDetector& jumps, int64_t step, double loss) const;
  void generate(nn::Sequential& model, JobReport* report);
  void note_program(const Program& program);
  void check_save_folder(const nn::Sequential& model) const;
  void save(const nn::Sequential& model);
  bool is_reporter() const;
  int64_t pipeline_stage() const;
  JobReport describe(const nn::Sequential& model) const;
  RankReport rank_report(const nn::Sequential& model, int64_t parameter_peak,
                         const training::StateBytes& states) const;

  Setup setup_;
  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  distributed::World& world_;
  JobTrace trace_;
  distributed::supervise::StatusFile status_;
  std::optional<MemoryLedger> ledger_;  // of a dry run, or under --device_limit
  SwapReport swapping_;
  int64_t program_steps_ = 0;
  int64_t program_arena_bytes_ = 0;
  int64_t checkpoint_bytes_read_ = 0;
  int64_t checked_calls_ = 0;
  std::vector<std::string> output_faults_;
  int64_t step_ = 0;  // counts from 1; 0 before and after the steps
};

}  // namespace phi::job
