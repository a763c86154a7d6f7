// Converts keys to options, and errors to errors about keys.
#include "tools/job/open_data.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/data/absent_samples.h"
#include "api/data/images/image_data.h"
#include "api/data/token_samples.h"
#include "tools/job/config/job_paths.h"

namespace phi::job {
namespace {

using data::SampleData;

// Nothing if files are not there and `missing` is given, which gets the error.
template <typename Open>
auto opened(const JobConfig& config, std::string* missing, const Open& open)
    -> std::optional<decltype(open())> {
  try {
    return open();
  } catch (const Error& error) {
    if (missing == nullptr || error.code() != ErrorCode::kNotFound)
      throw config.wrong({"data.paths"}, error.what());
    *missing = error.what();
    return std::nullopt;
  }
}

std::unique_ptr<SampleData> open_windows(const JobConfig& config, std::string* missing) {
  auto tokens = opened(config, missing, [&] {
    return data::TokenData::open({.kind = config.data.kind,
                                  .paths = config.data.paths,
                                  .base = base_of(config).string(),
                                  .dtype = config.data.dtype,
                                  .documents = config.data.documents,
                                  .vocab = config.model.values.size("vocab")});
  });
  if (!tokens) return nullptr;
  try {
    return std::make_unique<data::TokenSamples>(*std::move(tokens),
                                                static_cast<uint64_t>(config.data.seed),
                                                config.model.values.size("seq_len"));
  } catch (const Error& error) {
    throw config.wrong({"model.seq_len", "data.documents", "data.paths"}, error.what());
  }
}

std::unique_ptr<SampleData> open_images(const JobConfig& config, std::string* missing) {
  const DataConfig& data = config.data;
  const nn::models::ModelValues& model = config.model.values;
  return opened(config, missing,
                [&]() -> std::unique_ptr<SampleData> {
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
                })
      .value_or(nullptr);
}

std::unique_ptr<SampleData> open(const JobConfig& config, std::string* missing) {
  return config.model.takes_images() ? open_images(config, missing) : open_windows(config, missing);
}

std::unique_ptr<SampleData> absent_samples(const JobConfig& config, std::string reason) {
  const nn::models::ModelValues& model = config.model.values;
  TensorMeta input, label;
  label.dtype = input.dtype = DataType::INT64;
  if (config.model.takes_images()) {
    const int64_t size = config.data.image_size;
    input.dims = {model.size("channels"), size, size};
    input.dtype = config.run.dtype;
    label.dims = {1};
  } else {
    const int64_t length = model.size("seq_len");
    input.dims = {length};
    label.dims = {length, 1};
  }
  return std::make_unique<data::AbsentSamples>(std::move(input), std::move(label),
                                               std::move(reason));
}

}  // namespace

std::unique_ptr<SampleData> open_data(const JobConfig& config) { return open(config, nullptr); }

std::unique_ptr<SampleData> open_data_if_present(const JobConfig& config,
                                                 std::vector<std::string>* absent) {
  std::string missing;
  if (auto data = open(config, &missing)) return data;
  absent->push_back(fmt::format("predicted without data, which is not read: {}", missing));
  return absent_samples(config, std::move(missing));
}

}  // namespace phi::job
