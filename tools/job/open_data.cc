// Converts keys to options, and errors to errors about keys.
#include "tools/job/open_data.h"

namespace phi::job {
namespace {

data::TokenData open_files(const JobConfig& config) {
  try {
    return data::TokenData::open({.kind = config.data.kind,
                                  .paths = config.data.paths,
                                  .base = base_of(config).string(),
                                  .dtype = config.data.dtype,
                                  .documents = config.data.documents,
                                  .vocab = config.model.vocab});
  } catch (const Error& error) {
    throw config.wrong({"data.paths"}, error.what());
  }
}

}  // namespace

std::filesystem::path base_of(const JobConfig& config) {
  return std::filesystem::absolute(config.file).parent_path().parent_path();
}

data::TokenData open_data(const JobConfig& config) {
  data::TokenData data = open_files(config);
  try {
    data.summary(config.model.seq_len);
  } catch (const Error& error) {
    throw config.wrong({"model.seq_len", "data.documents", "data.paths"}, error.what());
  }
  return data;
}

}  // namespace phi::job
