// ProgramReplay: runs of a captured program that launch graphs of the device (replay.h). Graphs
// contain addresses, so inputs and outputs are copied to and from fixed memory of the program.
#pragma once

#include <optional>

#include "api/capture/execution/program_state.h"
#include "api/capture/execution/replay.h"
#include "api/capture/execution/run_steps.h"

namespace phi {

class ProgramReplay {
 public:
  /// `program` must outlive this object. Its launches must be its steps, in order, without
  /// transfers between them. Requires that the device can capture graphs.
  ProgramReplay(ProgramState& program, const Place& place);

  /// Whether this run may launch graphs: not if the rank's steps are observed, or if its settings
  /// differ from those at the construction.
  bool is_usable() const;
  /// Copies inputs to fixed memory and binds them there, except for those that are written to or
  /// returned: these must keep the caller's storage.
  void fix_inputs();
  /// Binds the outputs that each run allocates to fixed memory.
  void fix_outputs();
  /// Copies these outputs to new storages and binds them there.
  void copy_outputs();

  /// Same effect as running all launches in order. Requires that they have run once before.
  void run(const RunLaunch& run);
  /// Called if this rank runs all steps one by one in this run (Replay::skip_run).
  void skip_run() { replay_.skip_run(); }

 private:
  const IntrusivePtr<Storage>& fixed(BufferState& buffer) const;
  std::optional<Replay::Addresses> addresses_of(size_t begin, size_t end) const;

  ProgramState& program_;
  Place place_;
  Replay replay_;
  bool tf32_;  // the rank's setting when the graphs were captured
};

}  // namespace phi
