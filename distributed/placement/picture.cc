// Draws a grid of the distinct boxes with the ranks that hold each, and a list of ranks.
#include "distributed/placement/picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "distributed/placement/split.h"
#include "phi/common/inline_vector.h"

namespace phi::distributed {
namespace {

constexpr int kMaxPictures = 8;
constexpr int kMaxRows = 32;         // parts along the vertical dim
constexpr int kLinesInAll = 6;       // lines of all rows together, if there are few rows
constexpr int64_t kMaxDrawn = 4096;  // ranks
constexpr int64_t kMaxListed = 64;   // ranks
// From the 256 terminal colours, light enough for black letters.
constexpr int kColours[] = {117, 157, 229, 217, 183, 159, 222, 151};

// Abbreviates runs of three or more consecutive ranks: "0-3".
std::string list_of(const std::vector<int64_t>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    out += out.empty() ? "" : ",";
    out +=
        end - i == 1 ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[end - 1]);
    i = end;
  }
  return out;
}

std::string range_text(const ShardRange& range) {
  return fmt::format("{}:{}", range.offset, range.end());
}

std::string centred(const std::string& text, size_t width) {
  const size_t left = (width - std::min(width, text.size())) / 2;
  return fmt::format("{:<{}}", std::string(left, ' ') + text, width);
}

class Picture {
 public:
  Picture(const Dims& shape, const TensorDistAttr& attr, const PictureStyle& style)
      : shape_(shape), attr_(attr), mesh_(attr.mesh()), style_(style) {
    for (int d = 0; d < shape.ndim(); ++d) cuts_.push_back(cuts_of(d));
    choose_dims();
  }

  std::string draw() {
    out_ = fmt::format("tensor {}\n", describe(shape_, attr_));
    if (shape_.numel() == 0) {
      out_ += "It has no elements.\n";
    } else if (!fits()) {
      out_ +=
          fmt::format("Its {} shards do not fit a picture of {} columns.\n", parts(), style_.width);
    } else {
      draw_pictures(0, Box::whole(shape_));
    }
    if (!mesh_dims_with(Placement::Kind::kPartial).empty()) say_partial();
    out_ += "\n";
    list_ranks();
    return std::move(out_);
  }

 private:
  // The distinct ranges of a tensor dim, in order.
  std::vector<ShardRange> cuts_of(int d) const {
    std::vector<ShardRange> cuts = {{0, shape_[d]}};
    for (const int m : attr_.mesh_dims_of(d)) {
      std::vector<ShardRange> finer;
      for (const ShardRange& cut : cuts) {
        for (int64_t i = 0; i < mesh_.dim_size(m); ++i) {
          const ShardRange part = split_range(cut.size, mesh_.dim_size(m), i);
          if (part.size > 0) finer.push_back({cut.offset + part.offset, part.size});
        }
      }
      cuts = std::move(finer);
    }
    return cuts;
  }

  // down_ and across_: the tensor dims that are drawn; -1: none.
  void choose_dims() {
    std::vector<int> drawn;
    for (int d = shape_.ndim() - 1; d >= 0 && drawn.size() < 2; --d) {
      if (cuts_[static_cast<size_t>(d)].size() > 1) drawn.push_back(d);
    }
    for (int d = shape_.ndim() - 1; d >= 0 && drawn.size() < 2; --d) {
      if (std::ranges::find(drawn, d) == drawn.end()) drawn.push_back(d);
    }
    std::ranges::sort(drawn);
    if (!drawn.empty()) across_ = drawn.back();
    if (drawn.size() == 2) down_ = drawn.front();
  }

  const std::vector<ShardRange>& cuts(int d) const {
    static const std::vector<ShardRange> one = {{0, 1}};
    return d < 0 ? one : cuts_[static_cast<size_t>(d)];
  }

  int64_t parts() const {
    int64_t count = 1;
    for (const auto& cut : cuts_) count *= static_cast<int64_t>(cut.size());
    return count;
  }

  std::vector<int> mesh_dims_with(Placement::Kind kind) const {
    std::vector<int> dims;
    for (int m = 0; m < mesh_.ndim(); ++m) {
      if (attr_.placement(m).kind() == kind) dims.push_back(m);
    }
    return dims;
  }

  // ---- the ranks of a part ----

  // The ranks that hold `part`, grouped by replica; the ranks of a group hold its addends.
  std::vector<std::vector<int64_t>> holders(const Box& part) const {
    std::vector<std::vector<int64_t>> groups;
    std::vector<int64_t> keys;
    for (int64_t at = 0; at < mesh_.size(); ++at) {
      const MeshCoord coord = mesh_.coord_at(at);
      const Box box = local_box(shape_, attr_, coord);
      if (intersect(box, part).numel() != part.numel()) continue;
      MeshCoord first = coord;  // the first rank of the group
      for (const int m : mesh_dims_with(Placement::Kind::kPartial))
        first[static_cast<size_t>(m)] = 0;
      const int64_t key = mesh_.position_of(first);
      const auto known = std::ranges::find(keys, key);
      if (known == keys.end()) {
        keys.push_back(key);
        groups.push_back({mesh_.rank_at(at)});
      } else {
        groups[static_cast<size_t>(known - keys.begin())].push_back(mesh_.rank_at(at));
      }
    }
    return groups;
  }

  std::string addends_text(const std::vector<int64_t>& ranks) const {
    const auto partial = mesh_dims_with(Placement::Kind::kPartial);
    const bool sum = std::ranges::all_of(
        partial, [&](int m) { return attr_.placement(m).reduce() == ReduceKind::kSum; });
    if (ranks.size() > 4)
      return fmt::format("{}({})", sum ? "sum" : kinds(partial), list_of(ranks));
    return sum ? fmt::format("{}", fmt::join(ranks, "+"))
               : fmt::format("{}({})", kinds(partial), fmt::join(ranks, ","));
  }

  std::string kinds(const std::vector<int>& mesh_dims) const {
    std::vector<std::string_view> names;
    for (const int m : mesh_dims) {
      const std::string_view name = name_of(attr_.placement(m).reduce());
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return fmt::format("{}", fmt::join(names, " of "));
  }

  std::string label(const Box& part) const {
    const auto groups = holders(part);
    if (mesh_dims_with(Placement::Kind::kPartial).empty()) {
      std::vector<int64_t> ranks;
      for (const auto& group : groups) ranks.insert(ranks.end(), group.begin(), group.end());
      std::ranges::sort(ranks);
      return list_of(ranks);
    }
    std::vector<std::string> texts;
    for (const auto& group : groups) texts.push_back(addends_text(group));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // ---- grids ----

  static Box within(Box box, int d, const ShardRange& range) {
    if (d < 0) return box;
    box.offset[d] = range.offset;
    box.size[d] = range.size;
    return box;
  }

  size_t widest_label() const {
    size_t widest = 3;
    for (const ShardRange& row : cuts(down_)) {
      for (const ShardRange& column : cuts(across_)) {
        const Box part = within(within(first_part(), down_, row), across_, column);
        widest = std::max({widest, label(part).size(), range_text(column).size()});
      }
    }
    return widest;
  }

  // The last part of each dim that is not drawn; its labels are the widest.
  Box first_part() const {
    Box box = Box::whole(shape_);
    for (int d = 0; d < shape_.ndim(); ++d) {
      if (d != down_ && d != across_) box = within(box, d, cuts(d).back());
    }
    return box;
  }

  size_t margin() const {
    size_t widest = 0;
    if (down_ < 0) return widest;
    for (const ShardRange& row : cuts(down_)) widest = std::max(widest, range_text(row).size() + 1);
    return widest;
  }

  bool fits() const {
    if (mesh_.size() > kMaxDrawn) return false;
    int64_t pictures = 1;
    for (int d = 0; d < shape_.ndim(); ++d) {
      if (d != down_ && d != across_) pictures *= static_cast<int64_t>(cuts(d).size());
    }
    if (pictures > kMaxPictures || cuts(down_).size() > kMaxRows) return false;
    const size_t columns = cuts(across_).size();
    if (columns * 4 > static_cast<size_t>(style_.width)) return false;
    return margin() + 1 + columns * (widest_label() + 3) <= static_cast<size_t>(style_.width);
  }

  // Draws a grid for each part of the split dims that are not drawn, from tensor dim d on.
  void draw_pictures(int d, const Box& box) {
    if (d == shape_.ndim()) return draw_grid(box);
    if (d == down_ || d == across_) return draw_pictures(d + 1, box);
    for (const ShardRange& part : cuts(d)) draw_pictures(d + 1, within(box, d, part));
  }

  // States the other dims of a grid; empty for 2-D tensors.
  std::string caption(const Box& box) const {
    if (shape_.ndim() <= 2) return "";
    std::vector<std::string> words = {fmt::format("dim {} down, dim {} across", down_, across_)};
    for (int d = 0; d < shape_.ndim(); ++d) {
      if (d == down_ || d == across_) continue;
      const ShardRange part{box.offset[d], box.size[d]};
      words.push_back(part.size == shape_[d] ? fmt::format("dim {} unsharded", d)
                                             : fmt::format("dim {} {}", d, range_text(part)));
    }
    return fmt::format("{}:\n", fmt::join(words, ", "));
  }

  // Column widths in proportion to the extents, if there is room.
  std::vector<size_t> column_widths() const {
    const size_t least = widest_label() + 2;
    const auto& columns = cuts(across_);
    const int64_t extent = columns.back().end();
    const size_t room = static_cast<size_t>(style_.width) - margin() - 1 - columns.size();
    const size_t wanted = std::max(least * columns.size(), std::min<size_t>(room, 48));
    std::vector<size_t> widths;
    for (const ShardRange& column : columns) {
      const auto share = static_cast<size_t>(static_cast<double>(wanted) * column.size / extent);
      widths.push_back(std::clamp(share, least, 2 * least));
    }
    size_t total = 0;
    for (const size_t width : widths) total += width;
    if (total > room) widths.assign(columns.size(), least);
    return widths;
  }

  std::vector<int> row_heights() const {
    const auto& rows = cuts(down_);
    if (rows.size() == 1) return {kLinesInAll / 2};
    const int64_t extent = rows.back().end();
    std::vector<int> heights;
    for (const ShardRange& row : rows) {
      heights.push_back(std::max(1, static_cast<int>(kLinesInAll * row.size / extent)));
    }
    return heights;
  }

  void draw_grid(const Box& box) {
    const std::vector<size_t> widths = column_widths();
    const std::vector<int> heights = row_heights();
    out_ += "\n" + caption(box);
    if (shape_.ndim() > 0) {
      out_ += std::string(margin() + 1, ' ');
      for (size_t i = 0; i < widths.size(); ++i) {
        out_ += fmt::format("{:<{}}", range_text(cuts(across_)[i]), widths[i] + 1);
      }
      out_.erase(out_.find_last_not_of(' ') + 1);
      out_ += "\n";
    }
    draw_rule(widths);
    for (size_t i = 0; i < cuts(down_).size(); ++i) {
      const ShardRange& row = cuts(down_)[i];
      for (int line = 0; line < heights[i]; ++line) {
        const bool middle = line == (heights[i] - 1) / 2;
        out_ += fmt::format("{:<{}}|", middle && down_ >= 0 ? range_text(row) : "", margin());
        draw_line(within(box, down_, row), widths, middle);
        out_ += "\n";
      }
      draw_rule(widths);
    }
  }

  void draw_rule(const std::vector<size_t>& widths) {
    out_ += std::string(margin(), ' ') + "+";
    for (const size_t width : widths) out_ += std::string(width, '-') + "+";
    out_ += "\n";
  }

  void draw_line(const Box& row, const std::vector<size_t>& widths, bool with_labels) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const Box part = within(row, across_, cuts(across_)[i]);
      const std::string text = centred(with_labels ? label(part) : "", widths[i]);
      out_ += coloured(text, part) + "|";
    }
  }

  // Coloured by the first rank that holds the part.
  std::string coloured(const std::string& text, const Box& part) const {
    if (!style_.colour) return text;
    const auto groups = holders(part);
    const auto position = mesh_.position_of(*mesh_.coord_of(groups.front().front()));
    return fmt::format("\x1b[30;48;5;{}m{}\x1b[0m",
                       kColours[static_cast<size_t>(position) % std::size(kColours)], text);
  }

  // ---- below the grids ----

  void say_partial() {
    for (const int m : mesh_dims_with(Placement::Kind::kPartial)) {
      out_ += fmt::format("partial over {}: the value is the {} of the local values of {} ranks\n",
                          mesh_.dim_names()[static_cast<size_t>(m)],
                          name_of(attr_.placement(m).reduce()), mesh_.dim_size(m));
    }
  }

  void list_ranks() {
    const int64_t listed = std::min(mesh_.size(), kMaxListed);
    for (int64_t at = 0; at < listed; ++at) {
      const MeshCoord coord = mesh_.coord_at(at);
      std::vector<std::string> place;
      for (int m = 0; m < mesh_.ndim(); ++m) {
        place.push_back(fmt::format("{}={}", mesh_.dim_names()[static_cast<size_t>(m)],
                                    coord[static_cast<size_t>(m)]));
      }
      const Box box = local_box(shape_, attr_, coord);
      out_ += fmt::format(
          "rank {} ({}): {}, {}{}\n", mesh_.rank_at(at), fmt::join(place, ","), box.to_string(),
          box.empty() ? "empty"
                      : fmt::format("{} element{}", box.numel(), box.numel() == 1 ? "" : "s"),
          mesh_dims_with(Placement::Kind::kPartial).empty() ? "" : ", partial");
    }
    if (listed < mesh_.size()) out_ += fmt::format("and {} ranks more\n", mesh_.size() - listed);
    std::vector<int64_t> outside;
    for (int64_t rank = 0; rank < style_.world_size; ++rank) {
      if (!mesh_.contains(rank)) outside.push_back(rank);
    }
    if (outside.empty()) return;
    out_ += fmt::format("rank{} {}: outside the mesh, no elements\n",
                        outside.size() == 1 ? "" : "s", list_of(outside));
  }

  const Dims& shape_;
  const TensorDistAttr& attr_;
  const ProcessMesh& mesh_;
  const PictureStyle style_;
  std::vector<std::vector<ShardRange>> cuts_;  // by tensor dim
  int down_ = -1;
  int across_ = -1;
  std::string out_;
};

}  // namespace

std::string picture(const Dims& shape, const TensorDistAttr& attr, const PictureStyle& style) {
  attr.check_fits(shape);
  return Picture(shape, attr, style).draw();
}

}  // namespace phi::distributed
