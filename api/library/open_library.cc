// The check of headers, and the call of the system's loader.
#include "api/library/open_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "phi/common/errors.h"
#include "phi/generated/abi.h"

#define PHI_TEXT_(x) #x
#define PHI_TEXT(x) PHI_TEXT_(x)

namespace phi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAbiPrefix = "autophi_abi_";
constexpr std::string_view kAbi = PHI_TEXT(AUTOPHI_ABI);

// The name of the library's ABI symbol, which identifies the headers of its build; empty if it has
// none.
std::string abi_in(const std::string& path, const LibraryRole& role) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(path, ignored);  // reading a pipe would block
  std::ifstream file;
  if (is_file) file.open(path, std::ios::binary);
  PHI_CHECK(is_file && file.good(),
            errors::NotFound("there is no {} '{}', or it is not readable.", role.name, path));
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

}  // namespace

void check_library(const std::string& path, const LibraryRole& role) {
  const std::string abi = abi_in(path, role);
  const bool has_vowel = std::string_view("aeiou").find(role.name[0]) != std::string_view::npos;
  PHI_CHECK(!abi.empty(), errors::InvalidArgument("'{}' is not {} {}; {}.", path,
                                                  has_vowel ? "an" : "a", role.name, role.build));
  PHI_CHECK(abi == kAbi, errors::InvalidArgument(
                             "'{}' was built against other headers ({}) than this program ({}); "
                             "rebuild it with find_package(autophi) of this installation.",
                             path, version_of(abi), version_of(kAbi)));
}

void open_library(const std::string& path) {
  // Without a slash in its path the loader would search the system's folders.
  if (dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  const char* reason = dlerror();
  throw errors::InvalidArgument("'{}' cannot be loaded: {}.", path,
                                reason ? reason : "unknown reason");
}

}  // namespace phi
