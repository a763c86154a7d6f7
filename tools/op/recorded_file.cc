// Reads recorded calls; every error names file and line.
#include "tools/op/recorded_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>

#include "distributed/checkpoint/format/safetensors.h"
#include "phi/common/errors.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"
#include "tools/op/attribute_text.h"
#include "tools/op/signature.h"
#include "tools/op_record/op_record.h"

namespace phi::op_tool {
namespace {

using distributed::checkpoint::SafetensorsFile;
using testing::CallNames;
using testing::RecordedCall;
using yaml::YamlMap;

class RecordedFileReader {
 public:
  explicit RecordedFileReader(const std::string& path) : path_(path) {}

  RecordedFile file() {
    const YAML::Node root = yaml::load(yaml::read_text(path_, "file of recorded calls"), path_);
    if (yaml::is_op_record(root)) return of_record(yaml::op_record_of(root, path_));
    YamlMap map(path_, root);
    RecordedFile result{path_, text(map.require("op"), "op"), {}, {}, {}};
    read_cases(map, result);
    return result;
  }

 private:
  RecordedFile of_record(const yaml::OpRecord& record) {
    RecordedFile result{path_, record.op, {}, {}, {}};
    if (const YAML::Node recorded = record.section("recorded")) {
      YamlMap map(path_, recorded);
      read_cases(map, result);
    }
    for (const auto& node : record.section("differences")) {
      YamlMap entry(path_, node);
      add_difference(entry, result.differences);
    }
    return result;
  }

  void read_cases(YamlMap& map, RecordedFile& result) {
    tensors_ = SafetensorsFile::open(std::filesystem::path(path_).replace_extension("safetensors"));
    parameters_ = parse_signature(text(map.require("args"), "args"));
    result.names = names(result.op, text(map.require("output"), "output"));
    map.get("note");
    for (const auto& node : map.require("cases")) result.cases.push_back(one(node, result));
    map.check_all_read();
  }

  [[noreturn]] void fail(const YAML::Node& at, const std::string& message) const {
    throw errors::InvalidArgument("{}:{}: {}", path_, at.Mark().line + 1, message);
  }
  std::string text(const YAML::Node& node, std::string_view what) const {
    if (!node.IsScalar()) fail(node, fmt::format("{} is no text.", what));
    return node.Scalar();
  }

  // Functions made of operators have no names at run time, so those of the file are used.
  CallNames names(const std::string& op, const std::string& outputs) const {
    try {
      return testing::names_of_call(op);
    } catch (const Error& error) {
      CallNames names;
      for (const SignatureParameter& p : parameters_) {
        if (p.is_tensor()) {
          names.tensors.push_back(p.name);
        } else {
          names.attributes.push_back({p.name, kind_of_type(p.type)});
        }
      }
      names.outputs = parse_outputs(outputs);
      names.is_operator = false;
      return names;
    }
  }

  RecordedCase one(const YAML::Node& node, const RecordedFile& file) const {
    YamlMap map(path_, node);
    RecordedCase result;
    result.line = node.Mark().line + 1;
    YAML::convert<int>::decode(map.require("id"), result.id);
    RecordedCall& call = result.call;
    call.op = file.op;
    call.in = by_name(map.get("in"), result.id, "");
    call.attributes = attributes(map.get("attrs"), file.names);
    call.out = by_name(map.get("out"), result.id, "out.");
    add_undefined(map.get("absent"), call.out);
    const YAML::Node grad_of_out = map.get("grad_of_out");
    call.grad_of_out = grad_of_out ? by_name(grad_of_out, result.id, "dout.")
                                   : gradients_of(call.out, result.id, node);
    call.grad = by_name(map.get("grad"), result.id, "d.");
    add_undefined(map.get("unreached"), call.grad);
    call.refused = refused(map.get("refused"));
    map.get("no_grad");
    double tolerance = 0;
    if (const YAML::Node tol = map.get("tol");
        tol && YAML::convert<double>::decode(tol, tolerance)) {
      call.tolerance = tolerance;
    }
    map.check_all_read();
    return result;
  }

  RecordedCall::Refused refused(const YAML::Node& node) const {
    if (!node) return RecordedCall::Refused::kNo;
    const std::string how = text(node, "refused");
    if (how != "call" && how != "dtype") fail(node, "refused must be call or dtype.");
    return how == "call" ? RecordedCall::Refused::kCall : RecordedCall::Refused::kDtype;
  }

  // Tensors by name. A list of names stands for the tensors of ID.PREFIXname.
  RecordedCall::ByName by_name(const YAML::Node& node, int id, const char* prefix) const {
    RecordedCall::ByName result;
    if (!node || node.IsNull()) return result;
    if (node.IsSequence()) {
      for (const auto& item : node) {
        const std::string name = text(item, "a name");
        add(name, tensors_of(item, fmt::format("{}.{}{}", id, prefix, name)), result);
      }
      return result;
    }
    if (!node.IsMap()) fail(node, "a map of tensors, or a list of names is expected.");
    for (const auto& entry : node) {
      RecordedCall::Argument tensors;
      tensors.is_list = entry.second.IsSequence();
      if (tensors.is_list) {
        for (const auto& item : entry.second) tensors.values.push_back(tensor(item));
      } else {
        tensors.values.push_back(tensor(entry.second));
      }
      add(entry.first.Scalar(), std::move(tensors), result);
    }
    return result;
  }

  // The tensor KEY, or the list KEY.0, KEY.1, ..
  RecordedCall::Argument tensors_of(const YAML::Node& at, const std::string& key) const {
    RecordedCall::Argument result;
    result.is_list = tensors_->find(key) == nullptr && tensors_->find(key + ".0") != nullptr;
    if (!result.is_list) {
      result.values.push_back(tensor_named(key, at));
      return result;
    }
    for (int i = 0; tensors_->find(fmt::format("{}.{}", key, i)) != nullptr; ++i) {
      result.values.push_back(tensor_named(fmt::format("{}.{}", key, i), at));
    }
    return result;
  }

  // The gradients of outputs that the file has.
  RecordedCall::ByName gradients_of(const RecordedCall::ByName& outputs, int id,
                                    const YAML::Node& at) const {
    RecordedCall::ByName result;
    for (const auto& [name, output] : outputs) {
      const std::string key = fmt::format("{}.dout.{}", id, name);
      const bool has_any = tensors_->find(key) != nullptr || tensors_->find(key + ".0") != nullptr;
      if (has_any) result.emplace_back(name, tensors_of(at, key));
    }
    return result;
  }

  // Outputs that a call does not have, and arguments that no gradient reaches.
  void add_undefined(const YAML::Node& names, RecordedCall::ByName& result) const {
    for (const auto& item : names) {
      RecordedCall::Argument undefined;
      undefined.values.emplace_back();
      add(text(item, "a name"), std::move(undefined), result);
    }
  }

  // "x.1" is the element at index 1 of the list x, as gradients are recorded.
  static void add(const std::string& key, RecordedCall::Argument tensors,
                  RecordedCall::ByName& result) {
    const size_t dot = key.find_last_of('.');
    if (dot == std::string::npos) {
      result.emplace_back(key, std::move(tensors));
      return;
    }
    const std::string name = key.substr(0, dot);
    const size_t at = std::stoul(key.substr(dot + 1));
    auto list = std::ranges::find(result, name, [](const auto& entry) { return entry.first; });
    if (list == result.end()) {
      list = result.insert(result.end(), {name, {}});
      list->second.is_list = true;
    }
    auto& values = list->second.values;
    values.resize(std::max(values.size(), at + 1));
    values[at] = tensors.values[0];
  }

  Tensor tensor(const YAML::Node& node) const {
    return node.IsNull() ? Tensor() : tensor_named(text(node, "the name of a tensor"), node);
  }
  Tensor tensor_named(const std::string& key, const YAML::Node& at) const {
    const auto* entry = tensors_->find(key);
    if (entry == nullptr) {
      fail(at, fmt::format("'{}' has no tensor '{}'.", tensors_->path(), key));
    }
    DenseTensor array = DenseTensor::empty(entry->meta, CPUPlace());
    const Box whole{Dims::filled(entry->meta.dims.ndim(), 0), entry->meta.dims};
    if (array.numel() > 0) tensors_->read(*entry, whole, whole, array.mutable_raw_data(), whole);
    return Tensor(array);
  }

  std::vector<std::pair<std::string, AttributeValue>> attributes(const YAML::Node& node,
                                                                 const CallNames& names) const {
    std::vector<std::pair<std::string, AttributeValue>> result;
    if (!node || node.IsNull()) return result;
    for (const auto& entry : node) {
      const std::string& name = entry.first.Scalar();
      if (entry.second.IsNull()) {  // the default; functions receive it too
        const AttributeKind kind = kind_of(name, names);
        if (!names.is_operator && kind == AttributeKind::kPlace)
          result.emplace_back(name, Place().to_string());
        if (!names.is_operator && kind == AttributeKind::kDataType) {
          result.emplace_back(name, DataType::UNDEFINED);
        }
        continue;
      }
      try {
        result.emplace_back(name, attribute_of(entry.second, kind_of(name, names)));
      } catch (const Error& error) {
        fail(entry.second, fmt::format("attribute '{}': {}", name, error.what()));
      }
    }
    return result;
  }

  AttributeKind kind_of(const std::string& name, const CallNames& names) const {
    const auto known = std::ranges::find(names.attributes, name, &CallNames::NamedAttribute::name);
    if (known != names.attributes.end()) return known->kind;
    const auto said = std::ranges::find(parameters_, name, &SignatureParameter::name);
    return said == parameters_.end() ? AttributeKind::kNumber : kind_of_type(said->type);
  }

  std::string path_;
  std::shared_ptr<const SafetensorsFile> tensors_;
  std::vector<SignatureParameter> parameters_;
};

}  // namespace

void add_difference(YamlMap& entry, std::set<int>& ids) {
  if (entry.require("why").Scalar().empty()) {
    entry.fail(entry.node(), "a difference needs a reason.");
  }
  entry.get("when");
  for (const auto& id : entry.get("ids")) ids.insert(id.as<int>());
  entry.check_all_read();
}

RecordedFile load_recorded(const std::string& path) { return RecordedFileReader(path).file(); }

}  // namespace phi::op_tool
