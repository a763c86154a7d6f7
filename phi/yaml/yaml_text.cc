// Checks before yaml-cpp builds its tree, which it does recursively.
#include "phi/yaml/yaml_text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>

#include "phi/common/errors.h"
#include "phi/common/process/mapped_file.h"

namespace phi::yaml {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr int kMaxDepth = 64;  // job files nest 6 deep

// Finds where documents begin and how deep they are nested; ignores everything else.
class Shape final : public YAML::EventHandler {
 public:
  explicit Shape(const std::string& file) : file_(file) {}
  int last_line = 0;

  void OnDocumentStart(const YAML::Mark& mark) override { last_line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void enter(const YAML::Mark& mark) {
    PHI_CHECK(++depth_ <= kMaxDepth,
              errors::InvalidArgument("{}:{}: values nested more than {} deep.", file_,
                                      mark.line + 1, kMaxDepth));
  }

  const std::string& file_;
  int depth_ = 0;
};

}  // namespace

std::string read_text(const std::string& path, std::string_view what) {
  const auto fail = [&](const std::string& reason) {
    throw errors::NotFound("cannot read {} '{}': {}.", what, path, reason);
  };
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) fail(std::strerror(ENOENT));
  if (failed) fail(failed.message());
  if (fs::is_directory(status)) fail("it is a folder");
  if (!fs::is_regular_file(status)) fail("it is no ordinary file");
  const auto file = MappedFile::open(path, MappedFile::AccessPattern::kReadAhead);
  if (file->size() > kMaxBytes) {
    fail(fmt::format("it has {} bytes, and no more than {} are read", file->size(), kMaxBytes));
  }
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

YAML::Node load(const std::string& text, const std::string& file) {
  try {
    // YAML::Load reads one document and is silent about what follows; YAML::LoadAll of yaml-cpp 0.7
    // does not end for some malformed texts (",a: b").
    std::istringstream in(text);
    YAML::Parser parser(in);
    Shape shape(file);
    if (parser.HandleNextDocument(shape) && parser.HandleNextDocument(shape)) {
      throw errors::InvalidArgument("{}:{}: one document per file; a second one begins here.", file,
                                    shape.last_line);
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw errors::InvalidArgument("{}:{}: not valid YAML: {}.", file, error.mark.line + 1,
                                  error.msg);
  }
}

}  // namespace phi::yaml
