// Binds the trainer and its checkpoints.
#include "python/src/training/training.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/training/checkpoint/checkpointer.h"
#include "api/training/checkpoint/trainer_checkpoint.h"
#include "api/training/progress.h"
#include "api/training/trainer.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
using training::Batch;
using training::Checkpointer;
using training::StepResult;
using training::Trainer;
using training::TrainerOptions;

training::LossFunction loss_from(nb::callable function) {
  return [kept = shared_reference(function.ptr())](const Tensor& output, const Tensor& labels) {
    const nb::gil_scoped_acquire lock;
    const nb::object loss = nb::handle(kept.get())(output, labels);
    if (!is_tensor(loss.ptr()))
      refuse({"Trainer", "return value of the loss"}, "Tensor", loss.ptr());
    return tensor_of(loss.ptr());
  };
}

namespace {

// ---- arguments ----

bool is_pair(nb::handle value) {
  return (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) && nb::len(value) == 2 &&
         is_tensor(nb::object(value[0]).ptr()) && is_tensor(nb::object(value[1]).ptr());
}

Batch batch_from(nb::handle value) {
  if (!is_pair(value)) refuse({"step", "batches"}, "pairs of Tensor (inputs, labels)", value.ptr());
  return {tensor_of(nb::object(value[0]).ptr()), tensor_of(nb::object(value[1]).ptr())};
}

// Converts one pair, or a list with a pair for each micro-batch.
std::vector<Batch> batches_from(nb::handle value) {
  if (is_pair(value)) return {batch_from(value)};
  std::vector<Batch> batches;
  for (nb::handle each : value) batches.push_back(batch_from(each));
  return batches;
}

nn::Recompute recompute_from(const std::string& name) {
  if (name == "none") return nn::Recompute::kNone;
  if (name == "selective") return nn::Recompute::kSelective;
  PHI_CHECK(
      name == "full",
      errors::InvalidArgument("recompute must be 'none', 'selective' or 'full', got '{}'.", name));
  return nn::Recompute::kFull;
}

training::OnNonFinite nonfinite_from(const std::string& name) {
  if (name == "stop") return training::OnNonFinite::kStop;
  PHI_CHECK(name == "skip",
            errors::InvalidArgument("on_nonfinite must be 'stop' or 'skip', got '{}'.", name));
  return training::OnNonFinite::kSkip;
}

// ---- the trainer ----

StepResult step_trainer(Trainer& trainer, nb::handle batches) {
  const std::vector<Batch> given = batches_from(batches);
  const GilRelease others;
  return trainer.step(given);
}

void run_trainer(Trainer& trainer, int64_t steps, nb::callable batches) {
  const GilRelease others;
  trainer.run(steps, [&](int64_t number) {
    const nb::gil_scoped_acquire lock;
    return batches_from(batches(number));
  });
}

void on_step(Trainer& trainer, nb::callable hook) {
  trainer.on_step(
      [kept = shared_reference(hook.ptr())](int64_t step_trainer, const StepResult& result) {
        const nb::gil_scoped_acquire lock;
        nb::handle(kept.get())(step_trainer, result);
      });
}

nb::dict trainer_states(const Trainer& trainer) {
  nb::dict dict;
  for (const auto& [name, tensor] : trainer.states()) dict[nb::cast(name)] = tensor;
  return dict;
}

nb::dict numbers(const Trainer& trainer) {
  const training::TrainerCounters now = trainer.counters();
  nb::dict dict;
  training::for_each_trainer_counter(
      [&](const auto& number) { dict[number.name] = now.*number.value; });
  return dict;
}

nb::dict state_bytes(const Trainer& trainer) {
  const training::StateBytes bytes = trainer.state_bytes();
  nb::dict dict;
  dict["parameters"] = bytes.parameters;
  dict["gradients"] = bytes.gradients;
  dict["states"] = bytes.states;
  return dict;
}

void bind_result(nb::module_& module) {
  nb::class_<StepResult>(module, "StepResult", "Result of one training step.")
      .def_ro("loss", &StepResult::loss, "Mean over the batch.")
      .def_ro("finite", &StepResult::finite, "Whether the loss and all gradients are finite.")
      .def_ro("learning_rate", &StepResult::learning_rate)
      .def_ro("grad_norm", &StepResult::grad_norm, "Global norm of the gradients before clipping.")
      .def_ro("loss_scale", &StepResult::loss_scale)
      .def_ro("applied", &StepResult::applied,
              "Whether the update was applied; False if a gradient was not finite.");
}

void bind_trainer(nb::module_& module) {
  nb::class_<Trainer>(
      module, "Trainer", nb::is_weak_referenceable(),
      "Training steps of a model, plain or sharded over a mesh: forward, backward, update.")
      .def(
          "__init__",
          [](Trainer* self, nn::Layer& model, nb::callable loss, const TrainerOptions& options) {
            freeze_untracked(model);
            auto function = loss_from(loss);
            const GilRelease others;
            new (self) Trainer(model, std::move(function), options);
          },
          nb::arg("model"), nb::arg("loss"), nb::arg("options"), nb::keep_alive<1, 2>())
      .def("step", &step_trainer, nb::arg("batches"),
           "Run the next step on one pair (inputs, labels) per micro-batch and return its "
           "StepResult.\n\n"
           "A single pair need not be in a list. Tensors are plain and the same on every rank. "
           "Collective;\n"
           "every rank returns the same result. ValueError for another number of micro-batches;\n"
           "FloatingPointError for non-finite numbers, with the first rank and operator.")
      .def("run", &run_trainer, nb::arg("steps"), nb::arg("batches"),
           "Run `steps` steps. batches(number) returns the batches of step next_batch: 1, 2, ..")
      .def("on_step", &on_step, nb::arg("hook"), "Call hook(step, result) after each step.")
      .def_prop_ro("steps", &Trainer::steps, "Number of completed steps.")
      .def_prop_ro("next_batch", &Trainer::next_batch)
      .def_prop_ro("numbers", &numbers)
      .def_prop_ro("state_bytes", &state_bytes, "Bytes of the model states on this rank.")
      .def_prop_ro(
          "program", [](const Trainer& self) { return self.program(); },
          "Program of all steps; None unless steps are captured and one has run.")
      .def("states", &trainer_states,
           "Return parameters, buffers and optimizer states by their names in checkpoints.");
}

void bind_options(nb::module_& module) {
  nb::class_<TrainerOptions>(module, "Options")
      .def(
          "__init__",
          [](TrainerOptions* self, const training::OptimizerConfig& optimizer,
             const training::LearningRateSchedule& rate, int64_t micro_batches,
             const std::string& schedule, const std::string& recompute, bool capture, bool graphs,
             bool trains, const std::string& nonfinite, int64_t max_left_out,
             const ProgramMemory& memory) {
            new (self) TrainerOptions{.trains = trains,
                                      .optimizer = optimizer,
                                      .rate = rate,
                                      .micro_batches = micro_batches,
                                      .schedule = schedule,
                                      .recompute = recompute_from(recompute),
                                      .capture = capture,
                                      .graphs = graphs,
                                      .memory = memory,
                                      .on_nonfinite = nonfinite_from(nonfinite),
                                      .max_left_out = max_left_out};
          },
          nb::arg("optimizer"), nb::arg("rate"), nb::arg("micro_batches"), nb::arg("schedule"),
          nb::arg("recompute"), nb::arg("capture"), nb::arg("graphs"), nb::arg("trains"),
          nb::arg("on_nonfinite"), nb::arg("max_left_out"), nb::arg("memory"));
}

training::Progress::Style style_from(const std::string& name) {
  using Style = training::Progress::Style;
  if (name == "silent") return Style::kSilent;
  if (name == "lines") return Style::kLines;
  PHI_CHECK(name == "bar", errors::InvalidArgument(
                               "progress must be 'silent', 'lines' or 'bar', got '{}'.", name));
  return Style::kBar;
}

void bind_progress(nb::module_& module) {
  using training::Progress;
  nb::class_<Progress>(module, "Progress", "Progress of steps, printed as a bar or as lines.")
      .def(
          "__init__",
          [](Progress* self, const std::string& style, int64_t steps, int64_t tokens_per_step,
             int64_t first, nb::callable write) {
            const auto as = style_from(style);
            PHI_CHECK(steps >= 1 && first >= 0 && first < steps,
                      errors::InvalidArgument("progress: {} steps with {} of them completed; "
                                              "expected at least 1 step and fewer completed ones.",
                                              steps, first));
            new (self) Progress(as, steps, tokens_per_step,
                                [kept = shared_reference(write.ptr())](const std::string& text) {
                                  const nb::gil_scoped_acquire lock;
                                  nb::handle(kept.get())(text);
                                });
            self->resume_after(first);
          },
          nb::arg("style"), nb::arg("steps"), nb::arg("tokens_per_step"), nb::arg("first"),
          nb::arg("write"))
      .def("done", &Progress::done, nb::arg("step"), nb::arg("loss"),
           "Print the progress of a completed step. Steps count from 1.")
      .def_prop_ro("seconds", &Progress::seconds, "Seconds since construction.")
      .def_prop_ro("last_step_seconds", &Progress::last_step_seconds)
      .def("tokens_per_s", &Progress::tokens_per_s, nb::arg("step"),
           "Return tokens per second up to the end of this step.")
      .def_static(
          "is_bar",
          [](bool is_terminal) {
            return Progress::of_terminal(is_terminal) == Progress::Style::kBar;
          },
          nb::arg("is_terminal"),
          "Return whether output is a bar. Under mpirun, mpirun's output decides, not "
          "`is_terminal`.");
}

void bind_checkpointer(nb::module_& module) {
  nb::class_<Checkpointer>(
      module, "Checkpointer",
      "Saves checkpoints of a trainer during training and resumes from the newest one.")
      .def(
          "__init__",
          [](Checkpointer* self, Trainer& trainer, const std::string& folder, int64_t every,
             double minutes, int64_t keep, bool async, const std::string& fallback, bool roll_back,
             std::map<std::string, std::string> metadata) {
            const GilRelease others;
            new (self) Checkpointer(trainer, {.folder = folder,
                                              .every = every,
                                              .minutes = minutes,
                                              .keep = keep,
                                              .async = async,
                                              .fallback = fallback,
                                              .roll_back = roll_back,
                                              .metadata = std::move(metadata)});
          },
          nb::arg("trainer"), nb::arg("folder"), nb::kw_only(), nb::arg("every") = 0,
          nb::arg("minutes") = 0.0, nb::arg("keep") = 3, nb::arg("async_") = true,
          nb::arg("fallback") = "", nb::arg("roll_back") = false,
          nb::arg("metadata") = std::map<std::string, std::string>(), nb::keep_alive<1, 2>(),
          "Construct a checkpointer.\n\n"
          "`every`: interval in steps (0: none); `minutes`: interval by the clock of rank 0; "
          "`keep`: number of\n"
          "newest checkpoints that are kept.")
      .def(
          "resume",
          [](Checkpointer& self) -> std::optional<std::pair<std::string, int64_t>> {
            const GilRelease others;
            const auto resumed = self.resume();
            if (!resumed) return std::nullopt;
            return std::pair{resumed->path, resumed->step};
          },
          "Load the newest complete checkpoint and return (path, step), or None if there is none.")
      .def(
          "begin",
          [](Checkpointer& self) {
            const GilRelease others;
            self.begin();
          },
          "Start without resume(). ValueError if there are checkpoints.")
      .def(
          "after_step",
          [](Checkpointer& self, const StepResult& result) {
            const GilRelease others;
            self.after_step(result);
          },
          nb::arg("result"), "Save if a checkpoint is due. Call it after each step on every rank.")
      .def_prop_ro("stop_signal", &Checkpointer::stop_signal,
                   "Signal that stops the job, the same on every rank; 0: none.")
      .def(
          "finish",
          [](Checkpointer& self) {
            const GilRelease others;
            self.finish();
          },
          "Save the current state if it is not saved, and wait until it is on disk.");
}

}  // namespace

void bind_training(nb::module_& module) {
  nb::class_<ProgramMemory>(module, "Memory",
                            "Limits in bytes of this rank's memory, by tier.\n\n"
                            "None for the device: no limit, nothing is swapped.")
      .def(
          "__init__",
          [](ProgramMemory* self, std::optional<int64_t> device, int64_t host, int64_t disk,
             const std::string& folder) {
            new (self) ProgramMemory{{device.value_or(memory::kUnlimited), host, disk}, folder};
          },
          nb::arg("device").none() = nb::none(), nb::arg("host") = 0, nb::arg("disk") = 0,
          nb::arg("disk_folder") = "/tmp");
  module.def(
      "limit_rank", [](const ProgramMemory& memory) { limit_rank(memory); }, nb::arg("memory"),
      "Limit this rank's device memory from now on. Call it before parameters are placed on a "
      "mesh.");
  bind_result(module);
  bind_options(module);
  bind_trainer(module);
  bind_checkpointer(module);
  bind_progress(module);
  module.def(
      "save",
      [](const std::string& folder, const Trainer& trainer) {
        const GilRelease others;
        training::save(folder, trainer);
      },
      nb::arg("folder"), nb::arg("trainer"),
      "Save the complete state of a trainer. Collective: each rank writes its shards.");
  module.def(
      "load",
      [](const std::string& folder, Trainer& trainer) {
        const GilRelease others;
        training::load(distributed::checkpoint::open(folder), &trainer);
      },
      nb::arg("folder"), nb::arg("trainer"),
      "Restore a trainer from a saved one.\n\n"
      "Mesh, ZeRO stage, schedule and dtype can differ. ValueError lists all mismatches; the "
      "trainer is\n"
      "unchanged then.");
}

}  // namespace phi::python
