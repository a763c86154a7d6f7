// Checks around nlohmann's parser.
#include "distributed/checkpoint/format/json.h"

#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/process/mapped_file.h"

namespace phi::distributed::checkpoint {
namespace {

// Ours nest 5 deep; what other tools put into an index stays far below this.
constexpr int kMaxDepth = 32;

// Sees the text as it is parsed: of two values under one key the parser would keep the last.
class KeyCheck {
 public:
  explicit KeyCheck(const std::string& path) : path_(path) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    PHI_CHECK(depth <= kMaxDepth,
              errors::InvalidArgument("'{}': JSON nested more than {} deep.", path_, kMaxDepth));
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      PHI_CHECK(keys_.back().insert(key).second,
                errors::InvalidArgument("'{}': the name '{}' is given twice.", path_, key));
    }
    return true;
  }

 private:
  const std::string& path_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open, outermost first
};

}  // namespace

std::string read_text(const std::string& path) {
  const auto file = MappedFile::open(path, MappedFile::Access::kReadAhead);
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

JsonFile::JsonFile(std::string path, std::string_view text) : path_(std::move(path)) {
  try {
    KeyCheck check(path_);
    root_ = Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& parsed) {
      return check(depth, event, parsed);
    });
  } catch (const Json::exception& error) {
    throw errors::InvalidArgument("'{}' holds no valid JSON: {}.", path_, error.what());
  }
}

void JsonFile::throw_wrong(std::string_view what, std::string_view expected) const {
  throw errors::InvalidArgument("'{}': {} is not {}.", path_, what, expected);
}

const Json& JsonFile::object(const Json& value, std::string_view what) const {
  if (!value.is_object()) throw_wrong(what, "a JSON object");
  return value;
}

const Json& JsonFile::array(const Json& value, std::string_view what) const {
  if (!value.is_array()) throw_wrong(what, "a list");
  return value;
}

const std::string& JsonFile::string(const Json& value, std::string_view what) const {
  if (!value.is_string()) throw_wrong(what, "a string");
  return value.get_ref<const std::string&>();
}

int64_t JsonFile::size(const Json& value, std::string_view what) const {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kMax) {
    throw_wrong(what, "a whole number from 0 to 2^63 - 1");
  }
  return static_cast<int64_t>(value.get<uint64_t>());
}

double JsonFile::number(const Json& value, std::string_view what) const {
  if (!value.is_number()) throw_wrong(what, "a number");
  return value.get<double>();
}

bool JsonFile::boolean(const Json& value, std::string_view what) const {
  if (!value.is_boolean()) throw_wrong(what, "true or false");
  return value.get<bool>();
}

Dims JsonFile::dims(const Json& value, std::string_view what) const {
  if (array(value, what).size() > kMaxNdim) {
    throw_wrong(what, fmt::format("a list of {} numbers or fewer", kMaxNdim));
  }
  Dims out;
  for (const Json& extent : value) out.push_back(size(extent, what));
  return out;
}

const Json& JsonFile::member(const Json& object, const char* key, std::string_view what) const {
  const auto found = this->object(object, what).find(key);
  PHI_CHECK(found != object.end(),
            errors::InvalidArgument("'{}': {} has no '{}'.", path_, what, key));
  return *found;
}

}  // namespace phi::distributed::checkpoint
