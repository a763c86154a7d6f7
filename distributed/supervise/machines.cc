// Reads host files and probes machines.
#include "distributed/supervise/machines.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "distributed/supervise/child_process.h"
#include "phi/common/errors.h"
#include "phi/common/printable.h"

namespace phi::distributed::supervise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProbeInterval{20};
constexpr int64_t kMaxSlots = 1 << 16;

std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 1 || value > kMaxSlots) return std::nullopt;
  return value;
}

// Rejects words that mpirun would interpret as a flag, a user, a list or a slot count.
bool is_name(const std::string& word) {
  return !word.starts_with('-') && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

// Parses a line without its comment; nullopt for an empty one. `where` is FILE:LINE.
std::optional<Machine> machine_in(const std::string& line, const std::string& where) {
  std::istringstream words(line);
  Machine machine;
  if (!(words >> machine.name)) return std::nullopt;
  PHI_CHECK(is_name(machine.name),
            errors::InvalidArgument(
                "{}: '{}' is not a machine name; set users and ports in ~/.ssh/config.", where,
                machine.name));
  bool has_slots = false;
  for (std::string word; words >> word;) {
    constexpr std::string_view kSlots = "slots=";
    const auto slots = word.starts_with(kSlots)
                           ? number_in(std::string_view(word).substr(kSlots.size()))
                           : std::nullopt;
    PHI_CHECK(slots && !has_slots,
              errors::InvalidArgument("{}: '{}' is not understood; write NAME slots=4, with 1 to "
                                      "{} slots.",
                                      where, word, kMaxSlots));
    machine.slots = *slots;
    has_slots = true;
  }
  PHI_CHECK(has_slots, errors::InvalidArgument(
                           "{}: '{}' has no number of slots; write {} slots=4, for example.", where,
                           machine.name, machine.name));
  return machine;
}

bool same_address(const sockaddr* a, const sockaddr* b) {
  if (a == nullptr || b == nullptr || a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
  }
  return a->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
}

bool resolves_to_own_address(const std::string& name) {
  addrinfo* named = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, nullptr, &named) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> named_owner(named, freeaddrinfo);
  ifaddrs* own = nullptr;
  if (getifaddrs(&own) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> own_owner(own, freeifaddrs);
  for (; named != nullptr; named = named->ai_next) {
    for (const ifaddrs* each = own; each != nullptr; each = each->ifa_next) {
      if (same_address(named->ai_addr, each->ifa_addr)) return true;
    }
  }
  return false;
}

// The last line that contains words.
std::string last_line(std::string_view text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  const size_t before = text.find_last_of('\n');
  return printable(before == std::string_view::npos ? text : text.substr(before + 1));
}

// A machine that is being probed; without a child it is this machine.
struct MachineProbe {
  const Machine* machine;
  std::unique_ptr<ChildProcess> child{};
  bool answers = false;
  std::string errors{};  // the probe's standard error
  std::string why{};     // why it does not respond

  bool is_over() {
    if (!child) return true;
    const bool has_ended = child->poll();  // before the read: all output of an ended child is
                                           // available
    read_errors();
    if (!has_ended) return false;
    answers = shell_status(child->status()) == 0;
    const std::string line = last_line(errors);
    const std::string end = describe_exit(child->status());
    why = line.empty() ? end : fmt::format("{} ({})", line, end);
    child.reset();
    return true;
  }

  void read_errors() {
    constexpr size_t kKept = 4096;  // from the end of the output
    std::array<char, 1024> bytes{};
    for (ssize_t n = 0; (n = read(child->errors(), bytes.data(), bytes.size())) > 0;) {
      errors.append(bytes.data(), static_cast<size_t>(n));
      if (errors.size() > kKept) errors.erase(0, errors.size() - kKept);
    }
  }
};

}  // namespace

std::vector<Machine> parse_host_file(const std::string& text, const std::string& path) {
  std::vector<Machine> machines;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = fmt::format("{}:{}", path, ++number);
    const auto machine = machine_in(line.substr(0, line.find('#')), where);
    if (!machine) continue;
    const auto same = std::ranges::find(machines, machine->name, &Machine::name);
    PHI_CHECK(
        same == machines.end(),
        errors::InvalidArgument("{}: the machine '{}' is named twice.", where, machine->name));
    machines.push_back(*machine);
  }
  PHI_CHECK(!machines.empty(),
            errors::InvalidArgument("the host file '{}' names no machine.", path));
  return machines;
}

std::vector<Machine> read_host_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  PHI_CHECK(in && text,
            errors::NotFound("cannot read the host file '{}': {}.", path, std::strerror(errno)));
  return parse_host_file(text.str(), path);
}

bool is_this_machine(const std::string& name) {
  std::array<char, 256> own{};
  gethostname(own.data(), own.size() - 1);
  const std::string full = own.data();
  if (name == "localhost" || name == full || name == full.substr(0, full.find('.'))) return true;
  return resolves_to_own_address(name);
}

std::vector<Machine> responding_machines(std::span<const Machine> machines, const Probe& probe,
                                         std::vector<UnresponsiveMachine>* others) {
  std::vector<MachineProbe> asked;
  for (const Machine& machine : machines) {
    asked.push_back({.machine = &machine, .answers = is_this_machine(machine.name)});
    if (asked.back().answers) continue;
    const std::vector<std::string> words = {"sh", "-c", probe.command, "sh", machine.name};
    asked.back().child = std::make_unique<ChildProcess>(
        words,
        ChildProcess::Options{.on_parent_death = SIGKILL, .keeps_errors = true, .is_mute = true});
    asked.back().why = fmt::format("no response within {:g} s",
                                   std::chrono::duration<double>(probe.limit).count());
  }
  const auto limit = Clock::now() + probe.limit;
  while (!std::ranges::all_of(asked, &MachineProbe::is_over) && Clock::now() < limit) {
    std::this_thread::sleep_for(kProbeInterval);
  }
  std::vector<Machine> found;
  for (const MachineProbe& each : asked) {
    if (each.answers) {
      found.push_back(*each.machine);
    } else if (others != nullptr) {
      others->push_back({each.machine->name, each.why});
    }
  }
  return found;
}

int64_t slots_of(std::span<const Machine> machines) {
  int64_t slots = 0;
  for (const Machine& machine : machines) slots += machine.slots;
  return slots;
}

std::string host_list(std::span<const Machine> machines, int64_t slots) {
  std::string list;
  for (const Machine& machine : machines) {
    const int64_t taken = std::min(slots, machine.slots);
    if (taken == 0) break;
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", machine.name, taken);
    slots -= taken;
  }
  return list;
}

}  // namespace phi::distributed::supervise
