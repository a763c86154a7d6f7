// Machines: the machines of a job, from a host file, and which of them respond.
//
//   const auto machines = read_host_file("hosts");                     // a slots=4 / b slots=4
//   const auto left = responding_machines(machines, {.command = kSshProbe});
//   host_list(left, 8);                                                // "a:4,b:4", for mpirun
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace phi::distributed::supervise {

struct Machine {
  std::string name;
  int64_t slots = 1;  // number of ranks that it may run
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Reads a host file of Open MPI: a line per machine, `NAME slots=4`, and comments after `#`.
/// Errors: NotFound if it cannot be read; InvalidArgument `FILE:LINE: ...` for lines that are
/// malformed, without slots, or repeat a machine.
std::vector<Machine> read_host_file(const std::string& path);
/// The same from text; errors name `path`.
std::vector<Machine> parse_host_file(const std::string& text, const std::string& path);

inline constexpr const char* kSshProbe =
    "ssh -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=accept-new \"$1\" true";

struct Probe {
  std::string command = kSshProbe;  // run by sh, with the machine as $1; status 0: it responds
  std::chrono::milliseconds limit = std::chrono::seconds(10);
};

/// A machine that does not respond, and why: the probe's last line on standard error and its
/// status, or that it took too long.
struct UnresponsiveMachine {
  std::string machine;
  std::string why;
};

/// Returns the machines that respond, in their order. All are probed at the same time, except this
/// machine, which counts as responding. Appends the rest to `others` if it is not null.
std::vector<Machine> responding_machines(std::span<const Machine> machines, const Probe& probe,
                                         std::vector<UnresponsiveMachine>* others = nullptr);

/// Whether the name, or an address of it, is this machine's.
bool is_this_machine(const std::string& name);

int64_t slots_of(std::span<const Machine> machines);
/// The first `slots` slots, "a:4,b:2".
std::string host_list(std::span<const Machine> machines, int64_t slots);

}  // namespace phi::distributed::supervise
