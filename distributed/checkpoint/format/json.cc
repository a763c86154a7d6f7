// Adds checks to nlohmann's parser.
#include "distributed/checkpoint/format/json.h"

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/process/mapped_file.h"

namespace phi::distributed::checkpoint {
namespace {

// This library's files nest 5 deep, and other tools' indexes are far below this limit.
constexpr size_t kMaxDepth = 32;

// Builds the tree from the parser's events. Json::parse would silently keep the last of two values
// with one key, and its callback scans all members of an object after each of them.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const std::string& path, Json* root) : path_(path), place_(root) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& value) override { return put(std::move(value)); }
  bool start_object(size_t) override { return begin(Json::object()); }
  bool end_object() override { return end(); }
  bool start_array(size_t) override { return begin(Json::array()); }
  bool end_array() override { return end(); }

  bool key(string_t& name) override {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, is_new] = members.try_emplace(std::move(name));
    PHI_CHECK(is_new,
              errors::InvalidArgument("'{}': the name '{}' is given twice.", path_, member->first));
    place_ = &member->second;
    return true;
  }

  bool parse_error(size_t, const std::string&, const Json::exception& error) override {
    throw errors::InvalidArgument("'{}' is not valid JSON: {}.", path_, error.what());
  }

 private:
  template <typename Value>
  bool put(Value&& value) {
    if (open_.empty() || open_.back()->is_object()) {
      *place_ = std::forward<Value>(value);
    } else {
      place_ = &open_.back()->get_ref<Json::array_t&>().emplace_back(std::forward<Value>(value));
    }
    return true;
  }
  bool begin(Json&& container) {
    PHI_CHECK(open_.size() < kMaxDepth,
              errors::InvalidArgument("'{}': JSON nested more than {} deep.", path_, kMaxDepth));
    put(std::move(container));
    open_.push_back(place_);
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const std::string& path_;
  Json* place_;              // target of the next value, unless that is an array element
  std::vector<Json*> open_;  // incomplete containers, outermost first
};

}  // namespace

std::string read_text(const std::string& path) {
  const auto file = MappedFile::open(path, MappedFile::AccessPattern::kReadAhead);
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

JsonFile::JsonFile(std::string path, std::string_view text) : path_(std::move(path)) {
  TreeBuilder builder(path_, &root_);
  Json::sax_parse(text, &builder);
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
