// Converts keys to options, and errors to errors about keys.
#include "tools/job/open_data.h"

#include "api/data/images/image_data.h"
#include "api/data/token_samples.h"
#include "tools/job/config/job_paths.h"

namespace phi::job {
namespace {

data::TokenData open_tokens(const JobConfig& config) {
  try {
    return data::TokenData::open({.kind = config.data.kind,
                                  .paths = config.data.paths,
                                  .base = base_of(config).string(),
                                  .dtype = config.data.dtype,
                                  .documents = config.data.documents,
                                  .vocab = config.model.values.size("vocab")});
  } catch (const Error& error) {
    throw config.wrong({"data.paths"}, error.what());
  }
}

std::unique_ptr<data::SampleData> open_windows(const JobConfig& config) {
  data::TokenData tokens = open_tokens(config);
  try {
    return std::make_unique<data::TokenSamples>(std::move(tokens),
                                                static_cast<uint64_t>(config.data.seed),
                                                config.model.values.size("seq_len"));
  } catch (const Error& error) {
    throw config.wrong({"model.seq_len", "data.documents", "data.paths"}, error.what());
  }
}

std::unique_ptr<data::SampleData> open_images(const JobConfig& config) {
  const DataConfig& data = config.data;
  const nn::models::ModelValues& model = config.model.values;
  try {
    return std::make_unique<data::ImageData>(
        data::ImageOptions{.format = data.format,
                           .paths = data.paths,
                           .base = base_of(config).string(),
                           .image_size = data.image_size,
                           .channels = model.size("channels"),
                           .classes = model.size("classes"),
                           .mean = data.mean,
                           .std = data.std,
                           .dtype = config.run.dtype,
                           .seed = static_cast<uint64_t>(data.seed)});
  } catch (const Error& error) {
    throw config.wrong({"data.paths"}, error.what());
  }
}

}  // namespace

std::unique_ptr<data::SampleData> open_data(const JobConfig& config) {
  return config.model.takes_images() ? open_images(config) : open_windows(config);
}

}  // namespace phi::job
