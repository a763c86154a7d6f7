// Loads libraries of operators.
#include "api/library/load_ops.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>

#include "api/library/op_library.h"
#include "api/library/open_library.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

namespace fs = std::filesystem;

constexpr LibraryRole kRole = {"operator library", "build one with autophi_add_ops"};

// The contents of an OpLibrary.
struct Brought {
  const char* name;
  std::span<const OpDef* const> ops;
  std::span<const NamedCall> calls;
  OpLibrary::Signatures signatures;
  std::span<const CompatName> compat_names;

  // Each operator has a call, so add_calls detects every name that is taken, before add_ops adds
  // anything.
  void join() const {
    add_calls(calls);
    add_ops(ops);
    add_compat_names(compat_names);
  }
};
// Receives the contents of the library that this thread is loading, and of the libraries that it
// links; null if the thread is not loading one.
thread_local std::vector<Brought>* loading = nullptr;

struct Loaded {
  std::mutex mutex;
  std::list<std::pair<fs::path, LoadedOps>> libraries;  // in order; addresses are stable
  // The errors of files that were opened. They stay open, so opening one again would not run its
  // static initialisers.
  std::map<fs::path, Error> refused;
};
Loaded& loaded() {
  static auto& instance = *new Loaded;
  return instance;
}

// Sets `loading` for its lifetime.
class Collecting {
 public:
  explicit Collecting(std::vector<Brought>* to) { loading = to; }
  ~Collecting() { loading = nullptr; }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;
};

// An opened library. Its static initialisers have run and registered its kernels.
struct Opened {
  std::vector<Brought> brought;
  std::vector<std::string> clashes;
};

Opened open_ops(const std::string& path) {
  Opened opened;
  KernelClashes clashes;
  {
    const Collecting collecting(&opened.brought);
    open_library(path);
  }
  clashes.settle();
  opened.clashes = clashes.found();
  return opened;
}

LoadedOps join_all(const std::string& path, const Opened& opened) {
  PHI_CHECK(opened.clashes.empty(),
            errors::AlreadyExists("{}: {}: already registered; choose other names.", path,
                                  fmt::join(opened.clashes, " and ")));
  PHI_CHECK(
      !opened.brought.empty(),
      errors::InvalidArgument(
          "'{}' was loaded but registered no operators: the program already links it.", path));
  LoadedOps loaded;
  for (const Brought& each : opened.brought) {
    try {
      each.join();
    } catch (Error& error) {
      error.note(fmt::format("in the library {} of {}", each.name, path));
      throw;
    }
    loaded.name = each.name;
    for (const OpDef* op : each.ops) loaded.ops.emplace_back(op->name);
    for (OpSignature& function : each.signatures()) loaded.functions.push_back(std::move(function));
  }
  return loaded;
}

// An error after opening is final for the file. After an earlier error the file may be replaced and
// loaded again.
LoadedOps load(const std::string& path, const fs::path& file) {
  check_library(path, kRole);
  const Opened opened = open_ops(path);
  try {
    return join_all(path, opened);
  } catch (const Error& error) {
    loaded().refused.emplace(file, error);
    throw;
  }
}

}  // namespace

OpLibrary::OpLibrary(const char* name, std::span<const OpDef* const> ops,
                     std::span<const NamedCall> calls, Signatures signatures,
                     std::span<const CompatName> compat_names, const char* /*abi*/) {
  const Brought brought{name, ops, calls, signatures, compat_names};
  if (loading != nullptr) {
    loading->push_back(brought);
    return;
  }
  try {
    brought.join();
  } catch (const Error& error) {
    // This runs before main, where no caller can catch an exception.
    std::fprintf(stderr, "autophi: library %s: %s\n", name, error.what());
    std::abort();
  }
}

const LoadedOps& load_ops(const std::string& path) {
  std::error_code none;
  const fs::path file = fs::weakly_canonical(path, none);
  const std::lock_guard lock(loaded().mutex);
  for (const auto& [other, ops] : loaded().libraries) {
    if (other == file) return ops;
  }
  const auto before = loaded().refused.find(file);
  if (before != loaded().refused.end()) throw Error(before->second);
  return loaded().libraries.emplace_back(file, load(path, file)).second;
}

std::vector<LoadedOps> loaded_ops() {
  const std::lock_guard lock(loaded().mutex);
  std::vector<LoadedOps> all;
  for (const auto& [file, ops] : loaded().libraries) all.push_back(ops);
  return all;
}

}  // namespace phi
