// Machines of a job: what a host file names, and which of them answer.
//
//   const auto machines = read_host_file("hosts");                     // a slots=4 / b slots=4
//   const auto left = answering(machines, {.command = kSshProbe});
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
  int64_t slots = 1;  // ranks that it takes
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// A host file of Open MPI: a line for each machine, `NAME slots=4`, and `#` before comments.
/// Errors: NotFound if it cannot be read; InvalidArgument `FILE:LINE: ...` for lines that are not
/// understood, without slots, or of a machine that was named before.
std::vector<Machine> read_host_file(const std::string& path);
/// The same from text; `path` is named in errors.
std::vector<Machine> parse_host_file(const std::string& text, const std::string& path);

inline constexpr const char* kSshProbe =
    "ssh -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=accept-new \"$1\" true";

struct Probe {
  std::string command = kSshProbe;  // of sh; $1 is the machine. It answers if that ends with 0
  std::chrono::milliseconds limit = std::chrono::seconds(10);
};

/// A machine that does not answer, and why: the last line that the probe has written to standard
/// error, with its status, or that it took too long.
struct NoAnswer {
  std::string machine;
  std::string why;
};

/// Those that answer, in their order. All are asked at once, but for this machine itself, which
/// answers. `others`: receives the rest; may be null.
std::vector<Machine> answering(std::span<const Machine> machines, const Probe& probe,
                               std::vector<NoAnswer>* others = nullptr);

/// Its name, or an address of it, is this machine's.
bool is_this_machine(const std::string& name);

int64_t slots_of(std::span<const Machine> machines);
/// The first `slots` of them, "a:4,b:2".
std::string host_list(std::span<const Machine> machines, int64_t slots);

}  // namespace phi::distributed::supervise
