// Binds init and the queries of a rank, and run_ranks, whose ranks are threads of this process.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "python/src/base/shared_reference.h"
#include "python/src/distributed/distributed.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::World;

namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  PHI_CHECK(seconds >= 0,
            errors::InvalidArgument("deadline must be at least 0 seconds, got {}.", seconds));
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void init(double start_deadline) {
  const GilRelease others;
  // MPI requires a command line; this one contains no options of MPI.
  static char program[] = "python";
  static char* words[] = {program, nullptr};
  int argc = 1;
  char** argv = words;
  distributed::init(&argc, &argv, milliseconds(start_deadline));
}

void finalize() {
  const GilRelease others;
  distributed::finalize();
}

void barrier() {
  const GilRelease others;
  World::current().everyone().barrier();
}

// Adds the rank to the error, whose traceback has only the location.
void note_rank(nb::python_error& error, const World& world) {
  const std::string note = fmt::format("at rank {} of {}", world.rank(), world.size());
  error.value().attr("add_note")(note);
}

// The running ranks of one run_ranks call, so that Ctrl-C can stop them.
class RunningRanks {
 public:
  /// Called on the rank's thread. Requires the GIL.
  void begin(World& world) {
    const std::lock_guard lock(mutex_);
    ranks_.push_back({&world, PyThread_get_thread_ident()});
  }
  void end(World& world) {
    const std::lock_guard lock(mutex_);
    std::erase_if(ranks_, [&](const Rank& rank) { return rank.world == &world; });
  }
  /// Raises KeyboardInterrupt in the ranks' Python code, and an error in their waits. Requires the
  /// GIL.
  void interrupt() {
    const std::lock_guard lock(mutex_);
    for (const Rank& rank : ranks_) {
      PyThreadState_SetAsyncExc(rank.thread, PyExc_KeyboardInterrupt);
      rank.world->transport().fail("the run was interrupted");
    }
  }

 private:
  struct Rank {
    World* world;
    unsigned long thread;
  };
  std::mutex mutex_;
  std::vector<Rank> ranks_;
};

// Ends a child process that the function has forked and that returns from the function. Exits with
// `status` (that of sys.exit) and flushes Python's output.
[[noreturn]] void end_child(int status) {
  for (const char* stream : {"stdout", "stderr"}) {
    const nb::object file = nb::module_::import_("sys").attr(stream);
    if (!file.is_none()) file.attr("flush")();
  }
  std::fflush(nullptr);
  std::_Exit(status);
}

// The exit status of sys.exit(code). A code that is not a number is printed, and the status is
// failure.
int status_of(const nb::python_error& exit) {
  const nb::object code = exit.value().attr("code");
  if (code.is_none()) return EXIT_SUCCESS;
  if (nb::isinstance<nb::int_>(code)) return nb::cast<int>(code);
  nb::module_::import_("sys").attr("stderr").attr("write")(nb::str(code) + nb::str("\n"));
  return EXIT_FAILURE;
}

void call_on_rank(World& world, nb::handle function, nb::handle args, RunningRanks& running,
                  std::shared_ptr<PyObject>& result) {
  const nb::gil_scoped_acquire lock;
  running.begin(world);
  try {
    result = shared_reference(function(*nb::borrow<nb::args>(args)).ptr());
  } catch (nb::python_error& error) {
    if (world.was_forked() && error.matches(PyExc_SystemExit)) end_child(status_of(error));
    running.end(world);
    note_rank(error, world);
    throw;
  }
  if (world.was_forked()) end_child(EXIT_SUCCESS);
  running.end(world);
}

// Python runs signal handlers on the main thread, when it checks for signals; this is the interval.
constexpr std::chrono::milliseconds kBetweenSignals{50};

// Runs work() on a new thread. At Ctrl-C calls interrupt(), waits for work(), and throws the
// handler's error.
template <typename Work, typename Interrupt>
void wait_for(Work&& work, Interrupt&& interrupt) {
  auto done = std::async(std::launch::async, std::forward<Work>(work));
  for (;;) {
    {
      const GilRelease others;
      if (done.wait_for(kBetweenSignals) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() != 0) {
      nb::python_error error;  // raised by the handler
      interrupt();
      {
        const GilRelease others;
        done.wait();
      }
      throw error;
    }
  }
  done.get();
}

nb::list run_ranks(int64_t n, nb::callable function, nb::tuple args, double deadline) {
  PHI_CHECK(n >= 1, errors::InvalidArgument("run_ranks needs at least 1 rank, got {}.", n));
  std::vector<std::shared_ptr<PyObject>> results(static_cast<size_t>(n));
  const auto longest = milliseconds(deadline);
  RunningRanks running;
  wait_for(
      [&] {
        distributed::run_ranks(
            n,
            [&](World& world) {
              auto& result = results[static_cast<size_t>(world.rank())];
              call_on_rank(world, function, args, running, result);
            },
            longest);
      },
      [&] { running.interrupt(); });
  nb::list list;
  for (const std::shared_ptr<PyObject>& result : results) list.append(nb::handle(result.get()));
  return list;
}

nb::dict counters() {
  const Counters& c = RankContext::current().counters();
  nb::dict dict;
  dict["ops_launched"] = c.ops_launched;
  dict["ops_clipped"] = c.ops_clipped;
  dict["reshard_steps"] = c.reshard_steps;
  dict["bytes_sent"] = c.bytes_sent;
  dict["bytes_received"] = c.bytes_received;
  return dict;
}

}  // namespace

void bind_ranks(nb::module_& module) {
  module.def("init", &init, nb::arg("start_deadline") = 0.0,
             "Join the job that mpirun started; without mpirun the job is this one process.\n\n"
             "Call it once, before other calls. `start_deadline`: seconds to wait for the other "
             "ranks; 0: 60.");
  module.def("finalize", &finalize, "Leave the job. Does nothing without init().");
  module.def("rank", &distributed::rank);
  module.def("world_size", &distributed::world_size);
  module.def(
      "use_gpu",
      [](bool tf32, const std::string& messages, const std::string& reduction) {
        const distributed::GpuOptions options{tf32, distributed::parse_gpu_messages(messages),
                                              distributed::parse_gpu_reduction(reduction)};
        const GilRelease others;
        return distributed::use_gpu(options).to_string();
      },
      nb::kw_only(), nb::arg("tf32") = false, nb::arg("messages") = "nccl",
      nb::arg("reduction") = "exact",
      "Use a GPU for this rank from now on and return its place, such as 'gpu:0'.\n\n"
      "The index of the GPU is the rank's index on its machine, modulo the number of visible "
      "GPUs.\n"
      "Collective: call it on all ranks after init() and before the first tensor, with the same "
      "arguments.\n"
      "tf32: float32 matmuls may round their arguments to TF32, with a mantissa of 10 bits.\n"
      "messages: transport between GPUs, 'nccl' or through the memory of the 'host'.\n"
      "reduction: of NCCL messages, 'exact' (bit-identical to other backends) or 'fast' (NCCL's "
      "own\n"
      "reduction, which sums floats in an unspecified order).\n"
      "Errors: RuntimeError if no driver is found, if this build has no CUDA, if it has no NCCL "
      "and there\n"
      "are several ranks, or if two ranks share a GPU; ValueError for another word. With "
      "messages='host'\n"
      "ranks can share a GPU: rank 0 prints which ones do.");
  module.def("barrier", &barrier, "Wait until all ranks call it. Collective.");
  module.def(
      "backend", [] { return std::string(World::current().backend()); },
      "Return the backend: 'mpi', 'local' (ranks are threads) or 'dry'.");
  module.def(
      "was_forked", [] { return World::current().was_forked(); },
      "Return whether this process was forked from a rank.");
  module.def("counters", &counters, "Return counters of this rank so far.");
  module.def(
      "abort_job",
      [](const std::string& message) {
        const GilRelease others;
        distributed::abort_job(message);
      },
      nb::arg("message"), "Print the message and end the job on all ranks with status 1.");
  module.def("run_ranks", &run_ranks, nb::arg("n"), nb::arg("function"), nb::arg("args"),
             nb::kw_only(), nb::arg("deadline") = 60.0,
             "Run function(*args) on `n` ranks, which are threads of this process.\n\n"
             "Returns their results by rank. An error on one rank stops all and is raised here. "
             "`deadline`:\n"
             "seconds that a rank waits for the others in one call.");
}

}  // namespace phi::python
