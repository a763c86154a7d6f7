// Loads libraries of operators. The headers that a file was built with are checked before any of
// its code runs.
#include "api/library/load_ops.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <sstream>

#include "api/library/op_library.h"
#include "phi/common/errors.h"

#define PHI_TEXT_(x) #x
#define PHI_TEXT(x) PHI_TEXT_(x)

namespace phi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAbiPrefix = "autophi_abi_";
constexpr std::string_view kAbi = PHI_TEXT(AUTOPHI_ABI);

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

// The name of the library's ABI symbol, which identifies the headers of its build; empty if it has
// none.
std::string abi_in(const std::string& path) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(path, ignored);  // reading a pipe would block
  std::ifstream file;
  if (is_file) file.open(path, std::ios::binary);
  PHI_CHECK(is_file && file.good(),
            errors::NotFound("there is no operator library '{}', or it is not readable.", path));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string text = std::move(bytes).str();
  const size_t start = text.find(kAbiPrefix);
  if (start == std::string::npos) return "";
  const size_t end = text.find('\0', start);
  return text.substr(start, end - start);
}

// "autophi_abi_0_1_0_83ab.." -> "0_1_0_83ab.."
std::string_view version_of(std::string_view abi) { return abi.substr(kAbiPrefix.size()); }

void check_built_for_this(const std::string& path) {
  const std::string abi = abi_in(path);
  PHI_CHECK(!abi.empty(),
            errors::InvalidArgument(
                "'{}' is not an operator library; build one with autophi_add_ops.", path));
  PHI_CHECK(abi == kAbi, errors::InvalidArgument(
                             "'{}' was built against other headers ({}) than this program ({}); "
                             "rebuild it with find_package(autophi) of this installation.",
                             path, version_of(abi), version_of(kAbi)));
}

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

// An opened library. Its static initialisers have run and registered its kernels.
struct Opened {
  std::vector<Brought> brought;
  std::vector<std::string> clashes;
};

Opened open_library(const std::string& path) {
  Opened opened;
  loading = &opened.brought;
  KernelClashes clashes;
  // Without a slash in its path the loader would search the system's folders.
  const void* handle = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  loading = nullptr;
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw errors::InvalidArgument("'{}' cannot be loaded: {}.", path,
                                  reason ? reason : "unknown reason");
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
  check_built_for_this(path);
  const Opened opened = open_library(path);
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
