// Compares hashes. If they differ, one rank per distinct hash broadcasts its entries.
#include "distributed/config_check/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/sampled_hash.h"

namespace phi::distributed {
namespace {

// Limits of the error message, for a job in which every rank differs.
constexpr size_t kMostVersions = 16;
constexpr size_t kMostKeys = 16;
constexpr size_t kMostCharacters = 200;  // per value

// A hash of a rank's entries.
struct Digest {
  int64_t bytes = 0;  // length of their text
  int64_t first = 0;  // a two-word hash, wide enough that different entries do not collide
  int64_t second = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// A distinct list of entries, and its ranks.
struct Version {
  std::vector<int64_t> ranks;  // ascending
  ConfigEntries entries;
};

std::string encode(const ConfigEntries& entries) {
  std::string text;
  for (const ConfigEntry& entry : entries) {
    for (const std::string& part : {entry.key, entry.value}) {
      text += fmt::format("{}:{}", part.size(), part);
    }
  }
  return text;
}

// The inverse of encode. Stops at text that encode does not write (a rank of another version).
ConfigEntries decode(std::string_view text) {
  const auto next = [&]() -> std::string {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon > 9) return text = {}, "";
    size_t length = 0;
    for (const char digit : text.substr(0, colon)) {
      if (digit < '0' || digit > '9') return text = {}, "";
      length = length * 10 + static_cast<size_t>(digit - '0');
    }
    text.remove_prefix(colon + 1);
    std::string part(text.substr(0, length));
    text.remove_prefix(part.size());
    return part;
  };
  ConfigEntries entries;
  while (!text.empty()) {
    std::string key = next();
    entries.push_back({std::move(key), next()});
  }
  return entries;
}

Digest digest_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {static_cast<int64_t>(text.size()), static_cast<int64_t>(hash_bytes(1, bytes)),
          static_cast<int64_t>(hash_bytes(2, bytes))};
}

std::vector<Version> versions_of(World& world, const std::vector<Digest>& digests,
                                 const std::string& own) {
  std::vector<Version> versions;
  std::map<Digest, size_t> places;
  for (size_t rank = 0; rank < digests.size(); ++rank) {
    const auto [place, is_new] = places.emplace(digests[rank], versions.size());
    if (is_new && versions.size() == kMostVersions) {
      places.erase(place);  // more versions than the message reports
      continue;
    }
    if (is_new) versions.emplace_back();
    versions[place->second].ranks.push_back(static_cast<int64_t>(rank));
  }
  for (Version& version : versions) {
    const int64_t teller = version.ranks.front();
    std::string text = own;
    text.resize(static_cast<size_t>(digests[static_cast<size_t>(teller)].bytes));
    world.everyone().broadcast(text.data(), static_cast<int64_t>(text.size()), DataType::UINT8,
                               teller);
    version.entries = decode(text);
  }
  return versions;
}

const std::string* find(const ConfigEntries& entries, const std::string& key) {
  const auto found = std::ranges::find(entries, key, &ConfigEntry::key);
  return found == entries.end() ? nullptr : &found->value;
}

std::string shown(const std::string* value) {
  if (value == nullptr) return "absent";
  if (value->size() <= kMostCharacters) return fmt::format("'{}'", *value);
  return fmt::format("'{}...' ({} characters)", value->substr(0, kMostCharacters), value->size());
}

// "model.seed is '3' at rank 0, '4' at rank 1"; empty if all values are equal.
std::string difference(const std::vector<Version>& versions, const std::string& key) {
  struct Holders {
    const std::string* value;
    std::vector<int64_t> ranks;
  };
  std::vector<Holders> values;
  for (const Version& version : versions) {
    const std::string* value = find(version.entries, key);
    const auto known = std::ranges::find_if(values, [&](const Holders& each) {
      return (each.value == nullptr) == (value == nullptr) && (!value || *each.value == *value);
    });
    Holders& holders = known != values.end() ? *known : values.emplace_back(value);
    holders.ranks.insert(holders.ranks.end(), version.ranks.begin(), version.ranks.end());
  }
  if (values.size() < 2) return "";
  std::string line = key + " is ";
  for (Holders& holders : values) {
    std::ranges::sort(holders.ranks);
    if (&holders != &values.front()) line += ", ";
    line += fmt::format("{} at {}", shown(holders.value), name_ranks(holders.ranks));
  }
  return line;
}

std::string differences(const std::vector<Version>& versions) {
  std::vector<std::string> keys;  // in the order of first occurrence
  std::set<std::string> known;
  for (const Version& version : versions) {
    for (const ConfigEntry& entry : version.entries) {
      if (known.insert(entry.key).second) keys.push_back(entry.key);
    }
  }
  std::string lines;
  size_t found = 0;
  for (const std::string& key : keys) {
    const std::string line = difference(versions, key);
    if (line.empty()) continue;
    if (++found <= kMostKeys) lines += "\n  " + line;
  }
  if (found > kMostKeys) lines += fmt::format("\n  and {} more", found - kMostKeys);
  if (found == 0) lines += "\n  the same keys and values are in another order";
  return lines;
}

}  // namespace

std::string to_json(const ConfigEntries& entries) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const ConfigEntry& entry : entries) json[entry.key] = entry.value;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void check_config_consistency(World& world, const ConfigEntries& entries) {
  const std::string own = encode(entries);
  const Digest digest = digest_of(own);
  std::vector<Digest> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&digest, all.data(), sizeof(Digest) / 8, DataType::INT64);
  if (std::ranges::adjacent_find(all, std::ranges::not_equal_to()) == all.end()) return;
  throw errors::InvalidArgument(
      "the ranks of this job were started differently:{}\n"
      "Start all of them with the same program, flags, job file, data and weights.",
      differences(versions_of(world, all, own)));
}

std::string name_ranks(const std::vector<int64_t>& ranks) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    ranges.push_back(last == i ? fmt::format("{}", ranks[i])
                               : fmt::format("{}-{}", ranks[i], ranks[last]));
    i = last + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) text += i + 1 == ranges.size() ? " and " : ", ";
    text += ranges[i];
  }
  return text;
}

}  // namespace phi::distributed
