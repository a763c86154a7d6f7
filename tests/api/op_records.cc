// Calls of records.
#include "tests/api/op_records.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "api/call/named_call.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/assign.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/gaussian.h"
#include "api/testing/generate_tensor.h"
#include "api/testing/recorded_call.h"
#include "phi/common/errors.h"
#include "phi/yaml/files_of.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"
#include "tools/op/attribute_text.h"
#include "tools/op_record/op_record.h"

namespace phi::testing {
namespace {

using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

// Which inputs each argument is made of; -1 stands for an absent one.
using Arguments = std::vector<std::vector<int>>;

struct Row {
  std::string where;
  std::string op;
  bool is_operator = true;
  std::vector<Tensor> inputs;
  Arguments arguments;
  Attributes attributes;

  TensorList run(const TensorList& given) const {
    // What a row leaves to the generator is the same wherever it runs.
    const Generator::Scope drawing(RankContext::current().generator(), {});
    std::vector<TensorList> lists;
    for (const auto& argument : arguments) {
      TensorList list;
      for (const int i : argument) {
        // What is written in place is a copy: the inputs are used again.
        list.push_back(i < 0               ? Tensor()
                       : op.ends_with('_') ? assign(given[static_cast<size_t>(i)])
                                           : given[static_cast<size_t>(i)]);
      }
      lists.push_back(std::move(list));
    }
    if (is_operator) return call_op(op, std::move(lists), attributes);
    std::vector<AttributeValue> values;
    for (const auto& [name, value] : attributes) values.push_back(value);
    return call_function(op, std::move(lists), values);
  }
};

class RowReader {
 public:
  RowReader(const yaml::OpRecord& record, yaml::YamlMap& map) : record_(record), map_(map) {}

  Row row() {
    Row row;
    row.where = fmt::format("{}:{}", std::filesystem::path(record_.path).filename().string(),
                            map_.node().Mark().line + 1);
    // A record has the calls of its operator's gradient, too.
    const YAML::Node gradient = map_.get("op");
    row.op = gradient ? gradient.Scalar() : record_.op;
    const CallNames names = names_of(row);
    add_inputs(names, row);
    const YAML::Node attributes = map_.get("attrs");
    for (const auto& entry : attributes) {
      const std::string& name = entry.first.Scalar();
      const auto known =
          std::ranges::find(names.attributes, name, &CallNames::NamedAttribute::name);
      const auto kind = known == names.attributes.end() ? guessed_kind(entry.second) : known->kind;
      row.attributes.emplace_back(name, op_tool::attribute_of(entry.second, kind));
    }
    return row;
  }
  bool flag(const char* name) {
    const YAML::Node node = map_.get(name);
    return !node || node.as<bool>();
  }

 private:
  // A function made of operators takes tensors and attributes in the order of the row.
  CallNames names_of(Row& row) {
    try {
      return names_of_call(row.op);
    } catch (const Error&) {
      row.is_operator = false;
      CallNames names;
      for (const auto& entry : map_.get("in")) names.tensors.push_back(entry.first.Scalar());
      return names;
    }
  }
  static bool names_dtype(const std::string& text) {
    try {
      parse_dtype(text);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  static AttributeKind guessed_kind(const YAML::Node& node) {
    if (node.IsSequence()) return AttributeKind::kInts;
    double number = 0;
    bool truth = false;
    if (YAML::convert<double>::decode(node, number)) return AttributeKind::kNumber;
    if (YAML::convert<bool>::decode(node, truth)) return AttributeKind::kBool;
    return names_dtype(node.Scalar()) ? AttributeKind::kDataType : AttributeKind::kString;
  }
  void add_inputs(const CallNames& names, Row& row) {
    const YAML::Node in = map_.get("in");
    for (const auto& entry : in) {
      if (std::ranges::find(names.tensors, entry.first.Scalar()) == names.tensors.end()) {
        map_.fail(entry.first,
                  fmt::format("{} takes no tensor '{}'.", row.op, entry.first.Scalar()));
      }
    }
    for (const std::string& name : names.tensors) {
      const YAML::Node given = in ? in[name] : YAML::Node();
      std::vector<int> argument;
      if (given && given.IsSequence()) {
        for (const auto& item : given) argument.push_back(add(item, row));
      } else {
        argument.push_back(given ? add(given, row) : -1);
      }
      row.arguments.push_back(std::move(argument));
    }
  }
  int add(const YAML::Node& node, Row& row) const {
    if (node.IsNull()) return -1;
    row.inputs.push_back(
        generate_tensor(node.Scalar(), static_cast<uint32_t>(row.inputs.size() + 1)));
    return static_cast<int>(row.inputs.size()) - 1;
  }

  const yaml::OpRecord& record_;
  yaml::YamlMap& map_;
};

// What is made of nothing meets a tensor that may be sharded: it is added to it.
void add_to_tensor(const Row& row, ParityCase& test) {
  const Dims shape = row.run({})[0].shape();
  test.inputs = {gaussian(shape, 0.0f, 1.0f, /*seed=*/1)};
  test.call = [row](const TensorList& in) {
    return TensorList{add(in[0], cast(row.run({})[0], in[0].dtype()))};
  };
}

struct TableRow {
  ParityCase test;
  bool is_smooth = true;
  TensorList gives;
  bool has_answer = false;
};

TableRow table_row(const yaml::OpRecord& record, const YAML::Node& node) {
  yaml::YamlMap map(record.path, node);
  RowReader reader(record, map);
  TableRow result;
  const Row row = reader.row();
  const YAML::Node name = map.get("name");
  result.test.name = fmt::format("{} ({})", name ? name.Scalar() : row.op, row.where);
  result.test.inputs = row.inputs;
  result.test.call = [row](const TensorList& in) { return row.run(in); };
  if (row.inputs.empty()) add_to_tensor(row, result.test);
  result.test.partial = reader.flag("partial");
  result.test.gradients = reader.flag("gradients");
  result.is_smooth = reader.flag("smooth") && result.test.gradients;
  // What is written in place needs a gradient of its own to be tracked.
  const std::string own = row.op.substr(0, row.op.find_last_not_of('_') + 1);
  const bool can_track = !row.op.ends_with('_') || has_call(own + "_grad");
  if (const YAML::Node tolerance = map.get("tolerance")) {
    result.test.tolerance = tolerance.as<double>();
  }
  const bool plain = result.test.partial && result.test.gradients && result.is_smooth;
  if (!map.get("why") && !plain) map.fail(map.node(), "a 'false' needs a reason: why.");
  result.test.gradients = result.test.gradients && can_track;
  const YAML::Node gives = map.get("gives");
  result.has_answer = gives.IsDefined();
  for (const auto& text : gives) result.gives.push_back(generate_tensor(text.Scalar(), 1));
  map.check_all_read();
  return result;
}

std::string in_camel_case(const std::string& stem) {
  std::string name;
  bool starts_word = true;
  for (const char c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    starts_word = c == '_';
  }
  return name;
}

// AUTOPHI_OP_RECORDS says where the records are for a program that has left this tree
// (tools/gpu_check --bundle).
std::string folder_of_records() {
  const char* const moved = std::getenv("AUTOPHI_OP_RECORDS");
  return moved ? moved : AUTOPHI_SOURCE_DIR "/tests/ops";
}

std::string family_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().filename().string();
}

// The records' files, by family.
std::map<std::string, std::vector<std::string>> files_of_families() {
  std::map<std::string, std::vector<std::string>> families;
  for (const std::string& path : yaml::files_of({folder_of_records()})) {
    families[family_of(path)].push_back(path);
  }
  return families;
}

// Read when a table is gone through: a program goes through few of them.
std::vector<TableRow> rows_of(const std::vector<std::string>& paths,
                              const char* section = "calls") {
  std::vector<TableRow> rows;
  for (const std::string& path : paths) {
    const yaml::OpRecord record = yaml::load_op_record(path);
    for (const auto& node : record.section(section)) rows.push_back(table_row(record, node));
  }
  return rows;
}

std::vector<ParityCase> cases_of(const std::vector<std::string>& paths, bool smooth) {
  std::vector<ParityCase> cases;
  for (TableRow& row : rows_of(paths)) {
    if (row.is_smooth == smooth) cases.push_back(std::move(row.test));
  }
  return cases;
}

std::vector<ParityCase> lowering_cases() {
  std::vector<ParityCase> cases;
  for (TableRow& row : rows_of(yaml::files_of({folder_of_records()}), "lowering")) {
    cases.push_back(std::move(row.test));
  }
  return cases;
}

}  // namespace

std::vector<OpTable> tables_of_records() {
  std::vector<OpTable> tables;
  for (const auto& [family, paths] : files_of_families()) {
    const std::string name = in_camel_case(family) + "Rows";
    for (const bool smooth : {true, false}) {
      tables.push_back({smooth ? name : "Rough" + name,
                        [paths, smooth] { return cases_of(paths, smooth); }, smooth});
    }
  }
  return tables;
}

OpTable lowering_table() { return {"Lowering", lowering_cases, /*is_smooth=*/false}; }

std::vector<ParityCase> cases_of_records(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    const std::string path = folder_of_records() + "/" + name;
    paths.push_back(std::filesystem::is_directory(path) ? path : path + ".yaml");
  }
  std::vector<ParityCase> cases;
  for (TableRow& row : rows_of(yaml::files_of(paths))) cases.push_back(std::move(row.test));
  return cases;
}

std::vector<Answer> answers() {
  std::vector<Answer> all;
  for (TableRow& row : rows_of(yaml::files_of({folder_of_records()}))) {
    if (row.has_answer) all.push_back({std::move(row.test), std::move(row.gives)});
  }
  return all;
}

std::vector<Refusal> refusals() {
  std::vector<Refusal> all;
  for (const std::string& path : yaml::files_of({folder_of_records()})) {
    const yaml::OpRecord record = yaml::load_op_record(path);
    for (const auto& node : record.section("refusals")) {
      yaml::YamlMap map(path, node);
      const Row row = RowReader(record, map).row();
      all.push_back(
          {row.where, row.op, [row] { row.run(row.inputs); }, map.require("says").Scalar()});
      map.check_all_read();
    }
  }
  return all;
}

std::map<std::string, RecordedReasons> reasons_of_records() {
  const auto reason = [](const YAML::Node& node) { return node ? node.Scalar() : std::string(); };
  std::map<std::string, RecordedReasons> all;
  for (const std::string& path : yaml::files_of({folder_of_records()})) {
    const yaml::OpRecord record = yaml::load_op_record(path);
    all[family_of(path) + "/" + record.op] = {reason(record.section("no_call")),
                                              reason(record.section("no_gradient"))};
  }
  return all;
}

}  // namespace phi::testing
