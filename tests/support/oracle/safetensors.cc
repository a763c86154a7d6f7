// The format by hand.
#include "support/oracle/safetensors.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace oracle {
namespace {

using nlohmann::json;

json shape_of(const Parameter& parameter) {
  if (!parameter.is_matrix) return json::array({parameter.value.columns});
  return json::array({parameter.value.rows, parameter.value.columns});
}

double float_at(const char* bytes) {
  float value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

void read_safetensors(const std::string& file, Parameters* parameters) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  json header = json::parse(bytes.substr(8, length));
  header.erase("__metadata__");
  if (header.size() != parameters->size()) {
    throw std::runtime_error(file + ": other tensors than the model's");
  }
  const char* data = bytes.data() + 8 + length;
  for (auto& [name, parameter] : *parameters) {
    const json& entry = header.at(name);
    if (entry["dtype"] != "F32" || entry["shape"] != shape_of(parameter)) {
      throw std::runtime_error(file + ": " + name + " is " + entry.dump());
    }
    const char* from = data + entry["data_offsets"][0].get<uint64_t>();
    for (double& value : parameter.value.values) {
      value = float_at(from);
      from += sizeof(float);
    }
  }
}

void write_safetensors(const std::string& file, const Parameters& parameters) {
  json header;
  uint64_t offset = 0;
  for (const auto& [name, parameter] : parameters) {
    const uint64_t end = offset + parameter.value.values.size() * sizeof(double);
    header[name] = {
        {"dtype", "F64"}, {"shape", shape_of(parameter)}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  const std::string text = header.dump();
  const uint64_t length = text.size();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << text;
  for (const auto& [name, parameter] : parameters) {
    const auto& values = parameter.value.values;
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace oracle
