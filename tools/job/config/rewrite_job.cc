// Changes keys in the tree of a job file, and writes the tree.
#include "tools/job/config/rewrite_job.h"

#include <yaml-cpp/yaml.h>

#include "phi/common/errors.h"
#include "phi/yaml/yaml_text.h"

namespace phi::job {
namespace {

// Sections, their keys and the rows of `placements` have a line each.
constexpr int kBlockDepth = 3;

// A copy without anchors, whose nodes are therefore all different, in the style of its depth.
YAML::Node styled(const YAML::Node& node, int depth) {
  const auto style = depth < kBlockDepth && node.IsMap() && node.size() > 0
                         ? YAML::EmitterStyle::Block
                         : YAML::EmitterStyle::Flow;
  if (node.IsMap()) {
    YAML::Node out(YAML::NodeType::Map);
    for (const auto& entry : node)
      out.force_insert(styled(entry.first, depth + 1), styled(entry.second, depth + 1));
    out.SetStyle(style);
    return out;
  }
  if (node.IsSequence()) {
    YAML::Node out(YAML::NodeType::Sequence);
    for (const auto& item : node) out.push_back(styled(item, kBlockDepth));
    out.SetStyle(style);
    return out;
  }
  return YAML::Clone(node);
}

// Sets the value at a path; sections on the way are created.
void set_value(YAML::Node map, const ChangedKey& change, const std::string& path,
               const YAML::Node& value) {
  const size_t dot = path.find('.');
  const std::string key = path.substr(0, dot);
  if (dot == std::string::npos) {
    map[key] = value;
    return;
  }
  YAML::Node section = map[key];
  if (!section.IsDefined() || section.IsNull()) {
    map[key] = YAML::Node(YAML::NodeType::Map);
    section.reset(map[key]);
  }
  PHI_CHECK(section.IsMap(),
            errors::InvalidArgument("'{}' cannot be set: '{}' is no map.", change.path, key));
  set_value(section, change, path.substr(dot + 1), value);
}

}  // namespace

std::string rewrite_job(const std::string& text, const std::string& file,
                        const std::vector<ChangedKey>& changes) {
  const YAML::Node given = yaml::load(text, file);
  YAML::Node root = given.IsNull() ? YAML::Node(YAML::NodeType::Map) : styled(given, 0);
  PHI_CHECK(root.IsMap(), errors::InvalidArgument("{}: a job file must be a map.", file));
  for (const ChangedKey& change : changes)
    set_value(root, change, change.path, yaml::load(change.value, change.path));
  YAML::Emitter out;
  out << styled(root, 0);
  PHI_CHECK(out.good(), errors::Internal("{} cannot be written: {}.", file, out.GetLastError()));
  return std::string(out.c_str()) + "\n";
}

}  // namespace phi::job
