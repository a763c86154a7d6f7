// Names of kinds and document modes.
#include "api/data/data_options.h"

#include <array>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"bytes", "tokens", "megatron", "images"};
constexpr std::array<std::string_view, 2> kDocuments = {"joined", "apart"};

}  // namespace

std::string_view name_of(DataKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view name_of(Documents documents) { return kDocuments[static_cast<size_t>(documents)]; }

DataKind parse_data_kind(std::string_view name) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<DataKind>(i);
  }
  throw errors::InvalidArgument(
      "'{}' is not a kind of data; use bytes, tokens, megatron or images.", name);
}

Documents parse_documents(std::string_view name) {
  for (size_t i = 0; i < kDocuments.size(); ++i) {
    if (kDocuments[i] == name) return static_cast<Documents>(i);
  }
  throw errors::InvalidArgument("documents cannot be '{}'; use joined or apart.", name);
}

}  // namespace phi::data
