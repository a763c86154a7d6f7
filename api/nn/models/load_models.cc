// Collects the rows that a library registers while it is loaded.
#include "api/nn/models/load_models.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <variant>

#include "api/library/open_library.h"
#include "api/nn/models/register_model.h"
#include "phi/common/errors.h"

namespace phi::nn::models {
namespace {

constexpr LibraryRole kRole = {"model library",
                               "link one with autophi::autophi, and register its kinds with "
                               "PHI_REGISTER_MODEL"};

using Rows = std::vector<ModelKind (*)()>;
// Receives the rows of the library that this thread is loading; null if it is loading none.
thread_local Rows* loading = nullptr;

class Collecting {
 public:
  explicit Collecting(Rows* to) { loading = to; }
  ~Collecting() { loading = nullptr; }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;
};

struct Loaded {
  std::mutex mutex;
  // The names of a file's kinds, or why they were refused: a file stays open, so its static
  // initialisers run once.
  std::map<std::filesystem::path, std::variant<std::vector<std::string>, Error>> files;
};
Loaded& loaded() {
  static auto& instance = *new Loaded;
  return instance;
}

std::vector<std::string> add_rows(const std::string& path, const Rows& rows) {
  PHI_CHECK(!rows.empty(),
            errors::InvalidArgument("'{}' was loaded but registered no model; it needs a line "
                                    "PHI_REGISTER_MODEL(..), and to be loaded by `models:` only.",
                                    path));
  std::vector<ModelKind> kinds;
  std::vector<std::string> names;
  for (const auto row : rows) {
    kinds.push_back(row());
    names.push_back(kinds.back().name);
  }
  try {
    add_model_kinds(std::move(kinds));
  } catch (Error& error) {
    error.note("in the library " + path);
    throw;
  }
  return names;
}

}  // namespace

ModelRegistration::ModelRegistration(ModelKind (*row)(), const char* /*abi*/) {
  if (loading != nullptr) {
    loading->push_back(row);
    return;
  }
  try {
    add_model_kinds({row()});
  } catch (const Error& error) {
    // This runs before main, where no caller can catch an exception.
    std::fprintf(stderr, "autophi: %s\n", error.what());
    std::abort();
  }
}

std::vector<std::string> load_models(const std::string& path) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, none);
  const std::lock_guard lock(loaded().mutex);
  const auto known = loaded().files.find(file);
  if (known != loaded().files.end()) {
    if (const Error* refused = std::get_if<Error>(&known->second)) throw Error(*refused);
    return std::get<std::vector<std::string>>(known->second);
  }
  check_library(path, kRole);
  Rows rows;
  {
    const Collecting collecting(&rows);
    open_library(path);
  }
  try {
    std::vector<std::string> names = add_rows(path, rows);
    loaded().files.emplace(file, names);
    return names;
  } catch (const Error& error) {
    loaded().files.emplace(file, error);
    throw;
  }
}

}  // namespace phi::nn::models
